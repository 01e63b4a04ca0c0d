/* trees.c - see trees.h: from a chain to its node, in the tree or the spill. */
#include "monitor/tree/trees.h"

#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/tree/short.h"

bool mprof__trees_begin(struct mprof__trees *trees) {
    mprof__tree_prepare(trees, &trees->tree, MPROF_NODES, MPROF_COUNTERS);
    return mprof__tree_plant(&trees->tree) && mprof__root_counters(trees);
}

/* inward() for what is not among the first children of PARENT by this call. The
 * outermost functions of all chains are few. */
static mprof_ref __attribute__((noinline))
inward_slowly(struct mprof__trees *trees, mprof_ref parent, size_t index) {
    mprof_ref function = mprof__tree_function(trees, index);
    return function == 0
               ? 0
               : mprof__tree_node(trees, parent,
                                  mprof__tree_call(trees, index, function),
                                  index < MPROF__SHORT ? MPROF__FOR_SHORT
                                                       : MPROF__FOR_CHAINS);
}

/* Return the node that PARENT, a whole chain's, leads to at frame INDEX; 0:
 * there is no space. */
static inline mprof_ref inward(struct mprof__trees *trees, mprof_ref parent,
                               size_t index) {
    const struct mprof__frame *frame = &trees->chain->frames[index];
    mprof_ref node =
        frame->object != 0
            ? 0
            : mprof__tree_by_call(trees->arena->base, parent, frame->site->ref);
    return node != 0 ? node : inward_slowly(trees, parent, index);
}

/* Place the chain from frame INDEX on, which is folded; PARENT is its caller's
 * node, of a whole chain or not.  0: the spill was full, and is empty now. */
static mprof_ref fold(struct mprof__trees *trees, mprof_ref parent,
                      size_t index) {
    const struct mprof__chain *chain = trees->chain;
    bool leaves = index == 0 || !chain->frames[index - 1].folded;
    if (leaves)
        trees->lost = !mprof__spill_takes(trees);
    if (!trees->lost && !mprof__spill_begins(trees))
        return 0;
    if (leaves && !trees->lost)
        parent = mprof__spill_twin(trees, parent, index);
    for (; parent != 0 && index < chain->count; index++, leaves = false) {
        parent = trees->lost ? mprof__short_inward(trees, parent, index, leaves)
                             : mprof__spill_inward(trees, parent, index);
        chain->frames[index].node = parent;
        chain->frames[index].folded = true;
    }
    return parent;
}

/* The node of the chain, of which AT frames have theirs already; 0 as above. */
static mprof_ref place_from(struct mprof__trees *trees, size_t at) {
    const struct mprof__chain *chain = trees->chain;
    mprof_ref node = at == 0 ? trees->tree.root : chain->frames[at - 1].node;
    if (at > 0 && __builtin_expect(chain->frames[at - 1].folded, 0))
        return fold(trees, node, at);
    for (; at < chain->count; at++) {
        mprof_ref child = inward(trees, node, at);
        if (__builtin_expect(child == 0, 0))
            return fold(trees, node, at);
        node = child;
        chain->frames[at].node = node;
        chain->frames[at].folded = false;
    }
    trees->lost = false;
    return node;
}

mprof_ref mprof__trees_node(struct mprof__trees *trees) {
    const struct mprof__chain *chain = trees->chain;
    /* A chain that was lost gets space in the spill as soon as there is some.
     */
    bool anew = trees->lost && mprof__spill_takes(trees);
    mprof_ref node = place_from(trees, anew ? 0 : chain->reused);
    while (__builtin_expect(node == 0, 0))
        node = place_from(trees, 0);
    const struct mprof__site *site =
        chain->innermost == NULL ? NULL : chain->innermost->site;
    if (trees->counted != node || trees->counted_site != site) {
        /* Should a jump leave this in the middle, they are of none. */
        trees->counted = 0;
        mprof__order_for_handlers();
        memset(trees->counter, 0, sizeof trees->counter);
        trees->counted_site = site;
        mprof__order_for_handlers();
        trees->counted = node;
    }
    return node;
}
