/* view.c - make the nodes of the view from the trees': plumbing is taken out,
 * and inlined functions are put in. */
#include "report/graph/graph.h"

#include <string.h>

#include "report/graph/inlining.h"

/* The view node of the first function that was inlined into a node's function,
 * and the next one beside it; or MPROF_NONE. */
struct inlined {
    uint32_t first, next;
};

struct making {
    struct report__pool *pool;
    const struct report__profile *profile;
    const struct report__functions *names;
    enum mprof_heap heap;
    uint32_t thread;
    bool all_frames;
    const struct report__inlining *inlining; /* or NULL */
    struct report__view out;
    size_t capacity;         /* of out.list */
    struct inlined *inlined; /* by view node, if there is `inlining` */
    size_t inlined_capacity;
    uint32_t *top; /* by thread: the view node of its top level */
};

static uint32_t add_vnode(struct making *c, uint32_t parent,
                          uint32_t function) {
    struct report__view *out = &c->out;

    out->list = report__grow(c->pool, out->list, out->count, &c->capacity,
                             sizeof *out->list);
    out->list[out->count] = (struct report__view_node){
        .parent = parent,
        .function = function,
        .arc = MPROF_NONE,
        .child = MPROF_NONE,
        .sibling = MPROF_NONE,
        .counter = MPROF_NONE,
    };
    if (c->inlining) {
        c->inlined = report__grow(c->pool, c->inlined, out->count,
                                  &c->inlined_capacity, sizeof *c->inlined);
        c->inlined[out->count] = (struct inlined){MPROF_NONE, MPROF_NONE};
    }
    return out->count++;
}

/* Return the view node of FUNCTION, which was inlined into OUTER's. */
static uint32_t inlined_vnode(struct making *c, uint32_t outer,
                              uint32_t function) {
    uint32_t vnode = c->inlined[outer].first;

    while (vnode != MPROF_NONE && c->out.list[vnode].function != function)
        vnode = c->inlined[vnode].next;
    if (vnode != MPROF_NONE)
        return vnode;
    vnode = add_vnode(c, outer, function);
    c->out.list[vnode].is_inlined = true;
    c->inlined[vnode].next = c->inlined[outer].first;
    c->inlined[outer].first = vnode;
    return vnode;
}

/* Return the view node of the function that VNODE's was inlined into. */
static uint32_t real_vnode(const struct making *c, uint32_t vnode) {
    while (vnode != MPROF_NONE && c->out.list[vnode].is_inlined)
        vnode = c->out.list[vnode].parent;
    return vnode;
}

static uint32_t top_level(struct making *c, uint32_t thread) {
    if (c->top[thread] == MPROF_NONE)
        c->top[thread] = add_vnode(c, MPROF_NONE, MPROF_TOP_LEVEL);
    return c->top[thread];
}

static bool is_shown(const struct making *c, uint32_t function) {
    return report__is_shown(&c->names->list[function], c->heap, c->all_frames);
}

/* The view node of the inlined FRAME or MPROF_NONE in VNODE's function. */
static uint32_t vnode_within(struct making *c, uint32_t vnode, uint32_t frame) {
    if (frame == MPROF_NONE)
        return vnode;
    const struct report__inlined_frame *f = &c->inlining->frames[frame];
    vnode = vnode_within(c, vnode, f->outer);
    return is_shown(c, f->function) ? inlined_vnode(c, vnode, f->function)
                                    : vnode;
}

/* The view node that called NODE, or MPROF_NONE: nothing that is shown. */
static uint32_t vnode_above(struct making *c, uint32_t node) {
    uint32_t parent = c->profile->nodes[node].parent;

    if (parent == MPROF_NONE)
        return MPROF_NONE;
    if (!c->inlining || !c->out.is_shown[parent])
        return c->out.of_node[parent];
    return vnode_within(
        c, c->out.of_node[parent],
        report__frame_at(c->inlining, c->profile->nodes[parent].site));
}

/* The view node of node I below ABOVE.  Forms that run below a shown
 * function are the function's. */
static uint32_t vnode_for(struct making *c, uint32_t i, uint32_t above) {
    const struct report__node *node = &c->profile->nodes[i];
    uint32_t whole = real_vnode(c, above), shown;

    if (node->function == MPROF_NONE)
        return above;
    shown = c->names->shown[node->function];
    c->out.is_shown[i] = true;
    if (whole != MPROF_NONE && c->names->fragment[node->function] &&
        c->out.list[whole].function == shown)
        return whole;
    if (is_shown(c, shown))
        return add_vnode(c, above, shown);
    c->out.is_shown[i] = false;
    if (above == MPROF_NONE && shown == MPROF_TOP_LEVEL)
        return top_level(c, node->thread);
    return above;
}

/* COUNTER is of a short chain that has its allocations elsewhere. */
static void count_elsewhere(struct making *c,
                            const struct report__counter *counter) {
    const struct report__lived *lived = report__lived(counter);
    uint32_t vnode = c->out.of_node[counter->node];
    uint32_t function =
        vnode == MPROF_NONE ? MPROF_TOP_LEVEL : c->out.list[vnode].function;

    report__add_count(
        &c->out.freed_elsewhere[function].by_class[counter->class_],
        &lived->freed);
    c->out.peak_elsewhere[function] += lived->at_peak.bytes;
}

/* Give counter number I its view node.  Allocations of an inlined function are
 * not the whole function's; without a node they count for the top level, but
 * the functions below it are not called by that. */
static void count(struct making *c, uint32_t i) {
    const struct report__counter *counter = &c->profile->counters[i];
    uint32_t node = counter->node, *vnode = &c->out.of_node[node];

    if (counter->allocated.allocs == 0 && counter->allocated.bytes == 0) {
        count_elsewhere(c, counter);
        return;
    }
    if (*vnode == MPROF_NONE)
        *vnode = top_level(c, c->profile->nodes[node].thread);
    uint32_t at = *vnode;
    if (c->inlining && c->out.is_shown[node])
        at = vnode_within(c, at, report__frame_at(c->inlining, counter->site));
    struct report__view_node *to = &c->out.list[at];
    c->out.next_counter[i] = to->counter;
    to->counter = i;
    to->is_used = true;
}

static bool is_wanted(const struct making *c, const struct report__node *node) {
    return c->profile->threads[node->thread].heap == c->heap &&
           (c->thread == MPROF_NONE || c->thread == node->thread);
}

/* Nodes become view nodes, or are counted at the one above. */
static void fill(struct making *c) {
    const struct report__profile *p = c->profile;

    c->capacity = (size_t)p->node_count + p->thread_count;
    c->out.list = report__alloc(c->pool, c->capacity, sizeof *c->out.list);
    c->out.next_counter =
        report__alloc(c->pool, p->counter_count, sizeof *c->out.next_counter);
    c->out.freed_elsewhere =
        report__alloc(c->pool, c->names->count, sizeof *c->out.freed_elsewhere);
    c->out.peak_elsewhere =
        report__alloc(c->pool, c->names->count, sizeof *c->out.peak_elsewhere);
    c->out.of_node = report__alloc(c->pool, p->node_count, sizeof(uint32_t));
    c->out.is_shown =
        report__alloc(c->pool, p->node_count, sizeof *c->out.is_shown);
    c->top = report__alloc(c->pool, p->thread_count, sizeof *c->top);
    memset(c->top, 0xff, p->thread_count * sizeof *c->top);
    for (uint32_t i = 0; i < p->node_count; i++)
        c->out.of_node[i] = is_wanted(c, &p->nodes[i])
                                ? vnode_for(c, i, vnode_above(c, i))
                                : MPROF_NONE;
    for (uint32_t i = 0; i < p->counter_count; i++)
        if (is_wanted(c, &p->nodes[p->counters[i].node]))
            count(c, i);
}

/* Link the used nodes.  Parents come first, so one pass backwards finds the
 * used subtrees; those without allocations (other threads may be about to
 * count) are left out. */
static void link_used(struct making *c) {
    for (uint32_t i = c->out.count; i-- > 0;) {
        struct report__view_node *vnode = &c->out.list[i];
        if (!vnode->is_used || vnode->parent == MPROF_NONE)
            continue;
        struct report__view_node *parent = &c->out.list[vnode->parent];
        parent->is_used = true;
        vnode->sibling = parent->child;
        parent->child = i;
    }
}

struct report__view report__make_view(struct report__pool *pool,
                                      const struct report__profile *profile,
                                      const struct report__functions *names,
                                      enum mprof_heap heap, uint32_t thread,
                                      bool all_frames,
                                      const struct report__inlining *inlining) {
    struct making c = {.pool = pool,
                       .profile = profile,
                       .names = names,
                       .heap = heap,
                       .thread = thread,
                       .all_frames = all_frames,
                       .inlining = inlining};
    fill(&c);
    link_used(&c);
    return c.out;
}
