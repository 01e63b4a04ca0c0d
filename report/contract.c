/* contract.c - from nodes to places: plumbing is taken out of the trees. */
#include "places.h"

#include <string.h>

struct contraction {
    struct mprof__pool *pool;
    const struct mprof__profile *profile;
    const struct mprof__functions *names;
    enum mprof_heap heap;
    uint32_t thread;
    bool all_frames;
    struct mprof__places out;
    uint32_t *top; /* by thread: the place of its top level */
};

static uint32_t add_place(struct contraction *c, uint32_t parent,
                          uint32_t function) {
    struct mprof__place *place = &c->out.list[c->out.count];
    place->parent = parent;
    place->function = function;
    place->arc = place->child = place->sibling = MPROF_NONE;
    return c->out.count++;
}

static uint32_t top_level(struct contraction *c, uint32_t thread) {
    if (c->top[thread] == MPROF_NONE)
        c->top[thread] = add_place(c, MPROF_NONE, MPROF_TOP_LEVEL);
    return c->top[thread];
}

static bool is_plumbing(const struct contraction *c, uint32_t function) {
    const struct mprof__shown *shown = &c->names->list[function];
    return shown->plumbing || (shown->loading && c->heap == MPROF_LISP_HEAP);
}

/* The place of a node below the place ABOVE (MPROF_NONE: below nothing that
 * is shown).  Forms that run below a shown function are the function's. */
static uint32_t place_for(struct contraction *c, const struct mprof__node *node,
                          uint32_t above) {
    uint32_t shown;

    if (node->function == MPROF_NONE)
        return above;
    shown = c->names->shown[node->function];
    if (above != MPROF_NONE && c->names->fragment[node->function] &&
        c->out.list[above].function == shown)
        return above;
    if (c->all_frames || !is_plumbing(c, shown))
        return add_place(c, above, shown);
    if (above == MPROF_NONE && shown == MPROF_TOP_LEVEL)
        return top_level(c, node->thread);
    return above;
}

bool mprof__is_empty(const struct mprof__counts *counts) {
    return mprof__allocs(counts) == 0 && mprof__bytes(counts) == 0;
}

/* Add what was allocated at node I to its place.  What has no place is of the
 * top level, but the functions below it are not called by that. */
static void count_node(struct contraction *c, uint32_t i) {
    const struct mprof__node *node = &c->profile->nodes[i];
    uint32_t *place = &c->out.place_of[i];

    if (mprof__is_empty(&node->own))
        return;
    if (*place == MPROF_NONE)
        *place = top_level(c, node->thread);
    mprof__add(&c->out.list[*place].own, &node->own);
    mprof__add(&c->out.list[*place].freed, &node->freed);
}

static bool is_wanted(const struct contraction *c,
                      const struct mprof__node *node) {
    return c->profile->threads[node->thread].heap == c->heap &&
           (c->thread == MPROF_NONE || c->thread == node->thread);
}

/* Nodes become places, or are counted at the place above. */
static void contract(struct contraction *c) {
    const struct mprof__profile *p = c->profile;
    uint32_t *place_of = mprof__alloc(c->pool, p->node_count, sizeof *place_of);

    c->out.list = mprof__alloc(c->pool, (size_t)p->node_count + p->thread_count,
                               sizeof *c->out.list);
    c->top = mprof__alloc(c->pool, p->thread_count, sizeof *c->top);
    memset(c->top, 0xff, p->thread_count * sizeof *c->top);
    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct mprof__node *node = &p->nodes[i];
        uint32_t above = MPROF_NONE;

        place_of[i] = MPROF_NONE;
        if (!is_wanted(c, node))
            continue;
        if (node->parent != MPROF_NONE)
            above = place_of[node->parent];
        place_of[i] = place_for(c, node, above);
    }
    c->out.place_of = place_of;
    for (uint32_t i = 0; i < p->node_count; i++)
        if (is_wanted(c, &p->nodes[i]))
            count_node(c, i);
}

/* Parents come first, so one pass backwards sums up the subtrees.  Subtrees
 * without allocations (other threads may be about to count) leave no trace. */
static void sum_up(struct contraction *c) {
    for (uint32_t i = c->out.count; i-- > 0;) {
        struct mprof__place *place = &c->out.list[i];
        mprof__add(&place->sum, &place->own);
        if (mprof__is_empty(&place->sum))
            continue;
        if (place->parent == MPROF_NONE)
            continue;
        struct mprof__place *parent = &c->out.list[place->parent];
        mprof__add(&parent->sum, &place->sum);
        place->sibling = parent->child;
        parent->child = i;
    }
}

struct mprof__places mprof__contract(struct mprof__pool *pool,
                                     const struct mprof__profile *profile,
                                     const struct mprof__functions *names,
                                     enum mprof_heap heap, uint32_t thread,
                                     bool all_frames) {
    struct contraction c = {.pool = pool,
                            .profile = profile,
                            .names = names,
                            .heap = heap,
                            .thread = thread,
                            .all_frames = all_frames};
    contract(&c);
    sum_up(&c);
    return c.out;
}
