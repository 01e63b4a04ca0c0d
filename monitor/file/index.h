/* index.h - finds things in blocks by a hash of what they are.
 *
 *     bucket[hash & mask] -> thing --next--> thing --next--> 0
 *
 * The things lie in the data file, and carry the ref of the next one in their
 * bucket in the member that `next` names.  So the index takes one or two refs
 * for each thing, outside of the file.  It belongs to one thread.
 */
#ifndef MONITOR_FILE_INDEX_H
#define MONITOR_FILE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/format/format.h"
#include "monitor/file/arena.h"

struct mprof__index {
    mprof_ref *bucket; /* mapped; NULL: there are none yet */
    uint32_t mask;     /* number of buckets - 1, a power of two - 1 */
    uint32_t count;    /* things in it */
    uint32_t next;     /* byte of a thing where the next one's ref is */
    /* The hash of the THING, as it was when it was added. */
    uint32_t (*hash)(const struct mprof__arena *arena, const void *thing);
};

/* The first thing of HASH's bucket, or 0. */
static inline mprof_ref mprof__index_first(const struct mprof__index *index,
                                           uint32_t hash) {
    return index->bucket == NULL ? 0 : index->bucket[hash & index->mask];
}

/* Let REF, which is not in it, be found by HASH; call mprof__index_make()
 * first. */
void mprof__index_add(struct mprof__index *index,
                      const struct mprof__arena *arena, mprof_ref ref,
                      uint32_t hash);

/* Before something is added: false when there is no memory at all.  When there
 * is none for more buckets, they have more things each. */
bool mprof__index_make(struct mprof__index *index,
                       const struct mprof__arena *arena);

/* Let it have nothing; but the memory stays. */
void mprof__index_clear(struct mprof__index *index);
void mprof__index_free(struct mprof__index *index);

#endif
