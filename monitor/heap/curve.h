/* curve.h - the C heap over time, in a record of the data file that has room
 * for a day and for a millisecond: when it is full, every other point goes.
 *
 * Points come as memory is allocated, each so many bytes behind the last; each
 * may also sample how much memory the process has resident, no more often than
 * 1000 times in all.
 */
#ifndef MONITOR_HEAP_CURVE_H
#define MONITOR_HEAP_CURVE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/file/sums.h"

struct mprof_curve;

struct mprof__curve {
    struct mprof_curve *record; /* atomic; NULL: not yet */
    bool refused;               /* there was no room for it; atomic */
    /* Under the lock of the heap: */
    uint64_t next, next_rss; /* bytes allocated, ns: when there is another */
    struct mprof__finder sizes;
};

/* Make the record, once; not under the lock of the heap. */
void mprof__curve_begin(struct mprof__curve *curve, struct mprof__arena *arena);

/* Add a point, under the lock: ALLOCATED bytes so far, CURRENT of them live,
 * with an object that is not counted yet. */
void mprof__curve_add(struct mprof__curve *curve, struct mprof__arena *arena,
                      uint64_t allocated, uint64_t current);

/* All that was allocated so far, and how often something was freed. */
void mprof__curve_sums(struct mprof__curve *curve,
                       const struct mprof__arena *arena, uint64_t *bytes,
                       uint64_t *allocs, uint64_t *frees);

#endif
