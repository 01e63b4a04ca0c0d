/* sampled.h - the recorded objects of a collected heap of which only some are
 * recorded: by address, in a hash table.
 *
 * As objects.h has it of all of them, but with 36 to 72 bytes for each of the
 * most that ever were in place of a shadow of the whole heap.
 */
#ifndef MONITOR_BASE_SAMPLED_H
#define MONITOR_BASE_SAMPLED_H

#include "monitor/base/objects.h"

/* Put OBJECT at ADDRESS, with PAST; as mprof__collected_put().  False: no
 * memory. */
bool mprof__sampled_put(const void *address, struct mprof__object object,
                        struct mprof__past *past, struct mprof__object *before);

/* As mprof__collected_each() and mprof__collected_one().  False: not all could
 * be seen, as a lock could not be had soon; never where it MAY_WAIT: then the
 * caller has no lock that others want. */
bool mprof__sampled_each(mprof__collected_visitor *visit, void *data,
                         bool may_wait);
bool mprof__sampled_one(const void *address, mprof__collected_visitor *visit,
                        void *data);

/* Forget all and give the memory back. */
void mprof__sampled_clear(void);

/* In the child of a fork; INSIDE: this thread may return into the hook. */
void mprof__sampled_forked(bool inside);

/* Bytes of memory in use. */
uint64_t mprof__sampled_memory(void);

#endif
