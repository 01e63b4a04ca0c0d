/* places.h - the trees as the tables show them.
 *
 * A place is a function in the context of its parent place.  It is a node
 * whose function is shown; nodes that are not shown are counted at the nearest
 * place above them.  Shared by contract.c, graph.c and leaks.c only.
 */
#ifndef REPORT_GRAPH_PLACES_H
#define REPORT_GRAPH_PLACES_H

#include "report/graph/functions.h"

struct report__place {
    uint32_t parent; /* MPROF_NONE for the outermost shown frame */
    uint32_t function;
    uint32_t arc;            /* from the parent, or MPROF_NONE */
    uint32_t child, sibling; /* only those where something was allocated */
    /* The first of the functions that were inlined here, and of a function that
     * was inlined the next one; MPROF_NONE at the end. */
    uint32_t inlined, next_inlined;
    bool is_inlined;
    struct report__counts own;
    struct report__counts freed; /* of own */
    struct report__counts sum;   /* of own, in the subtree */
};

struct report__places {
    struct report__place *list; /* parents first */
    uint32_t count;
    /* By node: the place where it is counted.  MPROF_NONE for the nodes of
     * other threads and the other heap, and where nothing is shown and nothing
     * was allocated. */
    uint32_t *place_of;
};

/* The places in HEAP of THREAD, or of MPROF_NONE for all threads.  ALL_FRAMES
 * shows plumbing too.  With INLINING, which may be NULL, functions that were
 * inlined have places below the one that has them inside: what was allocated
 * there and, as far as it is known, what was called there is theirs. */
struct report__places report__contract(struct report__pool *pool,
                                       const struct report__profile *profile,
                                       const struct report__functions *names,
                                       enum mprof_heap heap, uint32_t thread,
                                       bool all_frames,
                                       const struct report__inlining *inlining);

/* Whether nothing was allocated. */
bool report__is_empty(const struct report__counts *counts);

#endif
