/* breaker.c - which function holds a cycle together. */
#include "report/base/search.h"
#include "report/graph/graph.h"

#include <stdlib.h>

#include "report/base/scc.h"

/* Members that are tried: each takes a look at all calls of the cycle. */
enum { MOST_TRIED = 64 };

struct member {
    uint32_t number; /* among the members */
    uint64_t ways;   /* calls in times calls out, within the cycle */
};

struct cycle {
    struct report__pool *pool;
    uint32_t count;
    uint32_t *first, *targets; /* calls within, by member */
};

static int compare_ways(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    return report__down(x->ways, y->ways) ?: report__up(x->number, y->number);
}

/* The members that are still in the largest cycle when WITHOUT is not there. */
static uint32_t largest_without(const struct cycle *c, uint32_t without) {
    struct report__pool mark = *c->pool;
    uint32_t *first = report__alloc(c->pool, c->count + 1, sizeof *first);
    uint32_t *targets =
        report__alloc(c->pool, c->first[c->count], sizeof *targets);
    uint32_t *component = report__alloc(c->pool, c->count, sizeof *component);
    uint32_t *size = report__alloc(c->pool, c->count, sizeof *size);
    uint32_t n = 0, largest = 0;

    for (uint32_t m = 0; m < c->count; m++) {
        first[m] = n;
        for (uint32_t i = c->first[m]; i < c->first[m + 1]; i++)
            if (m != without && c->targets[i] != without)
                targets[n++] = c->targets[i];
    }
    first[c->count] = n;
    report__components(c->pool, c->count, first, targets, component);
    for (uint32_t m = 0; m < c->count; m++)
        if (++size[component[m]] > largest)
            largest = size[component[m]];
    report__pool_release(c->pool, &mark);
    return largest;
}

/* Find the calls within, by member, without calls of a function by itself. */
static void find_calls(struct cycle *c, const struct report__graph *g,
                       uint32_t id, struct member *members) {
    const struct report__cycle *cycle = &g->cycles[id];
    uint32_t *number =
        report__alloc(c->pool, g->functions->count, sizeof *number);
    uint32_t *in = report__alloc(c->pool, c->count, sizeof *in), n = 0;

    for (uint32_t m = 0; m < c->count; m++)
        number[cycle->members[m]] = m;
    for (uint32_t m = 0; m < c->count; m++) {
        const struct report__vertex *v = &g->vertices[cycle->members[m]];
        c->first[m] = n;
        for (uint32_t i = 0; i < v->call_count; i++) {
            uint32_t callee = g->arcs[v->first_call + i].callee;
            if (callee == cycle->members[m] || g->vertices[callee].cycle != id)
                continue;
            in[number[callee]]++;
            c->targets[n++] = number[callee];
        }
    }
    c->first[c->count] = n;
    for (uint32_t m = 0; m < c->count; m++)
        members[m] = (struct member){m, (uint64_t)in[m] *
                                            (c->first[m + 1] - c->first[m])};
    qsort(members, c->count, sizeof *members, compare_ways);
}

uint32_t report__cycle_breaker(struct report__pool *pool,
                               const struct report__graph *graph, uint32_t id,
                               uint32_t *largest) {
    struct cycle c = {.pool = pool, .count = graph->cycles[id].count};
    struct member *members = report__alloc(pool, c.count, sizeof *members);
    uint32_t best = 0;

    c.first = report__alloc(pool, c.count + 1, sizeof *c.first);
    c.targets = report__alloc(pool, graph->arc_count, sizeof *c.targets);
    find_calls(&c, graph, id, members);
    *largest = c.count;
    for (uint32_t i = 0; i < c.count && i < MOST_TRIED; i++) {
        uint32_t left = largest_without(&c, members[i].number);
        if (left < *largest) {
            *largest = left;
            best = members[i].number;
        }
    }
    return graph->cycles[id].members[best];
}
