/* own.h - which functions are the program's own, and which are a library's that
 * programs have without asking for it: the C library, ECL's, that of C++. */
#ifndef REPORT_GRAPH_OWN_H
#define REPORT_GRAPH_OWN_H

#include "report/graph/functions.h"

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

/* Whether a function from ORIGIN is the program's own; of a Lisp program
 * (LISP) no C function is. */
static inline bool report__is_own(enum report__origin origin, bool lisp) {
    return origin < (lisp ? MPROF_FROM_C : MPROF_FROM_RUNTIME);
}

/* Let the functions of C++'s library that are compiled into programs be
 * plumbing, and those of other headers in /usr/include, so that what they
 * allocate is their callers'; unless chains were summed up, for which that is
 * too late. */
void report__hide_standard(struct report__pool *pool,
                           const struct report__profile *profile,
                           struct report__functions *names);

/* Whether the function NAME, as tables print it, is code that runs while a
 * Lisp file is loaded. */
bool report__is_load(const char *name);

#endif
