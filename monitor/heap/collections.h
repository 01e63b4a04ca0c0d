/* collections.h - what the collector of a Lisp heap did, in a record of the
 * data file that has room for any number of collections: when it is full, every
 * other point goes.
 */
#ifndef MONITOR_HEAP_COLLECTIONS_H
#define MONITOR_HEAP_COLLECTIONS_H

#include <stdint.h>

#include "monitor/file/sums.h"

struct mprof_collections;

struct mprof__collections {
    struct mprof_collections *record; /* NULL: none */
    struct mprof__finder bins;        /* under the collector's lock */
};

/* Make the record, in ARENA, which is new. */
void mprof__collections_begin(struct mprof__collections *collections,
                              struct mprof__arena *arena);

/* There was a collection that took NS, with so many bytes of the heap in use
 * before and after it.  Nothing is done without a record.  One thread at a
 * time. */
void mprof__collections_add(struct mprof__collections *collections,
                            struct mprof__arena *arena, uint64_t ns,
                            uint64_t before, uint64_t after);

#endif
