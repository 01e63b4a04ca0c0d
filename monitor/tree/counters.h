/* counters.h - the counters of a node, which lie in the data file. */
#ifndef MONITOR_TREE_COUNTERS_H
#define MONITOR_TREE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/format/format.h"

struct mprof__trees;

/* The counter for KEY of the chain that THREAD just walked,
 * which has its place at NODE; when there is no room, that of its function
 * alone, or one further out, and then N counts as folded. */
struct mprof_counter *mprof__make_counter(struct mprof__trees *trees,
                                          mprof_ref node, uint32_t key,
                                          struct mprof_count n);
/* The same for a whole chain, whose innermost function called the allocator
 * from CALL; NULL: there is no room.  errno stays. */
struct mprof_counter *mprof__tree_counter(struct mprof__trees *trees,
                                          mprof_ref node, mprof_ref call,
                                          uint32_t key);
/* That of the root for CLASS_, in place of one of the C heap which that just
 * found and which has no room for N more: these count as folded. */
mprof_ref mprof__root_counter(struct mprof__trees *trees, unsigned class_,
                              struct mprof_count n);
/* One of each class for the root, for what finds no room. */
bool mprof__root_counters(struct mprof__trees *trees);

#endif
