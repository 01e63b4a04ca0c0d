/* spill.h - chains for which the tree has no room.
 *
 * The spill of a thread is a second tree, small, of such chains with all their
 * frames, from a root of its own:
 *
 *     tree                      spill
 *     root                      root
 *      +-- main <-- - - - - -    +-- main           the twin of tree's main
 *           +-- read             |    +-- eval
 *           +-- (no room)        |         +-- cons: spill counter
 *
 * Its counters are as exact as the tree's.  When it is full, its allocations
 * are summed up by function and arc in TOTALs (totals.h), each of them once,
 * and it is emptied.  An allocation is in one spill with its whole chain, so
 * the sums over all spills are exact.  Only the chains themselves are lost,
 * beyond the innermost functions, which counters of the C heap have in the
 * tree's short chains.
 *
 * A kill at any moment leaves sums that are right: totals have two counts each,
 * and THREAD's `emptied` says which count is valid, and whether the spill is;
 * see format.h.
 */
#ifndef MONITOR_TREE_SPILL_H
#define MONITOR_TREE_SPILL_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/tree/totals.h"
#include "monitor/tree/tree.h"

/* The spill of a thread.  Only that thread touches it. */
struct mprof__spill {
    struct mprof__tree tree; /* root 0: it has to be emptied, or begun */
    struct mprof__totals totals;
    size_t bytes; /* of its blocks, without what they begin with */
    bool begun;
    bool deep;    /* it is made larger for a chain that it has no room for */
    bool refused; /* there is no room for it, or for totals: chains are lost */
};

/* Does THREAD's spill take the chain that was walked?  It does not have those
 * that would fill it alone. */
bool mprof__spill_takes(struct mprof__trees *trees);

/* Before frames of a chain are placed there: is there room for its counters?
 * False: there was not, and it is empty now, or refused. */
bool mprof__spill_begins(struct mprof__trees *trees);

/* The spill's node of the caller of frame INDEX, which has PARENT in the tree.
 * 0: the spill was full, and is empty now, or refused. */
mprof_ref mprof__spill_twin(struct mprof__trees *trees, mprof_ref parent,
                            size_t index);

/* Return the spill's node of frame INDEX, whose caller has PARENT in the spill;
 * 0 as above. */
mprof_ref mprof__spill_inward(struct mprof__trees *trees, mprof_ref parent,
                              size_t index);

/* A counter for KEY at NODE of the spill, for which the counter SHORT_, where
 * it is known what lives, has the frees; else 0.  NULL: there is no room. */
struct mprof_counter *mprof__spill_counter(struct mprof__trees *trees,
                                           mprof_ref node, mprof_ref short_,
                                           uint32_t key);

/* Give back the memory that is not in the data file. */
void mprof__spill_free(struct mprof__spill *spill);

#endif
