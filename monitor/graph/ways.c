/* ways.c - shortest ways to all nodes, breadth first. */
#include "monitor/base/table.h"
#include "monitor/graph/graph.h"

/* In via: not reached.  No edge leads from there. */
#define NOWHERE UINT32_MAX

struct search {
    struct mprof__graph *graph;
    uint32_t head, tail; /* the ends of the queue, which is graph->order */
};

static void reach(struct search *s, uint32_t node, uint32_t from) {
    if (s->graph->via[node] != NOWHERE)
        return;
    s->graph->via[node] = from;
    s->graph->order[s->tail++] = node;
}

static void follow(struct search *s) {
    const struct mprof__graph *g = s->graph;
    while (s->head < s->tail) {
        uint32_t node = g->order[s->head++];
        for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++)
            if (g->to[e] != 0)
                reach(s, g->to[e], node);
    }
}

/* From the roots FIRST to LAST. */
static void follow_roots(struct search *s, uint32_t first, uint32_t last) {
    for (uint32_t i = first; i <= last; i++)
        reach(s, i, 0);
    follow(s);
}

/* Drop edges to nodes that certain roots lead to, from all other nodes. */
static void leave_out_edges(struct mprof__graph *g) {
    for (uint32_t i = 1; i < mprof__graph_unknown(g); i++)
        for (uint32_t e = g->first[i];
             g->via[i] == NOWHERE && e < g->first[i + 1]; e++)
            if (g->via[g->to[e]] != NOWHERE)
                g->to[e] = 0;
}

/* Objects without a root are reached from each of them that no other points to,
 * then, for circles, from the first ones. */
static void follow_unknown(struct search *s) {
    struct mprof__graph *g = s->graph;
    uint32_t unknown = mprof__graph_unknown(g), *pointed = g->dominator;
    uint32_t begin = mprof__graph_first_object(g);
    reach(s, unknown, 0);
    s->head = s->tail;
    for (uint32_t i = begin; i < unknown; i++)
        for (uint32_t e = g->first[i];
             g->via[i] == NOWHERE && e < g->first[i + 1]; e++)
            if (g->to[e] != i)
                pointed[g->to[e]] = 1;
    for (int circles = 0; circles < 2; circles++) {
        for (uint32_t i = begin; i < unknown; i++) {
            if (g->via[i] != NOWHERE || (!circles && pointed[i] != 0))
                continue;
            mprof__graph_add(g, i);
            reach(s, i, unknown);
            if (circles)
                follow(s);
        }
        follow(s);
    }
    mprof__graph_next(g);
}

bool mprof__graph_find_ways(struct mprof__graph *g) {
    struct search s = {.graph = g};
    for (uint32_t i = 0; i < g->count; i++)
        g->via[i] = NOWHERE;
    reach(&s, 0, 0);
    s.head = s.tail;
    follow_roots(&s, 1, g->certain);
    leave_out_edges(g);
    follow_roots(&s, g->certain + 1, g->roots);
    follow_unknown(&s);
    return !g->failed;
}
