/* counters.h - the counters of a node, which lie in the data file. */
#ifndef MONITOR_TREE_COUNTERS_H
#define MONITOR_TREE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/format/format.h"

struct mprof__trees;

/* Return the counter for KEY of the chain that was just walked, whose node is
 * NODE.  Without space for it return its function's, or one further out, and
 * count N as folded. */
struct mprof_counter *mprof__make_counter(struct mprof__trees *trees,
                                          mprof_ref node, uint32_t key,
                                          struct mprof_count n);
/* The same for a whole chain, whose innermost function called the allocator
 * from CALL; NULL: there is no room.  errno stays. */
struct mprof_counter *mprof__tree_counter(struct mprof__trees *trees,
                                          mprof_ref node, mprof_ref call,
                                          uint32_t key);
/* Return the root's counter for CLASS_ and count N as folded: the counter of
 * the C heap that mprof__make_counter() found has no space for N more. */
mprof_ref mprof__root_counter(struct mprof__trees *trees, unsigned class_,
                              struct mprof_count n);
/* One of each class for the root, for what finds no room. */
bool mprof__root_counters(struct mprof__trees *trees);

#endif
