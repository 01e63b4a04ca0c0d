/* groups.h - the origin of functions: the package of a Lisp function, the file
 * of a C function; and whether they are the program's own. */
#ifndef REPORT_GRAPH_GROUPS_H
#define REPORT_GRAPH_GROUPS_H

#include <stdbool.h>

#include "report/graph/functions.h"

/* The first of the modules whose file a function is in, or MPROF_NONE; by
 * function of NAMES, and up to COUNT, which is no less than these are.  In
 * POOL.
 */
uint32_t *report__modules_of(struct report__pool *pool,
                             const struct report__profile *profile,
                             const struct report__functions *names,
                             uint32_t count);

/* The package in the name of a Lisp function, also in that of another one that
 * it stands in, CL-USER when there is none; of other functions the name of the
 * file, without folders; "": that is not known.  By function of NAMES; in POOL.
 */
const char **report__groups_of(struct report__pool *pool,
                               const struct report__profile *profile,
                               const struct report__functions *names);

/* Is the Lisp function NAME one of Lisp itself, or has it no name of its own?
 */
bool report__is_systems(const char *name);

enum report__origin {
    MPROF_FROM_LISP,
    MPROF_FROM_INTERPRETED,
    MPROF_FROM_C,
    MPROF_FROM_RUNTIME,
    MPROF_FROM_NOWHERE /* a name for what is not known */
};

/* By function of NAMES, where it is from.  In POOL. */
enum report__origin *report__origins(struct report__pool *pool,
                                     const struct report__profile *profile,
                                     const struct report__functions *names);

/* Return true if a function from ORIGIN is the program's own; in a Lisp program
 * (LISP) no C function is. */
static inline bool report__is_own(enum report__origin origin, bool lisp) {
    return origin < (lisp ? MPROF_FROM_C : MPROF_FROM_RUNTIME);
}

/* Make plumbing of the C++ library's functions that are compiled into programs,
 * and of functions from other libraries' headers, so that they are charged to
 * their callers; unless chains were summed up, for which that is too late. */
void report__hide_standard(struct report__pool *pool,
                           const struct report__profile *profile,
                           struct report__functions *names);

/* Whether the function NAME, as tables print it, is code that runs while a
 * Lisp file is loaded. */
bool report__is_load(const char *name);

#endif
