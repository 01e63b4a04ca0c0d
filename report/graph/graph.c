/* graph.c - the allocation call graph.
 *
 * Five steps, each linear in the trees:
 *  1. the view: hidden functions are taken out of the trees;
 *  2. the arcs: the pairs of a function and its parent that occur;
 *  3. the cycles: strongly connected components of the arcs;
 *  4. one walk over each tree.  An allocation is in the subtree of every frame
 *     of its chain.  So the sum over the subtree of a frame is added to its
 *     function, when it is left, if that is not on the path above as well, and
 *     nothing is counted twice; the same for arcs;
 *  5. the monitor's own sums, made in this way when its tree was full.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* qsort_r */
#endif
#include "report/base/dictionary.h"
#include "report/base/search.h"
#include "report/base/scc.h"
#include "report/graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* Allocations, and their bytes that were not freed. */
struct sum {
    struct report__counts counts;
    uint64_t alive;
};

struct builder {
    struct report__pool *pool;
    const struct report__profile *profile;
    const struct report__view *all;
    struct report__view_node *view;
    uint32_t view_count;
    struct report__graph *graph;
    /* How often each is on the path of the walk. */
    uint32_t *on_path, *arc_on_path;
    /* The totals of the heap and view, with indices of names->list. */
    struct report__total *totals;
    uint32_t total_count;
    /* By depth: allocations in that frame's subtree so far. */
    struct sum *sums;
    size_t sum_room;
};

static void add_class(struct report__counts *sum,
                      const struct report__total *total) {
    report__add_count(&sum->by_class[total->class_], &total->count);
}

/* Find functions with totals of several records in a thread. */
static void find_doubtful(struct builder *b) {
    struct report__pairs seen = {.count = 0}; /* thread, function */
    uint32_t *first = report__alloc(b->pool, b->total_count, sizeof *first);
    uint32_t *number = report__alloc(b->pool, b->total_count, sizeof *number);

    for (uint32_t i = 0; i < b->total_count; i++) {
        const struct report__total *t = &b->totals[i];
        uint32_t known = seen.count;
        if (t->kind != MPROF_BELOW)
            continue;
        uint32_t n = number[i] = report__pair_number(
            b->pool, &seen, t->thread,
            report__shown_of(b->graph->functions, t->function));
        if (n == known || t->function < first[n])
            first[n] = t->function;
    }
    for (uint32_t i = 0; i < b->total_count; i++)
        if (b->totals[i].kind == MPROF_BELOW &&
            b->totals[i].function != first[number[i]])
            b->graph->doubtful += b->totals[i].count.bytes;
}

/* Find the monitor's sums, of THREAD or of all. */
static void find_totals(struct builder *b, const struct report__profile *p,
                        uint32_t thread, bool all_frames) {
    unsigned view = all_frames ? MPROF_ALL_FRAMES : MPROF_SHOWN_FRAMES;

    b->totals = report__alloc(b->pool, p->total_count, sizeof *b->totals);
    for (uint32_t i = 0; i < p->total_count; i++) {
        const struct report__total *total = &p->totals[i];
        if (total->views & view &&
            p->threads[total->thread].heap == b->graph->heap &&
            (thread == MPROF_ALL_THREADS || thread == total->thread))
            b->totals[b->total_count++] = *total;
    }
    find_doubtful(b);
    for (uint32_t i = 0; i < b->total_count; i++) {
        struct report__total *total = &b->totals[i];
        total->function =
            report__shown_of(b->graph->functions, total->function);
        if (total->caller != MPROF_NONE)
            total->caller =
                report__shown_of(b->graph->functions, total->caller);
        total->depth[0] = total->depth[all_frames];
    }
}

static int compare_pairs(const void *a, const void *b, void *pairs) {
    const struct report__pair *list = pairs;
    const struct report__pair *x = &list[*(const uint32_t *)a],
                              *y = &list[*(const uint32_t *)b];
    return report__up(x->a, y->a) ?: report__up(x->b, y->b);
}

/* The arcs of PAIRS, by caller and then callee; returns by pair the index of
 * its arc. */
static uint32_t *sort_arcs(struct builder *b,
                           const struct report__pairs *pairs) {
    struct report__graph *g = b->graph;
    uint32_t count = pairs->count;
    uint32_t *order = report__alloc(b->pool, count, sizeof *order);
    uint32_t *index = report__alloc(b->pool, count, sizeof *index);

    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    report__sort(order, count, sizeof *order, compare_pairs, pairs->list);
    g->arc_count = count;
    g->arcs = report__alloc(b->pool, count, sizeof *g->arcs);
    for (uint32_t i = 0; i < count; i++) {
        index[order[i]] = i;
        g->arcs[i].caller = pairs->list[order[i]].a;
        g->arcs[i].callee = pairs->list[order[i]].b;
    }
    report__drop(b->pool, order);
    return index;
}

/* Step 2.  Of millions of view nodes there are some thousand arcs. */
static void find_arcs(struct builder *b) {
    struct report__graph *g = b->graph;
    struct report__pairs pairs = {.count = 0};

    for (uint32_t i = 0; i < b->view_count; i++) {
        struct report__view_node *vnode = &b->view[i];
        if (vnode->parent != MPROF_NONE && vnode->is_used)
            vnode->arc = report__pair_number(b->pool, &pairs,
                                             b->view[vnode->parent].function,
                                             vnode->function);
    }
    for (uint32_t i = 0; i < b->total_count; i++) {
        const struct report__total *total = &b->totals[i];
        if (total->caller != MPROF_NONE)
            report__pair_number(b->pool, &pairs, total->caller,
                                total->function);
    }
    uint32_t *index = sort_arcs(b, &pairs);
    for (uint32_t i = 0; i < b->view_count; i++)
        if (b->view[i].arc != MPROF_NONE)
            b->view[i].arc = index[b->view[i].arc];
    for (uint32_t i = 0; i < b->total_count; i++) {
        const struct report__total *total = &b->totals[i];
        if (total->caller == MPROF_NONE)
            continue;
        uint32_t pair = report__pair_number(b->pool, &pairs, total->caller,
                                            total->function);
        add_class(&g->arcs[index[pair]].counts, total);
    }
    report__drop(b->pool, index);
    report__drop(b->pool, pairs.list);
    report__drop(b->pool, pairs.slots);
}

/* The arcs from and to each function. */
static void index_arcs(struct builder *b) {
    struct report__graph *g = b->graph;
    uint32_t *next = report__alloc(b->pool, g->functions->count, sizeof *next);

    g->by_callee = report__alloc(b->pool, g->arc_count, sizeof *g->by_callee);
    for (uint32_t i = 0; i < g->arc_count; i++) {
        g->vertices[g->arcs[i].caller].call_count++;
        g->vertices[g->arcs[i].callee].caller_count++;
    }
    for (uint32_t v = 0, calls = 0, callers = 0; v < g->functions->count; v++) {
        g->vertices[v].first_call = calls;
        g->vertices[v].first_caller = next[v] = callers;
        calls += g->vertices[v].call_count;
        callers += g->vertices[v].caller_count;
    }
    for (uint32_t i = 0; i < g->arc_count; i++)
        g->by_callee[next[g->arcs[i].callee]++] = i;
    report__drop(b->pool, next);
}

/* Step 3.  Components of one function are not cycles. */
static void find_cycles(struct builder *b) {
    struct report__graph *g = b->graph;
    uint32_t n = g->functions->count;
    uint32_t *first = report__alloc(b->pool, (size_t)n + 1, sizeof *first);
    uint32_t *targets = report__alloc(b->pool, g->arc_count, sizeof *targets);
    uint32_t *component = report__alloc(b->pool, n, sizeof *component);

    for (uint32_t v = 0; v < n; v++)
        first[v] = g->vertices[v].first_call;
    first[n] = g->arc_count;
    for (uint32_t i = 0; i < g->arc_count; i++)
        targets[i] = g->arcs[i].callee;
    uint32_t components =
        report__components(b->pool, n, first, targets, component);
    uint32_t *size = report__alloc(b->pool, components, sizeof *size);
    uint32_t *cycle = report__alloc(b->pool, components, sizeof *cycle);
    for (uint32_t v = 0; v < n; v++)
        size[component[v]]++;
    for (uint32_t c = 0; c < components; c++)
        cycle[c] = size[c] > 1 ? g->cycle_count++ : MPROF_NONE;
    g->cycles = report__alloc(b->pool, g->cycle_count, sizeof *g->cycles);
    for (uint32_t v = 0; v < n; v++) {
        uint32_t c = g->vertices[v].cycle = cycle[component[v]];
        if (c == MPROF_NONE)
            continue;
        if (!g->cycles[c].members)
            g->cycles[c].members = report__alloc(b->pool, size[component[v]],
                                                 sizeof *g->cycles[c].members);
        g->cycles[c].members[g->cycles[c].count++] = v;
    }
    for (uint32_t c = 0; c < g->cycle_count; c++)
        g->cycles[c].depth = MPROF_NONE;
}

/* Allocations at one view node itself, their frees, and bytes at the peak. */
struct own {
    struct report__counts allocated, freed;
    uint64_t at_peak;
};

static struct own own_of(const struct builder *b, uint32_t counter) {
    struct own own = {.at_peak = 0};
    for (; counter != MPROF_NONE; counter = b->all->next_counter[counter]) {
        const struct report__counter *c = &b->profile->counters[counter];
        const struct report__lived *lived = report__lived(c);
        report__add_count(&own.allocated.by_class[c->class_], &c->allocated);
        report__add_count(&own.freed.by_class[c->class_], &lived->freed);
        own.at_peak += lived->at_peak.bytes;
    }
    return own;
}

/* A view node of V has OWN itself. */
static void add_own(struct builder *b, struct report__vertex *v,
                    const struct own *own) {
    report__add(&v->self, &own->allocated);
    report__add(&v->freed, &own->freed);
    report__add(&b->graph->freed, &own->freed);
    v->at_peak += own->at_peak;
    b->graph->at_peak += own->at_peak;
}

static void enter(struct builder *b, uint32_t at, uint32_t depth) {
    const struct report__view_node *vnode = &b->view[at];

    b->on_path[vnode->function]++;
    if (vnode->arc != MPROF_NONE)
        b->arc_on_path[vnode->arc]++;
    b->sums =
        report__grow(b->pool, b->sums, depth, &b->sum_room, sizeof *b->sums);
    memset(&b->sums[depth], 0, sizeof *b->sums);
}

/* The subtree of AT, at DEPTH, is complete. */
static void leave(struct builder *b, uint32_t at, uint32_t depth,
                  uint32_t outermost) {
    const struct report__view_node *vnode = &b->view[at];
    struct report__vertex *v = &b->graph->vertices[vnode->function];
    struct sum *whole = &b->sums[depth];
    struct report__counts *sum = &whole->counts;
    uint32_t above = --b->on_path[vnode->function];

    if (above == 0)
        report__add(&v->below, sum);
    if (vnode->counter != MPROF_NONE) {
        struct own own = own_of(b, vnode->counter);
        add_own(b, v, &own);
        report__add(sum, &own.allocated);
        whole->alive +=
            report__bytes(&own.allocated) - report__bytes(&own.freed);
    }
    if (depth > 0) {
        report__add(&whole[-1].counts, sum);
        whole[-1].alive += whole->alive;
    }
    uint64_t allocs = report__allocs(sum);
    if (above == 0)
        report__add(&v->total, sum);
    if (above == 1)
        v->recur += allocs;
    /* The outermost frame of a chain has no caller. */
    if (vnode->arc != MPROF_NONE && above == (vnode->function == outermost))
        v->called += allocs;
    if (vnode->arc != MPROF_NONE && --b->arc_on_path[vnode->arc] == 0) {
        report__add(&b->graph->arcs[vnode->arc].counts, sum);
        b->graph->arcs[vnode->arc].alive += whole->alive;
    }
    if (depth < v->depth)
        v->depth = depth;
}

/* Step 4, for the tree below ROOT. */
static void walk(struct builder *b, uint32_t root) {
    uint32_t at = root, depth = 0;
    uint32_t outermost = b->view[root].function;

    enter(b, at, depth);
    for (;;) {
        if (b->view[at].child != MPROF_NONE) {
            at = b->view[at].child;
            enter(b, at, ++depth);
            continue;
        }
        while (at != root && b->view[at].sibling == MPROF_NONE) {
            leave(b, at, depth--, outermost);
            at = b->view[at].parent;
        }
        leave(b, at, depth, outermost);
        if (at == root)
            break;
        at = b->view[at].sibling;
        enter(b, at, depth);
    }
    report__add(&b->graph->total, &b->sums[0].counts);
    report__add(&b->graph->vertices[outermost].first, &b->sums[0].counts);
}

/* Step 5: add one of the monitor's sums. */
static void add_total(struct builder *b, const struct report__total *total) {
    struct report__vertex *v = &b->graph->vertices[total->function];
    struct mprof_count *below = &v->below.by_class[total->class_];
    const struct mprof_count *count = &total->count;

    switch (total->kind) {
    case MPROF_SELF:
        add_class(&v->self, total);
        add_class(&b->graph->total, total);
        below->allocs -= count->allocs;
        below->bytes -= count->bytes;
        break;
    case MPROF_TWICE:
        add_class(&v->below, total);
        break;
    case MPROF_BELOW:
        add_class(&v->total, total);
        add_class(&v->below, total);
        if (total->depth[0] < v->depth)
            v->depth = total->depth[0];
        break;
    case MPROF_CALLS:
        v->called += count->allocs;
        v->recur += count->bytes;
        break;
    case MPROF_ARC:
        if (total->caller == MPROF_NONE)
            add_class(&v->first, total);
        break;
    case MPROF_SHORT:
        break;
    }
}

static void add_elsewhere(struct builder *b) {
    struct report__graph *g = b->graph;

    for (uint32_t i = 0; i < b->total_count; i++)
        add_total(b, &b->totals[i]);
    for (uint32_t v = 0; v < g->functions->count; v++) {
        report__add(&g->vertices[v].freed, &b->all->freed_elsewhere[v]);
        report__add(&g->freed, &b->all->freed_elsewhere[v]);
        g->vertices[v].at_peak += b->all->peak_elsewhere[v];
        g->at_peak += b->all->peak_elsewhere[v];
    }
}

static const char *name_of(const struct report__graph *g, uint32_t v) {
    return g->functions->list[v].name;
}

static int compare_members(const void *a, const void *b, void *graph) {
    const struct report__graph *g = graph;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct report__vertex *v = &g->vertices[x], *w = &g->vertices[y];
    return report__down(report__bytes(&v->self), report__bytes(&w->self))
           ?: report__down(report__bytes(&v->total), report__bytes(&w->total))
           ?: strcmp(name_of(g, x), name_of(g, y)) ?: report__up(x, y);
}

static int compare_cycles(const void *a, const void *b, void *graph) {
    const struct report__cycle *x = a, *y = b;
    return report__down(report__bytes(&x->total), report__bytes(&y->total))
               ?: strcmp(name_of(graph, x->members[0]),
                         name_of(graph, y->members[0]));
}

/* The numbers of the cycles do not depend on the order of the file. */
static void sort_cycles(struct report__graph *g) {
    for (uint32_t c = 0; c < g->cycle_count; c++)
        qsort_r(g->cycles[c].members, g->cycles[c].count, sizeof(uint32_t),
                compare_members, g);
    qsort_r(g->cycles, g->cycle_count, sizeof *g->cycles, compare_cycles, g);
    for (uint32_t c = 0; c < g->cycle_count; c++)
        for (uint32_t i = 0; i < g->cycles[c].count; i++)
            g->vertices[g->cycles[c].members[i]].cycle = c;
}

static void add_difference(struct report__counts *sum,
                           const struct report__counts *a,
                           const struct report__counts *b) {
    for (int i = 0; i < MPROF_CLASSES; i++) {
        sum->by_class[i].allocs +=
            a->by_class[i].allocs - b->by_class[i].allocs;
        sum->by_class[i].bytes += a->by_class[i].bytes - b->by_class[i].bytes;
    }
}

/* A chain is in a cycle in one stretch at most: had it left and come back, what
 * lies between would be of the cycle.  So the arcs into it count once. */
static void sum_up_cycle(struct report__graph *g, struct report__cycle *cycle,
                         uint32_t index) {
    for (uint32_t m = 0; m < cycle->count; m++) {
        const struct report__vertex *v = &g->vertices[cycle->members[m]];
        report__add(&cycle->self, &v->self);
        report__add(&cycle->total, &v->first);
        if (v->depth < cycle->depth)
            cycle->depth = v->depth;
        for (uint32_t i = 0; i < v->caller_count; i++) {
            const struct report__arc *arc =
                &g->arcs[g->by_callee[v->first_caller + i]];
            if (g->vertices[arc->caller].cycle == index)
                continue;
            report__add(&cycle->total, &arc->counts);
            cycle->called += report__allocs(&arc->counts);
        }
    }
    add_difference(&cycle->below, &cycle->total, &cycle->self);
}

static void sum_up_cycles(struct report__graph *g) {
    for (uint32_t c = 0; c < g->cycle_count; c++)
        sum_up_cycle(g, &g->cycles[c], c);
}

struct report__graph *report__graph_build(struct report__pool *pool,
                                          const struct report__profile *profile,
                                          const struct report__functions *names,
                                          enum mprof_heap heap, uint32_t thread,
                                          bool all_frames) {
    struct report__view view = report__make_view(
        pool, profile, names, heap, thread, all_frames, names->inlining);
    struct report__graph *g = report__alloc(pool, 1, sizeof *g);
    struct builder b = {.pool = pool,
                        .profile = profile,
                        .all = &view,
                        .view = view.list,
                        .view_count = view.count,
                        .graph = g};

    g->heap = heap;
    g->alive = heap == MPROF_LISP_HEAP && profile->alive;
    g->sampling = report__sampling(profile, heap);
    g->functions = names;
    g->vertices = report__alloc(pool, names->count, sizeof *g->vertices);
    for (uint32_t v = 0; v < names->count; v++)
        g->vertices[v].depth = MPROF_NONE;
    find_totals(&b, profile, thread, all_frames);
    g->knows_alive = g->alive && b.total_count == 0;
    find_arcs(&b);
    index_arcs(&b);
    find_cycles(&b);
    b.on_path = report__alloc(pool, names->count, sizeof(uint32_t));
    b.arc_on_path = report__alloc(pool, g->arc_count, sizeof(uint32_t));
    for (uint32_t i = 0; i < view.count; i++)
        if (view.list[i].parent == MPROF_NONE && view.list[i].is_used)
            walk(&b, i);
    add_elsewhere(&b);
    sum_up_cycles(g);
    sort_cycles(g);
    return g;
}
