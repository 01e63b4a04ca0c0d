/* inlining.h - functions that the compiler inlined, as frames of the trees.
 *
 * An inlined function has no frame of its own at run time: it is found by the
 * calls in the frame of the function that it was inlined into.
 */
#ifndef REPORT_GRAPH_INLINING_H
#define REPORT_GRAPH_INLINING_H

#include "report/graph/functions.h"
#include "report/graph/places.h"

struct report__inlined_frame {
    uint32_t outer;    /* frame it was inlined into; MPROF_NONE: the real one */
    uint32_t function; /* of names->list */
    uint32_t call;     /* place in the outer frame */
};

struct report__inlining {
    struct report__inlined_frame *frames; /* outer ones first */
    uint32_t count;
    /* By edge: the innermost frame that made this call, and by node: that of
     * its parent which called it.  MPROF_NONE: the real one, or unknown. */
    uint32_t *of_edge, *of_caller;
    /* The same for where the call stands in that frame. */
    uint32_t *edge_place, *caller_place;
    struct report__places places;
};

/* Set NAMES->inlining, with PLACES also places in the source, from the debug
 * information of the files in PROFILE, of Lisp functions where these were
 * defined, and add the functions to NAMES->list.  A
 * name in a file is one function, however often it was inlined, and another one
 * than a real function of that name. */
void report__find_inlining(struct report__pool *pool,
                           const struct report__profile *profile,
                           struct report__functions *names, bool places);

#endif
