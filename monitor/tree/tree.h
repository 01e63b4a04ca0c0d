/* tree.h - the calling-context tree of a thread; see tree.c.
 *
 *     in memory, the thread's              in the data file, for good
 *
 *     root ------------------------------> node (no function)
 *                                            ^ parent  | child
 *                                            |         v
 *                                          node: call ----> SITE main+12
 *                                            | \- next --> node --> ...
 *                                            | parent
 *     nodes:  (node, call) -> node           |
 *                                          node: call ----> SITE f+8
 *                                            \- counter --> counter --> ...
 *
 * A node is one call site of a function: it is found by that SITE; or for what
 * is interpreted by the FUNCTION.  Up to MPROF__FEW children of a node are
 * chained by `next`: they are close in memory and found fast.  The rest is in
 * the index `nodes`.  `steps` is a cache of the recent lookups of short chains
 * and in the spill.
 *
 * Lisp programs that call themselves in many ways would make several times as
 * many contexts by call site as by function.  So in a tree of MPROF__MANY_NODES
 * the functions that made MPROF__MOST_SPLITS contexts more than one, because
 * they call from several sites, are merged: a new node of theirs is found by
 * the FUNCTION, and is used for all call sites without a node.
 *
 * When there is no room for a new node, the chain is folded from there inwards:
 * its frames have nodes of the spill (spill.h), a tree that is summed up and
 * emptied when it is full.  If that cannot be, the chain is lost: its frames
 * have the nodes of short chains, which lead from the root by way of a node of
 * the function FOLDED to the innermost MPROF__SHORT functions; see short.c.
 *
 * Invariants: parent < node, as refs.  Every node except the root has a call.
 * Two nodes with one parent have different calls.  A node's counters are
 * chained by `next`, oldest first; two counters differ in key or site.
 */
#ifndef MONITOR_TREE_TREE_H
#define MONITOR_TREE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/table.h"
#include "monitor/format/format.h"
#include "monitor/file/blocks.h"
#include "monitor/file/index.h"
#include "monitor/unwind/walk.h"

struct mprof__trees;

enum {
    MPROF__SHORT = 8,   /* functions of a short chain */
    MPROF__SHORTER = 6, /* ... where there is little room: those that the leak
                         * table shows by default, and that there were more */
    MPROF__FEW = 8,     /* children that are chained */
    MPROF__STEPS = 256, /* a power of two */
    MPROF__MANY_NODES = 1 << 16,
    MPROF__MOST_SPLITS = 32
};

/* An entry of a cache: from a frame's node to its callee's. */
struct mprof__step {
    uint64_t key;     /* how it is called: site, or interpreted object */
    mprof_ref parent; /* node; 0: nothing */
    mprof_ref child;
};

/* A tree of a thread, or its spill.  Only that thread touches it. */
struct mprof__tree {
    mprof_ref root;   /* its node, which has counters of all classes */
    mprof_ref folded; /* the node of short chains; 0: there are none */
    struct mprof__blocks node_blocks, counter_blocks;
    struct mprof__index nodes; /* of those that are not chained */
    uint32_t node_count;       /* without the root */
    struct mprof__step *steps; /* MPROF__STEPS; mapped, or NULL */
};

/* Check the invariants of TREES, which no thread changes meanwhile; see
 * tree_check.c. */
void mprof__tree_check(const struct mprof__trees *trees);

/* Begin TREE, empty, with blocks of types NODES and COUNTERS; then make its
 * root: false, there is no room. */
void mprof__tree_prepare(struct mprof__trees *trees, struct mprof__tree *tree,
                         uint32_t nodes, uint32_t counters);
bool mprof__tree_plant(struct mprof__tree *tree);
/* Give back the memory of TREE that is not in the data file; or of that what
 * only makes it quicker. */
void mprof__tree_forget(struct mprof__tree *tree);
void mprof__tree_free(struct mprof__tree *tree);

/* The FUNCTION that a frame of the chain runs, or 0; and how it is written in
 * nodes: the SITE where it is, or else the function. */
mprof_ref mprof__tree_function(struct mprof__trees *trees, size_t index);
mprof_ref mprof__tree_call(const struct mprof__trees *trees, size_t index,
                           mprof_ref function);
/* Return the child of PARENT in TREE for CALL, a SITE or FUNCTION; 0: there is
 * no ROOM. */
mprof_ref mprof__tree_child(struct mprof__trees *trees,
                            struct mprof__tree *tree, mprof_ref parent,
                            mprof_ref call, enum mprof__room room);
/* In the tree of whole and short chains; CALL may be merged with others. */
mprof_ref mprof__tree_node(struct mprof__trees *trees, mprof_ref parent,
                           mprof_ref call, enum mprof__room room);

/* Return the node that CALL leads to from PARENT, a whole chain's node, when
 * mprof__tree_by_call() does not find it.  0: there is no space.  errno stays.
 */
mprof_ref mprof__tree_step(struct mprof__trees *trees, mprof_ref parent,
                           mprof_ref call);

/* Remember the step in TREE from PARENT by KEY to CHILD, unless that is 0. */
void mprof__tree_remember(struct mprof__tree *tree, mprof_ref parent,
                          uint64_t key, mprof_ref child);

/* The class of what KEY means. */
static inline enum mprof_class
mprof__key_class(const struct mprof__arena *arena, uint32_t key) {
    if (!mprof_key_has_type(key))
        return (enum mprof_class)key;
    const struct mprof_bin *bin = mprof__arena_at(arena, mprof_key_bin(key));
    return (enum mprof_class)bin->class_;
}

/* How the function of FRAME is called, for steps. */
static inline uint64_t mprof__step_key(const struct mprof__frame *frame) {
    return frame->object != 0 ? frame->object : (uintptr_t)frame->site;
}

/* Search the children that are chained at PARENT, in the data file that begins
 * at BASE, for the one that CALL made.  0: there is none. */
static inline mprof_ref mprof__tree_by_call(const char *base, mprof_ref parent,
                                            mprof_ref call) {
    const struct mprof_node *node = (const void *)(base + (size_t)parent * 8);
    mprof_ref ref = node->child;
    while (ref != 0) {
        node = (const void *)(base + (size_t)ref * 8);
        if (node->call == call)
            break;
        ref = node->next;
    }
    return ref;
}

/* Where the step from PARENT by KEY would be in TREE, which has some. */
static inline struct mprof__step *
mprof__step_at(const struct mprof__tree *tree, mprof_ref parent, uint64_t key) {
    return &tree->steps[mprof__hash(key + ((uint64_t)parent << 32)) %
                        MPROF__STEPS];
}

/* Return where the step from PARENT by KEY leads; 0: not remembered. */
static inline mprof_ref mprof__step(const struct mprof__tree *tree,
                                    mprof_ref parent, uint64_t key) {
    if (tree->steps == NULL)
        return 0;
    const struct mprof__step *step = mprof__step_at(tree, parent, key);
    return step->key == key && step->parent == parent ? step->child : 0;
}

/* The FUNCTION that the CALL of a node means. */
static inline mprof_ref mprof__call_function(const struct mprof__arena *arena,
                                             mprof_ref call) {
    const struct mprof_site *site = mprof__arena_at(arena, call);
    return site->head.type == MPROF_SITE ? site->function : call;
}

#endif
