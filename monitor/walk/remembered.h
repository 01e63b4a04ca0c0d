/* remembered.h - frames remembered by their state, whatever chain they were in.
 *
 * The way of nearly all allocations, from the hook to the node of their chain:
 *
 *     mprof__remembered()                              here
 *       |  the cell of the innermost frame, by pc and stack pointer, if a
 *       |  walk began there lately;
 *       |  from cell to cell outwards: is the word at its return address as
 *       |  it was, and the caller's cell?  As far as a mark that is alive.
 *       | yes: its node                 | no
 *       |                       mprof__remembered_plainly()   plainly.h
 *       |                         other words lead to other cells, and these
 *       |                         to other nodes, which are all there
 *       |                               | no
 *       |                       mprof__remembered_slowly()    remembered.c
 *       |                         follow(): other words lead to other cells,
 *       |                         which are made by the rule of their code
 *       |                         settle(): their nodes, from the outermost
 *       |                         new one inwards
 *       |                       revise_marks()               revise.c
 *       |                               | no: a signal's frame, code without
 *       |                               | tables, no room in the tree, ...
 *       |                       mprof__node_by_rules(), a walk by rules
 * find_counter.c the cell's counter
 *
 * A cell describes a frame in one state: pc, stack pointer, and frame pointer
 * where it matters.  It has the frame's return address when it was seen last,
 * the caller's cell, and the frame's node.
 *
 *     cell of f              cell of g             cell of h
 *     pc, low                pc, low               pc, low
 *     ra ------------------- = pc  ra: a mark      ...
 *     outer ---------------->      outer: number of the mark
 *     outer_version -------- = version
 *     node                   node                  node
 *
 * That holds as long as the word and the caller's cell did not change.  A cell
 * gets a new version when its node changes, or its needs of the frame pointer.
 * So a walk is two comparisons a frame, and frames that alternate have a cell
 * each.
 *
 * Invariants, between allocations, and if a jump leaves the hook in the middle:
 * (1) pc, low and, for a cell that NEEDS it, the frame pointer determine the
 *     size of the frame and the place of its return address, while the
 *     generation lasts.
 * (2) No two versions are the same; a cell that gets another node or needs
 *     another frame pointer first gets a new version, or the one that it had
 * with that node. (3) A cell is STALE while anything in it is rewritten. (4) A
 * mark ends a walk if it has the serial that the cell knows, and what is
 *     outside of it has a node of this tree.
 * (5) No cell that the present walk came by is used for another frame.
 * (6) No cell is for a frame of a folded or cut chain, or one that a signal
 *     struck.
 */
#ifndef MONITOR_WALK_REMEMBERED_H
#define MONITOR_WALK_REMEMBERED_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/atomic.h"
#include "monitor/walk/memo.h"
#include "monitor/unwind/walk.h"

/* How far a walk came: from the cell `first`, by cells that are as they were,
 * to one that leads elsewhere; or both are NULL. */
struct mprof__trail {
    struct mprof__cell *first, *last;
};

/* The cell of the frame where the chain from FRAME begins, with its node, when
 * all is as it was; else NULL, and TRAIL is for the function below.  It calls
 * nothing, so that who calls it need not save registers. */
static inline __attribute__((always_inline)) struct mprof__cell *
mprof__remembered(struct mprof__memo *memo, const void *frame,
                  struct mprof__trail *trail) {
    uintptr_t pc, sp, bp;
    struct mprof__cell *c, *f;
    mprof__caller(frame, &pc, &sp, &bp);
    *trail = (struct mprof__trail){NULL, NULL};
    if (memo->generation != mprof__glance(&mprof__generation) ||
        --memo->patience == 0)
        return NULL;
    c = *mprof__memo_recent(memo, pc, sp);
    if (!mprof__cell_is(c, pc, sp))
        return NULL;
    if (sp > memo->shallowest)
        memo->shallowest = sp;
    /* The first one is asked in one go for its needs, too. */
    unsigned flags = c->shape.flags & (MPROF__CELL_NEEDS | MPROF__CELL_SPECIAL);
    for (f = c;;) {
        if (__builtin_expect(flags == 0, 1)) {
            if (mprof__word_at(mprof__cell_slot(f)) != f->ra)
                break;
        } else if (flags == MPROF__CELL_MARK) {
            if (!mprof__cell_marked(memo, f))
                break;
            return c;
        } else {
            if (flags & MPROF__CELL_NEEDS &&
                mprof__cell_more(memo, c)->bp != mprof__frame_pointer(frame))
                return NULL;
            if (!mprof__cell_holds(memo, f, flags))
                break;
            if (flags & (MPROF__CELL_END | MPROF__CELL_MARK))
                return c;
        }
        struct mprof__cell *outer = &memo->cells[f->outer];
        if (outer->version != f->outer_version)
            break;
        f = outer;
        flags = f->shape.flags & MPROF__CELL_SPECIAL;
    }
    *trail = (struct mprof__trail){c, f};
    return NULL;
}

/* The same when something is not as it was, from where TRAIL ends; NULL: the
 * chain is to be walked by rules.  errno stays. */
struct mprof__cell *mprof__remembered_slowly(struct mprof__memo *memo,
                                             const void *frame,
                                             struct mprof__trail trail);

#endif
