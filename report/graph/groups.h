/* groups.h - the package of a Lisp function, and the file of a C function. */
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

#endif
