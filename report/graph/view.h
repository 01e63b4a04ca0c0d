/* view.h - the trees as the tables show them.
 *
 *     nodes                     view, with f hidden, h inlined in g
 *     main                      main
 *      +-- f  (plumbing)         +-- g       what f allocated is main's
 *      |   +-- g                 |   +-- h   what h allocated is not g's
 *      +-- g                     +-- g
 *
 * A view node is a function that is shown, in the context of its parent; nodes
 * that are not shown are counted at the nearest one above them.
 */
#ifndef REPORT_GRAPH_VIEW_H
#define REPORT_GRAPH_VIEW_H

#include "report/graph/functions.h"

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
    /* By function: what was freed of what its short chains have elsewhere, and
     * bytes of it that lived at the peak; C only. */
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
 * inlined have view nodes below the one that has them inside: what was
 * allocated there and, as far as it is known, what was called there is theirs.
 */
struct report__view report__make_view(struct report__pool *pool,
                                      const struct report__profile *profile,
                                      const struct report__functions *names,
                                      enum mprof_heap heap, uint32_t thread,
                                      bool all_frames,
                                      const struct report__inlining *inlining);

#endif
