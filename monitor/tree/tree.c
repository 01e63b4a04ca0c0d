/* tree.c - the calling-context tree: from a chain to its node.
 *
 * In the C heap nodes are keyed by (parent, SITE), and in Lisp's, where chains
 * are many more, by (parent, function): there two call sites of one function
 * lead to the same node.  A frame's child is found among
 * the few first children of its parent, else by the index of all others.
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
    const struct mprof_node *node = thing;
    return hash_of(node->parent, node->edge == MPROF__OWN_CALL
                                     ? node->call
                                     : mprof__call_function(arena, node->call));
}

static uint32_t hash_edge(const struct mprof__arena *arena, const void *thing) {
    const struct mprof_edge *edge = thing;
    (void)arena;
    return hash_of(edge->node, edge->site);
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
    tree->edge_blocks = blocks_of(trees, MPROF_EDGES);
    tree->counter_blocks = blocks_of(trees, counters);
    tree->nodes = (struct mprof__index){
        .next = offsetof(struct mprof_node, next), .hash = hash_node};
    tree->edges = (struct mprof__index){
        .next = offsetof(struct mprof_edge, next), .hash = hash_edge};
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
    mprof__index_free(&tree->edges);
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
    mprof_ref call;     /* how it is called now, */
    mprof_ref function; /* and what, */
    bool own;           /* or only the node of this call */
};

static uint32_t hash_wanted(const struct wanted *w) {
    return hash_of(w->parent, w->own ? w->call : w->function);
}

static inline bool is_wanted(const struct mprof__arena *arena,
                             const struct mprof_node *node,
                             const struct wanted *w) {
    if (__builtin_expect(w->own || mprof__has_own_call(node), 0))
        return w->own && mprof__has_own_call(node) && node->call == w->call;
    return node->call == w->call ||
           mprof__call_function(arena, node->call) == w->function;
}

/* Search the list of children from FIRST on, chained or of the index, for the
 * one wanted; 0: it is not there.  *COUNT: how many were looked at. */
static inline mprof_ref find_from(const struct mprof__arena *arena,
                                  mprof_ref first, const struct wanted *w,
                                  unsigned *count) {
    mprof_ref ref = first;
    for (*count = 0; ref != 0; ++*count) {
        const struct mprof_node *node = mprof__arena_at(arena, ref);
        if (node->parent == w->parent && is_wanted(arena, node, w))
            break;
        ref = node->next;
    }
    return ref;
}

/* Make the child wanted for OUTER, the node of W->parent, which has COUNT
 * others that are chained. */
static inline mprof_ref make_child(struct mprof__trees *trees,
                                   struct mprof__tree *tree,
                                   struct mprof_node *outer, unsigned count,
                                   const struct wanted *w,
                                   enum mprof__room room) {
    const struct mprof__arena *arena = trees->arena;
    bool few = count < MPROF__FEW;
    struct mprof_node *node = few || mprof__index_make(&tree->nodes, arena)
                                  ? mprof__block_next(&tree->node_blocks, room)
                                  : NULL;
    if (node == NULL)
        return 0;
    *node = (struct mprof_node){.parent = w->parent,
                                .call = w->call,
                                .edge = w->own ? MPROF__OWN_CALL : 0,
                                .next = few ? outer->child : 0};
    mprof_ref ref = mprof__block_publish(&tree->node_blocks, node);
    if (few)
        outer->child = ref;
    else
        mprof__index_add(&tree->nodes, arena, ref, hash_wanted(w));
    tree->node_count++;
    return ref;
}

/* The child of PARENT that is not found by its call, or is not there yet.  Of
 * new nodes most are their parent's first child; then the function of the call
 * need not be looked up. */
static inline __attribute__((always_inline)) mprof_ref
other_child(struct mprof__trees *trees, struct mprof__tree *tree,
            mprof_ref parent, mprof_ref call, bool own, enum mprof__room room) {
    const struct mprof__arena *arena = trees->arena;
    struct mprof_node *outer = mprof__arena_at(arena, parent);
    struct wanted w = {.parent = parent, .call = call};
    unsigned count = 0, far;
    mprof_ref ref = 0;
    if (outer->child != 0 || own) {
        w.function = mprof__call_function(arena, call);
        w.own = own && call != w.function;
        ref = find_from(arena, outer->child, &w, &count);
        if (ref == 0 && count >= MPROF__FEW)
            ref = find_from(arena,
                            mprof__index_first(&tree->nodes, hash_wanted(&w)),
                            &w, &far);
    }
    return ref != 0 ? ref : make_child(trees, tree, outer, count, &w, room);
}

mprof_ref mprof__tree_child(struct mprof__trees *trees,
                            struct mprof__tree *tree, mprof_ref parent,
                            mprof_ref call, bool own, enum mprof__room room) {
    const char *base = trees->arena->base;
    mprof_ref ref = mprof__tree_by_call(base, parent, call);
    return ref != 0 ? ref : other_child(trees, tree, parent, call, own, room);
}

static bool has_far_edge(const struct mprof__trees *trees, mprof_ref node,
                         mprof_ref call) {
    const struct mprof__arena *arena = trees->arena;
    mprof_ref ref = mprof__index_first(&trees->tree.edges, hash_of(node, call));
    while (ref != 0) {
        const struct mprof_edge *edge = mprof__arena_at(arena, ref);
        if (edge->node == node && edge->site == call)
            return true;
        ref = edge->next;
    }
    return false;
}

/* NODE calls from CALL, too, which is not its own. */
static __attribute__((noinline)) void add_edge(struct mprof__trees *trees,
                                               mprof_ref node, mprof_ref call,
                                               enum mprof__room room) {
    struct mprof__tree *tree = &trees->tree;
    const struct mprof__arena *arena = trees->arena;
    struct mprof_node *of = mprof__arena_at(arena, node);
    const struct mprof_site *site = mprof__arena_at(arena, call);
    struct mprof_edge *edge;
    if (site->head.type != MPROF_SITE)
        return;
    unsigned n = 0;
    for (mprof_ref ref = of->edge; ref != 0; ref = edge->next, n++) {
        edge = mprof__arena_at(arena, ref);
        if (edge->site == call)
            return;
    }
    bool few = n < MPROF__FEW;
    if (!few && (has_far_edge(trees, node, call) ||
                 !mprof__index_make(&tree->edges, arena)))
        return;
    edge = mprof__block_next(&tree->edge_blocks, room);
    if (edge == NULL)
        return;
    *edge = (struct mprof_edge){
        .node = node, .site = call, .next = few ? of->edge : 0};
    mprof_ref ref = mprof__block_publish(&tree->edge_blocks, edge);
    if (few)
        of->edge = ref;
    else
        mprof__index_add(&tree->edges, arena, ref, hash_of(node, call));
}

static inline __attribute__((always_inline)) mprof_ref
other_node(struct mprof__trees *trees, mprof_ref parent, mprof_ref call,
           enum mprof__room room) {
    const struct mprof__arena *arena = trees->arena;
    mprof_ref ref = other_child(trees, &trees->tree, parent, call,
                                mprof__by_site(trees), room);
    const struct mprof_node *node = mprof__arena_at(arena, ref);
    if (ref != 0 && node->call != call)
        add_edge(trees, ref, call, room);
    return ref;
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
