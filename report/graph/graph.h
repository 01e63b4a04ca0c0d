/* graph.h - the allocation call graph, computed from the trees.
 *
 * Everything in it is exact: an allocation counts once for a function, an arc
 * or a cycle, however often its chain passes there.
 */
#ifndef REPORT_GRAPH_GRAPH_H
#define REPORT_GRAPH_GRAPH_H

#include "report/graph/functions.h"

#define MPROF_ALL_THREADS MPROF_NONE

/* A function in the graph; the arrays are indexed like functions->list. */
struct report__vertex {
    struct report__counts self;  /* allocated by the function itself */
    struct report__counts freed; /* ... and freed since; C only */
    uint64_t at_peak;            /* ... bytes that lived at the peak; C only */
    struct report__counts total; /* ... and by all that it called */
    struct report__counts below; /* made through its calls of any function */
    struct report__counts first; /* ... with nothing further out */
    uint64_t called;             /* allocations made through calls of it */
    uint64_t recur;              /* ... with the function twice on the chain */
    uint32_t cycle;              /* index of its cycle or MPROF_NONE */
    uint32_t depth; /* least number of callers; MPROF_NONE: unused */
    uint32_t first_call, call_count;     /* arcs to the functions it calls */
    uint32_t first_caller, caller_count; /* in by_callee: its callers */
};

/* Calls of one function by another. */
struct report__arc {
    uint32_t caller, callee;
    struct report__counts counts;
    uint64_t alive; /* bytes of these, where the graph knows_alive */
};

/* Functions that call one another, directly or not: at least two. */
struct report__cycle {
    uint32_t *members; /* by decreasing self bytes, total, then name */
    uint32_t count;
    struct report__counts self, total, below;
    uint64_t called; /* allocations made through calls from outside */
    uint32_t depth;
};

struct report__graph {
    enum mprof_heap heap;
    const struct report__functions *functions;
    struct report__vertex *vertices; /* functions->count */
    struct report__arc *arcs;        /* by caller */
    uint32_t *by_callee;             /* indices of arcs, by callee */
    struct report__cycle *cycles;    /* by decreasing total, then name */
    uint32_t arc_count, cycle_count;
    struct report__counts total, freed;
    bool alive; /* Lisp: unfreed objects are live, the others were found dead */
    bool knows_alive; /* ... also of arcs: no chains were summed up */
    uint64_t at_peak;
    uint32_t sampling; /* as of the profile */
    /* At most so many bytes are counted twice in totals: of functions that the
     * monitor did not know to be one when it summed up their chains. */
    uint64_t doubtful;
};

/* The call graph of what THREAD, or MPROF_ALL_THREADS, did in HEAP.  Unless
 * ALL_FRAMES, what plumbing allocated is counted for the nearest caller that is
 * none.  With NAMES->inlining, functions that were inlined are called by those
 * that have them inside. */
struct report__graph *report__graph_build(struct report__pool *pool,
                                          const struct report__profile *profile,
                                          const struct report__functions *names,
                                          enum mprof_heap heap, uint32_t thread,
                                          bool all_frames);

/* The member of the cycle ID without which the largest cycle among the others
 * would be the smallest: that has *LARGEST members, 1 when there is none.  Of
 * very many members only those with many calls are tried. */
uint32_t report__cycle_breaker(struct report__pool *pool,
                               const struct report__graph *graph, uint32_t id,
                               uint32_t *largest);

struct report__view_node {
    uint32_t parent; /* MPROF_NONE for the outermost shown frame */
    uint32_t function;
    uint32_t arc;            /* from the parent, or MPROF_NONE */
    uint32_t child, sibling; /* only those where something was allocated */
    uint32_t counter;        /* one of its own, or MPROF_NONE: nothing here */
    bool is_inlined;
    bool is_used; /* something was allocated here or further in */
};

struct report__view {
    struct report__view_node *list; /* parents first */
    uint32_t count;
    /* By counter: another one of the same view node, or MPROF_NONE. */
    uint32_t *next_counter;
    /* By function: frees of objects that its short chains have elsewhere, and
     * their bytes at the peak; C only. */
    struct report__counts *freed_elsewhere;
    uint64_t *peak_elsewhere;
    /* By node: the view node where it is counted.  MPROF_NONE for the nodes of
     * other threads and the other heap, and where nothing is shown and nothing
     * was allocated. */
    uint32_t *of_node;
    /* By node: that one is of its own function. */
    bool *is_shown;
};

/* The view of HEAP and of THREAD, or of MPROF_NONE for all threads.  ALL_FRAMES
 * shows plumbing too.  With INLINING, which may be NULL, functions that were
 * inlined have view nodes below the one that has them inside, with their
 * allocations and, as far as these are known, their calls.
 */
struct report__view report__make_view(struct report__pool *pool,
                                      const struct report__profile *profile,
                                      const struct report__functions *names,
                                      enum mprof_heap heap, uint32_t thread,
                                      bool all_frames,
                                      const struct report__inlining *inlining);

#endif
