/* graph.h - the call graph of a data file in memory. */
#ifndef TESTS_SUPPORT_GRAPH_H
#define TESTS_SUPPORT_GRAPH_H

#include "tests/support/parsed.h"

#include "report/graph/graph.h"

static inline void build_heap(struct fixture *f, enum mprof_heap heap,
                              uint32_t thread, bool all_frames) {
    f->profile = parse(f);
    if (!f->profile)
        fail_msg("%s", f->error);
    if (f->runtime)
        f->profile->runtime = f->runtime;
    f->names = report__name_functions(&f->pool, f->profile, NULL);
    f->graph = report__graph_build(&f->pool, f->profile, f->names, heap, thread,
                                   all_frames);
}

static inline void build(struct fixture *f, uint32_t thread, bool all_frames) {
    build_heap(f, MPROF_LISP_HEAP, thread, all_frames);
}

static inline uint32_t find(const struct fixture *f, const char *name) {
    for (uint32_t i = 0; i < f->names->count; i++)
        if (strcmp(f->names->list[i].name, name) == 0)
            return i;
    fail_msg("no function %s", name);
    return 0;
}

static inline const struct report__vertex *vertex(const struct fixture *f,
                                                  const char *name) {
    return &f->graph->vertices[find(f, name)];
}

static inline uint64_t arc_bytes(const struct fixture *f, const char *caller,
                                 const char *callee) {
    uint32_t from = find(f, caller), to = find(f, callee);
    for (uint32_t i = 0; i < f->graph->arc_count; i++)
        if (f->graph->arcs[i].caller == from && f->graph->arcs[i].callee == to)
            return report__bytes(&f->graph->arcs[i].counts);
    return 0;
}

/* A chain below the root of a new thread; returns the innermost node. */
static inline mprof_ref chain(struct datafile *d, const mprof_ref *functions,
                              size_t count) {
    mprof_ref thread = datafile_thread(d, 1, "main");
    mprof_ref node = datafile_node(d, thread, 0, 0);
    for (size_t i = 0; i < count; i++)
        node = datafile_node(d, thread, node, functions[i]);
    return node;
}

#endif
