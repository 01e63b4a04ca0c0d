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
 * What is counted there is as exact as in the tree.  When it is full, what its
 * chains have allocated is summed up by function and arc in TOTALs (totals.h),
 * each allocation counted once, and it is emptied: an allocation is in one
 * spill with its whole chain, so the sums over all of them are exact.  Lost are
 * the chains themselves, beyond the innermost functions, which counters of the
 * C heap have in the tree's short chains.
 *
 * A kill at any moment leaves sums that are right: totals have two counts each,
 * and THREAD's `emptied` says which is true, and whether the spill is; see
 * format.h.
 */
#ifndef MONITOR_TREE_SPILL_H
#define MONITOR_TREE_SPILL_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/tree/totals.h"
#include "monitor/tree/tree.h"

/* Of a thread, and only it touches it. */
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

/* That of frame INDEX, whose caller has PARENT in the spill; 0 as above. */
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
