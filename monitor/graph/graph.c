/* graph.c - see graph.h. */
#include "monitor/graph/graph.h"

#include <string.h>

#include "monitor/base/table.h"

bool mprof__graph_begin(struct mprof__graph *g, uint32_t certain,
                        uint32_t roots, uint32_t objects) {
    memset(g, 0, sizeof *g);
    if ((uint64_t)roots + objects > UINT32_MAX - 3)
        return false;
    g->certain = certain;
    g->roots = roots;
    g->count = roots + objects + 2;
    g->first = mprof__map(((size_t)g->count + 1) * sizeof *g->first);
    g->bytes = mprof__map((size_t)g->count * sizeof *g->bytes);
    if (g->first == NULL || g->bytes == NULL) {
        mprof__graph_end(g);
        return false;
    }
    for (uint32_t i = 1; i <= roots; i++)
        mprof__graph_add(g, i);
    mprof__graph_add(g, mprof__graph_unknown(g));
    mprof__graph_next(g);
    return true;
}

void mprof__graph_end(struct mprof__graph *g) {
    mprof__unmap(g->first, ((size_t)g->count + 1) * sizeof *g->first);
    mprof__unmap(g->bytes, (size_t)g->count * sizeof *g->bytes);
    mprof__unmap(g->to, g->room * sizeof *g->to);
    mprof__unmap(g->dominator, (size_t)g->count * sizeof *g->dominator);
    mprof__unmap(g->via, (size_t)g->count * sizeof *g->via);
    mprof__unmap(g->order, (size_t)g->count * sizeof *g->order);
    memset(g, 0, sizeof *g);
}

bool mprof__graph_make_room(struct mprof__graph *g) {
    void *larger = g->failed || g->room > UINT32_MAX / 2
                       ? NULL
                       : mprof__grow(g->to, &g->room, sizeof *g->to);
    g->failed |= larger == NULL;
    if (larger != NULL)
        g->to = larger;
    return larger != NULL;
}
