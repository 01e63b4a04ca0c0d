/* paths.h - chains of callers as tables show them.
 *
 * A path is a frame together with the path of its callers.  Chains that read
 * alike are one path, whichever thread they come from.  Used by
 * rows.c and tree.c.
 */
#ifndef REPORT_TABLES_PATHS_H
#define REPORT_TABLES_PATHS_H

#include "report/base/dictionary.h"
#include "report/tables/tables.h"

/* How a frame reads: "main", "main+24", "main (main.c:7)",
 * "main > [inlined]". */
struct report__label {
    const char *text;
    uint32_t function; /* of names->list */
    enum mprof_function_kind kind;
};

struct report__path {
    uint32_t caller; /* path, or MPROF_NONE for the outermost frame */
    uint32_t label;
    uint32_t depth; /* frames, this one included */
};

struct report__paths {
    struct report__path *list; /* callers first */
    struct report__label *labels;
    uint32_t count, label_count;
    /* By counter: where it allocated, or MPROF_NONE when the counter is not of
     * the heap or not of the thread.  By total the same, of Lisp: what
     * functions allocated whose chains were summed up. */
    uint32_t *of_counter, *of_total;
    const struct report__profile *profile; /* that they are of */
    bool by_ends; /* what is elsewhere is at no other path */
};

/* The paths of all counters of the part, the heap and the thread of C. */
struct report__paths report__paths_build(const struct report__context *c);

/* Allocations at a path: of a counter, or of a total. */
struct report__at {
    uint32_t path, thread;
    uint32_t class_;
    const struct report__counter *counter; /* or NULL */
    struct mprof_count allocated;
    const struct report__lived
        *lived; /* frees and lifetimes, zeros for a total */
};

/* The condition of a loop, in which I counts from 0 on: whether there is
 * another one.  All together have what the tables have. */
bool report__next_at(const struct report__paths *paths, uint32_t *i,
                     struct report__at *at);

/* Chains that read alike in their innermost frames; empty when it is all zeros.
 */
struct report__ends {
    struct report__pairs frames, list;
};

/* The number, from 0 on, of what is shown of PATH: its innermost DEPTH frames,
 * or all if it has no more. */
uint32_t report__path_end(struct report__pool *pool, struct report__ends *ends,
                          const struct report__paths *paths, uint32_t path,
                          uint32_t depth);

#endif
