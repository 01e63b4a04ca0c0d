/* merge.h - several profiles as one.
 *
 *     parts                             the whole
 *     thread 0  main, of process 7      thread 0   main, of process 7
 *     thread 0  main, of process 8      thread 1   main, of process 8
 *     function malloc_it, module prog   function   one
 *
 * Threads stand side by side, each with its tree, counters, bins and sizes; so
 * every sum of the whole is that of the parts.  What is code is one: modules by
 * path and build id, functions by module, address and names.
 */
#ifndef REPORT_DATA_MERGE_H
#define REPORT_DATA_MERGE_H

#include "report/data/profile.h"

struct report__part {
    struct report__pool pool; /* its profile's alone */
    struct report__profile *profile;
    const char *program; /* the file to read in place of its program, or NULL */
};

/* The COUNT profiles PARTS, at least one, as one in POOL.  Each part is given
 * back as soon as it is copied.  What is of one process only the whole has not:
 * moments, marks, the times of collections, a load.  NULL when these are too
 * many for one. */
struct report__profile *report__merge(struct report__pool *pool,
                                      struct report__part *parts,
                                      uint32_t count);

/* What indices of a profile become in another one. */
struct report__maps {
    uint32_t *modules, *functions;
    uint64_t *moved; /* by module: what is added to its addresses */
};

/* Room in OUT, which is empty, for all arrays of the COUNT profiles PARTS.
 * False: their numbers are too large. */
bool report__make_room(struct report__pool *pool, struct report__profile *out,
                       const struct report__profile *const *parts,
                       uint32_t count);

/* Put the threads of P and what these have behind those of OUT; modules and
 * functions are there already, as MAPS says. */
void report__append(struct report__profile *out,
                    const struct report__profile *p,
                    const struct report__maps *maps);

#endif
