/* merge.h - several profiles as one.
 *
 *     parts                             the whole
 *     thread 0  main, of process 7      thread 0   main, of process 7
 *     thread 0  main, of process 8      thread 1   main, of process 8
 *     function malloc_it, module prog   function   one
 *
 * All threads are kept, each with its tree, counters, bins and sizes.  So every
 * number of the whole is the sum of the parts' numbers.  Code is unified:
 * modules by path and build id, functions by module, address and names.
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
 * back as soon as it is copied.  The whole has no data that make sense for one
 * process only: moments, marks, the times of collections, a load.  NULL: there
 * are too many for one. */
struct report__profile *report__merge(struct report__pool *pool,
                                      struct report__part *parts,
                                      uint32_t count);

/* New indices for a profile's, in another profile. */
struct report__maps {
    uint32_t *modules, *functions;
    uint64_t *moved; /* by module: difference of its addresses */
};

/* Room in OUT, which is empty, for all arrays of the COUNT profiles PARTS.
 * False: their numbers are too large. */
bool report__make_room(struct report__pool *pool, struct report__profile *out,
                       const struct report__profile *const *parts,
                       uint32_t count);

/* Append the threads of P, with all that they have, to OUT's; modules and
 * functions are there already, as MAPS says. */
void report__append(struct report__profile *out,
                    const struct report__profile *p,
                    const struct report__maps *maps);

#endif
