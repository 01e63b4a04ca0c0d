/* places.h - the trees as the tables show them.
 *
 * A place is a function in the context of its parent place.  It is a node
 * whose function is shown; nodes that are not shown are counted at the nearest
 * place above them.  Shared by contract.c, graph.c and leaks.c only.
 */
#ifndef MPROF_PLACES_H
#define MPROF_PLACES_H

#include "report/graph/functions.h"

struct mprof__place {
    uint32_t parent; /* MPROF_NONE for the outermost shown frame */
    uint32_t function;
    uint32_t arc;            /* from the parent, or MPROF_NONE */
    uint32_t child, sibling; /* only those where something was allocated */
    /* The first of the functions that were inlined here, and of a function that
     * was inlined the next one; MPROF_NONE at the end. */
    uint32_t inlined, next_inlined;
    bool is_inlined;
    struct mprof__counts own;
    struct mprof__counts freed; /* of own */
    struct mprof__counts sum;   /* of own, in the subtree */
};

struct mprof__places {
    struct mprof__place *list; /* parents first */
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
struct mprof__places mprof__contract(struct mprof__pool *pool,
                                     const struct mprof__profile *profile,
                                     const struct mprof__functions *names,
                                     enum mprof_heap heap, uint32_t thread,
                                     bool all_frames,
                                     const struct mprof__inlining *inlining);

/* Whether nothing was allocated. */
bool mprof__is_empty(const struct mprof__counts *counts);

#endif
