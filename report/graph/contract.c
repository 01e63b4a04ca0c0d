/* contract.c - from nodes to places: plumbing is taken out of the trees, and
 * functions that were inlined are put in. */
#include "report/graph/places.h"

#include <string.h>

#include "report/graph/inlining.h"

struct contraction {
    struct report__pool *pool;
    const struct report__profile *profile;
    const struct report__functions *names;
    enum mprof_heap heap;
    uint32_t thread;
    bool all_frames;
    const struct report__inlining *inlining; /* or NULL */
    struct report__places out;
    size_t capacity; /* of out.list */
    uint32_t *top;   /* by thread: the place of its top level */
    bool *is_shown;  /* by node: its place is that of its own function */
};

static uint32_t add_place(struct contraction *c, uint32_t parent,
                          uint32_t function) {
    struct report__places *out = &c->out;

    out->list = report__grow(c->pool, out->list, out->count, &c->capacity,
                             sizeof *out->list);
    out->list[out->count] = (struct report__place){
        .parent = parent,
        .function = function,
        .arc = MPROF_NONE,
        .child = MPROF_NONE,
        .sibling = MPROF_NONE,
        .inlined = MPROF_NONE,
        .next_inlined = MPROF_NONE,
    };
    return out->count++;
}

/* The place of FUNCTION, which was inlined into that of the place OUTER. */
static uint32_t inlined_place(struct contraction *c, uint32_t outer,
                              uint32_t function) {
    uint32_t place = c->out.list[outer].inlined;

    while (place != MPROF_NONE && c->out.list[place].function != function)
        place = c->out.list[place].next_inlined;
    if (place != MPROF_NONE)
        return place;
    place = add_place(c, outer, function);
    c->out.list[place].is_inlined = true;
    c->out.list[place].next_inlined = c->out.list[outer].inlined;
    c->out.list[outer].inlined = place;
    return place;
}

/* The place of the inlined FRAME, or MPROF_NONE, in the function of PLACE. */
static uint32_t place_within(struct contraction *c, uint32_t place,
                             uint32_t frame) {
    if (frame == MPROF_NONE)
        return place;
    const struct report__inlined_frame *f = &c->inlining->frames[frame];
    return inlined_place(c, place_within(c, place, f->outer), f->function);
}

/* The place of the function that the compiler inlined those of PLACE into. */
static uint32_t real_place(const struct contraction *c, uint32_t place) {
    while (place != MPROF_NONE && c->out.list[place].is_inlined)
        place = c->out.list[place].parent;
    return place;
}

static uint32_t top_level(struct contraction *c, uint32_t thread) {
    if (c->top[thread] == MPROF_NONE)
        c->top[thread] = add_place(c, MPROF_NONE, MPROF_TOP_LEVEL);
    return c->top[thread];
}

static bool is_plumbing(const struct contraction *c, uint32_t function) {
    const struct report__shown *shown = &c->names->list[function];
    return shown->plumbing || (shown->loading && c->heap == MPROF_LISP_HEAP);
}

/* The place that called NODE, or MPROF_NONE: nothing that is shown. */
static uint32_t place_above(struct contraction *c, uint32_t node) {
    uint32_t parent = c->profile->nodes[node].parent;

    if (parent == MPROF_NONE)
        return MPROF_NONE;
    if (!c->inlining || !c->is_shown[parent])
        return c->out.place_of[parent];
    return place_within(c, c->out.place_of[parent],
                        c->inlining->of_caller[node]);
}

/* The place of node I below the place ABOVE.  Forms that run below a shown
 * function are the function's. */
static uint32_t place_for(struct contraction *c, uint32_t i, uint32_t above) {
    const struct report__node *node = &c->profile->nodes[i];
    uint32_t whole = real_place(c, above), shown;

    if (node->function == MPROF_NONE)
        return above;
    shown = c->names->shown[node->function];
    c->is_shown[i] = true;
    if (whole != MPROF_NONE && c->names->fragment[node->function] &&
        c->out.list[whole].function == shown)
        return whole;
    if (c->all_frames || !is_plumbing(c, shown))
        return add_place(c, above, shown);
    c->is_shown[i] = false;
    if (above == MPROF_NONE && shown == MPROF_TOP_LEVEL)
        return top_level(c, node->thread);
    return above;
}

bool report__is_empty(const struct report__counts *counts) {
    return report__allocs(counts) == 0 && report__bytes(counts) == 0;
}

/* Add what was allocated at node I to its place.  What has no place is of the
 * top level, but the functions below it are not called by that. */
static void count_node(struct contraction *c, uint32_t i) {
    const struct report__node *node = &c->profile->nodes[i];
    uint32_t *place = &c->out.place_of[i];

    if (report__is_empty(&node->own))
        return;
    if (*place == MPROF_NONE)
        *place = top_level(c, node->thread);
    report__add(&c->out.list[*place].own, &node->own);
    report__add(&c->out.list[*place].freed, &node->freed);
}

static void move(struct mprof_count *to, struct mprof_count *from,
                 const struct mprof_count *count) {
    to->allocs += count->allocs;
    to->bytes += count->bytes;
    from->allocs -= count->allocs;
    from->bytes -= count->bytes;
}

/* What an inlined function allocated is not the whole function's. */
static void count_inlined(struct contraction *c,
                          const struct report__counter *counter) {
    if (counter->edge == MPROF_NONE || !c->is_shown[counter->node])
        return;
    uint32_t from = c->out.place_of[counter->node];
    uint32_t to = place_within(c, from, c->inlining->of_edge[counter->edge]);
    struct report__place *whole = &c->out.list[from], *part = &c->out.list[to];
    move(&part->own.by_class[counter->class_],
         &whole->own.by_class[counter->class_], &counter->allocated);
    move(&part->freed.by_class[counter->class_],
         &whole->freed.by_class[counter->class_], &counter->freed);
}

static bool is_wanted(const struct contraction *c,
                      const struct report__node *node) {
    return c->profile->threads[node->thread].heap == c->heap &&
           (c->thread == MPROF_NONE || c->thread == node->thread);
}

/* Nodes become places, or are counted at the place above. */
static void contract(struct contraction *c) {
    const struct report__profile *p = c->profile;

    c->capacity = (size_t)p->node_count + p->thread_count;
    c->out.list = report__alloc(c->pool, c->capacity, sizeof *c->out.list);
    c->out.place_of = report__alloc(c->pool, p->node_count, sizeof(uint32_t));
    c->is_shown = report__alloc(c->pool, p->node_count, sizeof *c->is_shown);
    c->top = report__alloc(c->pool, p->thread_count, sizeof *c->top);
    memset(c->top, 0xff, p->thread_count * sizeof *c->top);
    for (uint32_t i = 0; i < p->node_count; i++)
        c->out.place_of[i] = is_wanted(c, &p->nodes[i])
                                 ? place_for(c, i, place_above(c, i))
                                 : MPROF_NONE;
    for (uint32_t i = 0; i < p->node_count; i++)
        if (is_wanted(c, &p->nodes[i]))
            count_node(c, i);
    for (uint32_t i = 0; c->inlining && i < p->counter_count; i++)
        count_inlined(c, &p->counters[i]);
}

/* Parents come first, so one pass backwards sums up the subtrees.  Subtrees
 * without allocations (other threads may be about to count) leave no trace. */
static void sum_up(struct contraction *c) {
    for (uint32_t i = c->out.count; i-- > 0;) {
        struct report__place *place = &c->out.list[i];
        report__add(&place->sum, &place->own);
        if (report__is_empty(&place->sum))
            continue;
        if (place->parent == MPROF_NONE)
            continue;
        struct report__place *parent = &c->out.list[place->parent];
        report__add(&parent->sum, &place->sum);
        place->sibling = parent->child;
        parent->child = i;
    }
}

struct report__places report__contract(
    struct report__pool *pool, const struct report__profile *profile,
    const struct report__functions *names, enum mprof_heap heap,
    uint32_t thread, bool all_frames, const struct report__inlining *inlining) {
    struct contraction c = {.pool = pool,
                            .profile = profile,
                            .names = names,
                            .heap = heap,
                            .thread = thread,
                            .all_frames = all_frames,
                            .inlining = inlining};
    contract(&c);
    sum_up(&c);
    return c.out;
}
