/* short.c - the short chains of a full tree.
 *
 * There are few of them, however many chains there are, and space is reserved
 * for them.  So the bytes of each function, and of its nearest callers, stay
 * exact.
 */
#include "monitor/tree/short.h"

#include "monitor/base/self.h"
#include "monitor/names/names.h"
#include "monitor/names/shown.h"
#include "monitor/tree/trees.h"
#include "monitor/tree/tree.h"

/* Frames of a short chain with plumbing. */
enum { MOST_FRAMES = 64 };

mprof_ref mprof__tree_folded(struct mprof__trees *trees) {
    struct mprof__names *names = trees->shows.names;
    if (trees->tree.folded != 0)
        return trees->tree.folded;
    mprof__lock(&trees->arena->lock);
    mprof_ref function =
        mprof__function_special(names, MPROF_FOLDED, &names->folded);
    mprof__unlock(&trees->arena->lock);
    if (function != 0)
        trees->tree.folded = mprof__tree_node(trees, trees->tree.root, function,
                                              MPROF__FOR_COUNTERS);
    return trees->tree.folded;
}

/* Return the frame where the chain of the innermost LENGTH functions at frame
 * INDEX begins.  Only functions that the tables show are counted. */
static size_t find_first(struct mprof__trees *trees, size_t index,
                         unsigned length) {
    unsigned all = 0, shown = 0;
    for (;; index--) {
        mprof_ref function = mprof__tree_function(trees, index);
        all++;
        shown += function != 0 && !mprof__shown(&trees->shows, function).hidden;
        if (index == 0 || shown >= length || all >= MOST_FRAMES)
            return index;
    }
}

/* The node of the chain from frame FIRST to LAST; 0: there is no ROOM. */
static mprof_ref find_part(struct mprof__trees *trees, size_t first,
                           size_t last, enum mprof__room room) {
    bool by_function = room == MPROF__FOR_COUNTERS;
    mprof_ref node = first == 0 ? trees->tree.root : mprof__tree_folded(trees);
    for (size_t i = first; node != 0 && i <= last; i++) {
        mprof_ref function = mprof__tree_function(trees, i);
        if (function != 0)
            node = mprof__tree_node(
                trees, node,
                by_function ? function : mprof__tree_call(trees, i, function),
                room);
    }
    return node;
}

/* A short chain, a shorter one, at the very end of the room the function
 * alone. */
mprof_ref mprof__tree_short(struct mprof__trees *trees, size_t index) {
    static const unsigned lengths[] = {[MPROF__FOR_SHORT] = MPROF__SHORT,
                                       [MPROF__FOR_SHORTER] = MPROF__SHORTER,
                                       [MPROF__FOR_COUNTERS] = 1};
    mprof_ref node = 0;
    for (int room = MPROF__FOR_SHORT; node == 0 && room <= MPROF__FOR_COUNTERS;
         room++) {
        size_t first = find_first(trees, index, lengths[room]);
        node = find_part(trees, first, index, (enum mprof__room)room);
    }
    return node;
}

/* How many functions lead from the root to NODE. */
static unsigned depth_of(const struct mprof__trees *trees, mprof_ref node) {
    const struct mprof_node *at = mprof__arena_at(trees->arena, node);
    unsigned depth = 0;
    for (; at->parent != 0; depth++)
        at = mprof__arena_at(trees->arena, at->parent);
    return depth;
}

/* Return true if CHILD's short chain is PARENT's with one function more, or a
 * part of that.  Where space is short, a caller's chain may be shorter than its
 * callee's. */
static bool leads(const struct mprof__trees *trees, mprof_ref parent,
                  mprof_ref child) {
    return depth_of(trees, child) <= depth_of(trees, parent) + 1;
}

/* These steps have keys of their own, also where they begin at a node of a
 * whole chain: other keys are even, as what they are the addresses of. */
mprof_ref mprof__short_inward(struct mprof__trees *trees, mprof_ref parent,
                              size_t index, bool leaves) {
    uint64_t key = mprof__step_key(&trees->chain->frames[index]) + 1;
    mprof_ref node = mprof__step(&trees->tree, parent, key);
    if (node != 0)
        return node;
    /* A function that there is no record for is its caller. */
    if (mprof__tree_function(trees, index) != 0)
        node = mprof__tree_short(trees, index);
    if (node == 0)
        node = parent;
    if (leaves || leads(trees, parent, node))
        mprof__tree_remember(&trees->tree, parent, key, node);
    return node;
}
