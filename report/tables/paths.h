/* paths.h - chains of callers as the leak table shows them.
 *
 * A path is a frame together with the path of its callers.  Chains that read
 * alike are one path, whichever thread they come from.  Used by leaks.c only.
 */
#ifndef MPROF_PATHS_H
#define MPROF_PATHS_H

#include "report/tables/tables.h"

/* How a frame reads: "main", "main+24,57", "main > [inlined]". */
struct mprof__label {
    const char *text;
    uint32_t function; /* of names->list */
    bool merged;       /* the calls of several places are together */
};

struct mprof__path {
    uint32_t caller; /* path, or MPROF_NONE for the outermost frame */
    uint32_t label;
    uint32_t depth; /* frames, this one included */
};

struct mprof__paths {
    struct mprof__path *list; /* callers first */
    struct mprof__label *labels;
    uint32_t count, label_count;
    /* By counter: where it allocated, or MPROF_NONE when the counter is not of
     * the C heap or not of the thread. */
    uint32_t *of_counter;
};

/* The paths of all counters of the C heap, of THREAD or MPROF_ALL_THREADS. */
struct mprof__paths
mprof__paths_build(struct mprof__pool *pool,
                   const struct mprof__profile *profile,
                   const struct mprof__functions *names, uint32_t thread,
                   const struct mprof__leak_options *options);

#endif
