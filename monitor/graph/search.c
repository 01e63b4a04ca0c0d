/* search.c - the edges turned around, and searches from one node. */
#include "monitor/base/table.h"
#include "monitor/graph/graph.h"

void mprof__graph_turn(const struct mprof__graph *g, const uint32_t *number,
                       uint32_t *before, uint32_t *from) {
    for (size_t e = 0; e < g->edges; e++)
        before[number[g->to[e]] + 1]++;
    for (uint32_t i = 1; i <= g->count; i++)
        before[i + 1] += before[i];
    /* before[number + 1] moves on to where the next one's begin. */
    for (uint32_t node = 0; node < g->count; node++)
        for (uint32_t e = g->first[node]; e < g->first[node + 1]; e++)
            from[before[number[g->to[e]]]++] = number[node] - 1;
}

/* Follow edges that are stored like the edges of a graph. */
static void search(uint32_t count, const uint32_t *first, const uint32_t *to,
                   uint32_t node, bool (*visit)(uint32_t node, void *data),
                   void *data) {
    size_t bytes = (size_t)count * sizeof(uint32_t);
    uint32_t *queue = mprof__map(bytes), head = 0, tail = 0;
    bool *seen = mprof__map(count);
    if (queue != NULL && seen != NULL)
        seen[queue[tail++] = node] = true;
    while (head < tail && visit(node = queue[head++], data))
        for (uint32_t e = first[node]; e < first[node + 1]; e++)
            if (to[e] != 0 && !seen[to[e]])
                seen[queue[tail++] = to[e]] = true;
    mprof__unmap(queue, bytes);
    mprof__unmap(seen, count);
}

void mprof__graph_search(const struct mprof__graph *g, uint32_t node,
                         bool (*visit)(uint32_t node, void *data), void *data) {
    search(g->count, g->first, g->to, node, visit, data);
}

void mprof__graph_search_back(const struct mprof__graph *g, uint32_t node,
                              bool (*visit)(uint32_t node, void *data),
                              void *data) {
    size_t n = (size_t)g->count + 2;
    size_t bytes = (2 * n + g->edges) * sizeof(uint32_t);
    uint32_t *before = mprof__map(bytes);
    if (before == NULL)
        return;
    uint32_t *number = before + n, *from = number + n;
    for (uint32_t i = 0; i < g->count; i++)
        number[i] = i + 1;
    mprof__graph_turn(g, number, before, from);
    search(g->count, before, from, node, visit, data);
    mprof__unmap(before, bytes);
}
