/* dominators.c - the immediate dominator of each node, and what it keeps.
 *
 * Semi-NCA: Georgiadis, Tarjan and Werneck, Finding Dominators in Practice,
 * Journal of Graph Algorithms and Applications 10, 2006.  Nodes are numbered in
 * the order in which a search in depth comes to them.  A semidominator is the
 * lowest number from which a way leads to a node by higher ones only; the
 * dominator is the nearest common ancestor, in the tree of the search, of that
 * and the node's parent.
 */
#include <string.h>

#include "monitor/base/table.h"
#include "monitor/graph/graph.h"

/* Arrays by the number of a node; `number` is by node. */
struct search {
    struct mprof__graph *graph;
    uint32_t *number;   /* + 1; 0: not seen */
    uint32_t *ancestor; /* in the tree, the paths to it compressed */
    uint32_t *label;    /* the least semidominator on the way there */
    uint32_t *semi;
    uint32_t *before; /* where in `from` the nodes before it begin */
    uint32_t *from;   /* their numbers */
    uint32_t *stack;
    size_t bytes;
};

enum { ARRAYS = 6 };

static bool get_memory(struct search *s) {
    size_t n = (size_t)s->graph->count + 2;
    s->bytes = (n * ARRAYS + s->graph->edges) * sizeof(uint32_t);
    s->number = mprof__map(s->bytes);
    if (s->number == NULL)
        return false;
    s->ancestor = s->number + n;
    s->label = s->ancestor + n;
    s->semi = s->label + n;
    s->before = s->semi + n;
    s->stack = s->before + n;
    s->from = s->stack + n;
    return true;
}

/* Number the nodes.  While it lasts, `label` is the next edge of a node. */
static void search_in_depth(struct search *s) {
    struct mprof__graph *g = s->graph;
    uint32_t seen = 0, depth = 0;
    s->stack[depth++] = 0;
    g->order[seen] = 0;
    s->number[0] = ++seen;
    s->label[0] = g->first[0];
    while (depth > 0) {
        uint32_t node = s->stack[depth - 1];
        if (s->label[node] == g->first[node + 1]) {
            depth--;
            continue;
        }
        uint32_t to = g->to[s->label[node]++];
        if (s->number[to] != 0)
            continue;
        g->order[seen] = to;
        g->dominator[seen] = s->number[node] - 1; /* its parent */
        s->number[to] = ++seen;
        s->label[to] = g->first[to];
        s->stack[depth++] = to;
    }
}

/* The least semidominator on the way from NUMBER up to, without, a node that is
 * not higher than LIMIT. */
static uint32_t least(struct search *s, uint32_t number, uint32_t limit) {
    uint32_t depth = 0, at = number;
    while (s->ancestor[at] > limit) {
        s->stack[depth++] = at;
        at = s->ancestor[at];
    }
    uint32_t top = s->ancestor[at], low = s->label[at];
    while (depth > 0) {
        at = s->stack[--depth];
        if (s->label[at] < low)
            low = s->label[at];
        s->label[at] = low;
        s->ancestor[at] = top;
    }
    return low;
}

static void find_semidominators(struct search *s) {
    struct mprof__graph *g = s->graph;
    for (uint32_t i = g->count - 1; i > 0; i--) {
        uint32_t low = g->dominator[i];
        s->ancestor[i] = g->dominator[i];
        for (uint32_t e = s->before[i]; e < s->before[i + 1]; e++) {
            uint32_t from = s->from[e];
            if (from > i)
                from = least(s, from, i);
            if (from < low)
                low = from;
        }
        s->semi[i] = s->label[i] = low;
    }
}

/* From numbers to nodes; `stack` has the dominators meanwhile. */
static void name_dominators(struct search *s) {
    struct mprof__graph *g = s->graph;
    for (uint32_t i = 1; i < g->count; i++) {
        uint32_t dominator = g->dominator[i];
        while (dominator > s->semi[i])
            dominator = g->dominator[dominator];
        g->dominator[i] = dominator;
    }
    memcpy(s->stack, g->dominator, (size_t)g->count * sizeof *s->stack);
    for (uint32_t i = 1; i < g->count; i++)
        g->dominator[g->order[i]] = g->order[s->stack[i]];
    g->dominator[0] = 0;
}

bool mprof__graph_find_dominators(struct mprof__graph *g) {
    struct search s = {.graph = g};
    if (!get_memory(&s))
        return false;
    search_in_depth(&s);
    mprof__graph_turn(g, s.number, s.before, s.from);
    find_semidominators(&s);
    name_dominators(&s);
    for (uint32_t i = g->count - 1; i > 0; i--)
        g->bytes[g->dominator[g->order[i]]] += g->bytes[g->order[i]];
    mprof__unmap(s.number, s.bytes);
    return true;
}

bool mprof__graph_analyse(struct mprof__graph *g, bool dominators) {
    size_t bytes = (size_t)g->count * sizeof *g->dominator;
    g->dominator = mprof__map(bytes);
    g->via = mprof__map(bytes);
    g->order = mprof__map(bytes);
    return !g->failed && g->dominator != NULL && g->via != NULL &&
           g->order != NULL && mprof__graph_find_ways(g) &&
           (!dominators || mprof__graph_find_dominators(g));
}
