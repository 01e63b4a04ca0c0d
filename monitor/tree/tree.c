/* tree.c - the calling-context tree: from a chain to its node.
 *
 * Nodes are keyed by (parent, call).  A frame's child is found among the few
 * first children of its parent, else by the index of all others.  In the index
 * of a Lisp tree the call sites of a function are in one bucket: they are few,
 * as there is a limit, and so a new one finds the others.
 */
#include "monitor/tree/tree.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/names/names.h"
#include "monitor/tree/trees.h"

static uint32_t hash_of(mprof_ref node, mprof_ref other) {
    return (uint32_t)mprof__hash((uint64_t)node << 32 | other);
}

static uint32_t hash_node(const struct mprof__arena *arena, const void *thing) {
    (void)arena;
    return ((const struct mprof_node *)thing)->hash;
}

static struct mprof__blocks blocks_of(const struct mprof__trees *trees,
                                      uint32_t type) {
    return (struct mprof__blocks){
        .arena = trees->arena,
        .thread = trees->ref,
        .type = type,
        .bytes = mprof_thing_bytes(type, mprof__knows_lives(trees))};
}

void mprof__tree_prepare(struct mprof__trees *trees, struct mprof__tree *tree,
                         uint32_t nodes, uint32_t counters) {
    tree->node_blocks = blocks_of(trees, nodes);
    tree->counter_blocks = blocks_of(trees, counters);
    tree->nodes = (struct mprof__index){
        .next = offsetof(struct mprof_node, next), .hash = hash_node};
}

bool mprof__tree_plant(struct mprof__tree *tree) {
    struct mprof_node *root =
        mprof__block_next(&tree->node_blocks, MPROF__FOR_COUNTERS);
    if (root == NULL)
        return false;
    memset(root, 0, sizeof *root);
    tree->root = mprof__block_publish(&tree->node_blocks, root);
    return true;
}

void mprof__tree_forget(struct mprof__tree *tree) {
    mprof__unmap(tree->steps, MPROF__STEPS * sizeof *tree->steps);
    tree->steps = NULL;
}

void mprof__tree_free(struct mprof__tree *tree) {
    mprof__tree_forget(tree);
    mprof__index_free(&tree->nodes);
    tree->root = 0;
}

mprof_ref mprof__tree_function(struct mprof__trees *trees, size_t index) {
    const struct mprof__frame *frame = &trees->chain->frames[index];
    return frame->object != 0 ? mprof__function_of_object(trees->shows.names,
                                                          trees->chain, index)
                              : frame->site->function;
}

mprof_ref mprof__tree_call(const struct mprof__trees *trees, size_t index,
                           mprof_ref function) {
    const struct mprof__frame *frame = &trees->chain->frames[index];
    return frame->object == 0 && frame->site->ref != 0 ? frame->site->ref
                                                       : function;
}

/* Which child of a node is looked for. */
struct wanted {
    mprof_ref parent;
    mprof_ref call;
    mprof_ref function; /* in a Lisp tree the call's; else 0 */
    unsigned chained;   /* how many of the parent's children are */
    bool has_sibling;   /* is there another call of the function? */
};

static uint32_t hash_wanted(const struct wanted *w) {
    return hash_of(w->parent, w->function != 0 ? w->function : w->call);
}

/* Search the list of children from FIRST on, chained or of the index, for the
 * one wanted; 0: it is not there.  *COUNT: how many were looked at. */
static inline mprof_ref find_from(const struct mprof__arena *arena,
                                  mprof_ref first, struct wanted *w,
                                  unsigned *count) {
    mprof_ref ref = first;
    for (*count = 0; ref != 0; ++*count) {
        const struct mprof_node *node = mprof__arena_at(arena, ref);
        if (node->parent == w->parent) {
            if (node->call == w->call)
                break;
            w->has_sibling |=
                w->function != 0 &&
                mprof__call_function(arena, node->call) == w->function;
        }
        ref = node->next;
    }
    return ref;
}

static inline mprof_ref find_child(const struct mprof__arena *arena,
                                   const struct mprof__tree *tree,
                                   struct wanted *w) {
    const struct mprof_node *outer = mprof__arena_at(arena, w->parent);
    unsigned far;
    mprof_ref ref = find_from(arena, outer->child, w, &w->chained);
    if (ref == 0 && w->chained >= MPROF__FEW)
        ref = find_from(arena, mprof__index_first(&tree->nodes, hash_wanted(w)),
                        w, &far);
    return ref;
}

/* Make the child wanted, which is not there. */
static inline mprof_ref make_child(struct mprof__trees *trees,
                                   struct mprof__tree *tree,
                                   const struct wanted *w,
                                   enum mprof__room room) {
    const struct mprof__arena *arena = trees->arena;
    struct mprof_node *outer = mprof__arena_at(arena, w->parent);
    bool few = w->chained < MPROF__FEW;
    struct mprof_node *node = few || mprof__index_make(&tree->nodes, arena)
                                  ? mprof__block_next(&tree->node_blocks, room)
                                  : NULL;
    if (node == NULL)
        return 0;
    *node = (struct mprof_node){.parent = w->parent,
                                .call = w->call,
                                .hash = few ? 0 : hash_wanted(w),
                                .next = few ? outer->child : 0};
    mprof_ref ref = mprof__block_publish(&tree->node_blocks, node);
    if (few)
        outer->child = ref;
    else
        mprof__index_add(&tree->nodes, arena, ref, node->hash);
    tree->node_count++;
    return ref;
}

static inline mprof_ref find_or_make(struct mprof__trees *trees,
                                     struct mprof__tree *tree, struct wanted *w,
                                     enum mprof__room room) {
    mprof_ref ref = find_child(trees->arena, tree, w);
    return ref != 0 ? ref : make_child(trees, tree, w, room);
}

mprof_ref mprof__tree_child(struct mprof__trees *trees,
                            struct mprof__tree *tree, mprof_ref parent,
                            mprof_ref call, enum mprof__room room) {
    struct wanted w = {.parent = parent, .call = call};
    mprof_ref ref = mprof__tree_by_call(trees->arena->base, parent, call);
    return ref != 0 ? ref : find_or_make(trees, tree, &w, room);
}

/* Are the call sites of FUNCTION one node in TREE, from now on? */
static inline bool is_merged(const struct mprof__tree *tree,
                             const struct mprof_function *function) {
    return tree->node_count >= MPROF__MANY_NODES &&
           mprof__load_relaxed(&function->splits) >= MPROF__MOST_SPLITS;
}

/* FUNCTION has one more context for another call site.  If two threads say so
 * at once, it may be one. */
static inline void split(struct mprof_function *function) {
    uint8_t splits = mprof__load_relaxed(&function->splits);
    if (splits < MPROF__MOST_SPLITS)
        mprof__store_relaxed(&function->splits, splits + 1);
}

/* The child of PARENT that is not found by its CALL, or is not there yet. */
static inline __attribute__((always_inline)) mprof_ref
other_node(struct mprof__trees *trees, mprof_ref parent, mprof_ref call,
           enum mprof__room room) {
    const struct mprof__arena *arena = trees->arena;
    struct mprof__tree *tree = &trees->tree;
    struct wanted w = {.parent = parent, .call = call};
    if (mprof__by_site(trees))
        return find_or_make(trees, tree, &w, room);
    w.function = mprof__call_function(arena, call);
    struct mprof_function *function = mprof__arena_at(arena, w.function);
    bool merged = call != w.function && is_merged(tree, function);
    mprof_ref ref =
        merged ? mprof__tree_by_call(arena->base, parent, w.function) : 0;
    if (ref == 0)
        ref = find_child(arena, tree, &w);
    if (ref == 0 && merged) {
        w.call = w.function;
        ref = find_child(arena, tree, &w);
    } else if (ref == 0 && w.has_sibling && call != w.function) {
        split(function);
    }
    return ref != 0 ? ref : make_child(trees, tree, &w, room);
}

mprof_ref mprof__tree_node(struct mprof__trees *trees, mprof_ref parent,
                           mprof_ref call, enum mprof__room room) {
    mprof_ref ref = mprof__tree_by_call(trees->arena->base, parent, call);
    return ref != 0 ? ref : other_node(trees, parent, call, room);
}

mprof_ref mprof__tree_step(struct mprof__trees *trees, mprof_ref parent,
                           mprof_ref call) {
    int saved = errno;
    mprof_ref node = other_node(trees, parent, call, MPROF__FOR_CHAINS);
    errno = saved;
    return node;
}

void mprof__tree_remember(struct mprof__tree *tree, mprof_ref parent,
                          uint64_t key, mprof_ref child) {
    if (tree->steps == NULL)
        tree->steps = mprof__map(MPROF__STEPS * sizeof *tree->steps);
    if (tree->steps == NULL || child == 0)
        return;
    struct mprof__step *step = mprof__step_at(tree, parent, key);
    /* Should a jump leave this in the middle, there is nothing. */
    step->parent = 0;
    mprof__order_for_handlers();
    step->key = key;
    step->child = child;
    mprof__order_for_handlers();
    step->parent = parent;
}
