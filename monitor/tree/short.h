/* short.h - the short chains of a full tree; see short.c. */
#ifndef MONITOR_TREE_SHORT_H
#define MONITOR_TREE_SHORT_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/format/format.h"

struct mprof__trees;

/* The node of short chains; 0: there is no room. */
mprof_ref mprof__tree_folded(struct mprof__trees *trees);
/* Return the node of the short chain that ends at frame INDEX. */
mprof_ref mprof__tree_short(struct mprof__trees *trees, size_t index);
/* Return the node of the lost chain that ends at frame INDEX, whose caller has
 * the node PARENT: a whole chain's when the chain LEAVES the tree here. */
mprof_ref mprof__short_inward(struct mprof__trees *trees, mprof_ref parent,
                              size_t index, bool leaves);

#endif
