/* inlining.h - functions that the compiler inlined, as frames of the trees.
 *
 * An inlined function has no frame of its own at run time: it is found by the
 * calls in the frame of the function that it was inlined into.
 */
#ifndef REPORT_GRAPH_INLINING_H
#define REPORT_GRAPH_INLINING_H

#include "report/elf/symbols.h"
#include "report/base/dictionary.h"
#include "report/graph/functions.h"

/* Numbers of places in the source.  Empty when it is all zeros.  It lives in
 * the pool it is given, which must always be the same. */
struct report__places {
    struct report__dictionary numbers; /* of files */
    const char **files;
    uint32_t file_count;
    size_t capacity;
    struct report__pairs pairs; /* file + 1 and line; the first: unknown */
};

/* The number of PLACE; 0 if it is unknown.  Its text is copied, but must last
 * until the last number is asked for. */
uint32_t report__place_number(struct report__pool *pool,
                              struct report__places *places,
                              const struct report__place *place);

/* The place of NUMBER; one without a file: it is not known. */
static inline struct report__place
report__place_at(const struct report__places *places, uint32_t number) {
    if (number == 0)
        return (struct report__place){NULL, 0};
    const struct report__pair at = places->pairs.list[number];
    return (struct report__place){places->files[at.a - 1], at.b};
}

struct report__inlined_frame {
    uint32_t outer;    /* frame it was inlined into; MPROF_NONE: the real one */
    uint32_t function; /* of names->list */
    uint32_t call;     /* place in the outer frame */
};

struct report__inlining {
    struct report__inlined_frame *frames; /* outer ones first */
    uint32_t count;
    /* By site: the innermost frame there, or MPROF_NONE: the real one, or
     * unknown; and the place of the call in it. */
    uint32_t *of_site, *site_place;
    /* By record of a function of Lisp: the place where it was defined. */
    uint32_t *defined;
    struct report__places places;
};

/* Where a call is within a function. */
struct report__within {
    uint32_t frame; /* that makes it; MPROF_NONE: the real one */
    uint32_t place; /* in that */
};

/* Where FUNCTION, a record, calls at SITE; either may be MPROF_NONE. */
static inline struct report__within
report__within(const struct report__inlining *inlining, uint32_t function,
               uint32_t site) {
    struct report__within at = {MPROF_NONE, 0};
    if (site != MPROF_NONE)
        at = (struct report__within){inlining->of_site[site],
                                     inlining->site_place[site]};
    if (at.frame == MPROF_NONE && at.place == 0 && function != MPROF_NONE)
        at.place = inlining->defined[function];
    return at;
}

/* The frame that calls at SITE, which may be MPROF_NONE. */
static inline uint32_t report__frame_at(const struct report__inlining *inlining,
                                        uint32_t site) {
    return site == MPROF_NONE ? MPROF_NONE : inlining->of_site[site];
}

/* Set NAMES->inlining, with PLACES also places in the source, from the debug
 * information of the files in PROFILE, of Lisp functions where these were
 * defined, and add the functions to NAMES->list.  A
 * name in a file is one function, however often it was inlined, and another one
 * than a real function of that name. */
void report__find_inlining(struct report__pool *pool,
                           const struct report__profile *profile,
                           struct report__functions *names, bool places);

/* By function of NAMES, the source file that it calls in, as the debug
 * information names it, or that a Lisp function was defined in; NULL: that is
 * not known.  In POOL. */
const char **report__source_files(struct report__pool *pool,
                                  const struct report__profile *profile,
                                  const struct report__functions *names);

#endif
