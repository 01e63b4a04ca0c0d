/* collections.h - what the collector of a Lisp heap did, in a record of the
 * data file that has room for any number of collections: when it is full, every
 * other point goes.
 */
#ifndef MONITOR_RECORD_COLLECTIONS_H
#define MONITOR_RECORD_COLLECTIONS_H

#include <stdint.h>

#include "monitor/file/sums.h"

struct mprof__session;
struct mprof_collections;

struct mprof__collections {
    struct mprof_collections *record; /* NULL: none */
    struct mprof__finder bins;        /* under the collector's lock */
};

/* Make the record of SESSION, which is new. */
void mprof__collections_begin(struct mprof__session *session);

/* There was a collection that took NS, with so many bytes of the heap in use
 * before and after it.  From outside of the hook, by one thread at a time. */
void mprof__collected(uint64_t ns, uint64_t before, uint64_t after);

void mprof__collections_end(struct mprof__collections *collections);

#endif
