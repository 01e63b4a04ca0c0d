/* join.h - two profiles as one, to compare them.
 *
 * Threads and nodes stay apart, OLD's before NEW's; functions are one where
 * they are the same to a programmer, in both profiles or in one.  So all that
 * is made of a profile can be made of the two, or of one, with functions that
 * have one number in both.
 */
#ifndef REPORT_GRAPH_JOIN_H
#define REPORT_GRAPH_JOIN_H

#include "report/graph/functions.h"

enum report__joined_side { MPROF_OLD, MPROF_NEW, MPROF_SIDES };

/* OLD's numbers are multiplied by BY / OF. */
struct report__factor {
    uint64_t by, of;
};

/* NUMBER of OLD, multiplied and rounded. */
static inline uint64_t report__scaled(uint64_t number,
                                      const struct report__factor *factor) {
    unsigned __int128 n = (unsigned __int128)number * factor->by;
    n = (n + factor->of / 2) / factor->of;
    return n >> 64 ? UINT64_MAX : (uint64_t)n;
}

struct report__joined {
    struct report__profile *profile;
    struct report__functions *names;
    const struct report__profile *sides[MPROF_SIDES]; /* as they were */
    uint32_t new_thread;                              /* the first one of NEW */
};

static inline enum report__joined_side
report__side_of(const struct report__joined *joined, uint32_t thread) {
    return thread < joined->new_thread ? MPROF_OLD : MPROF_NEW;
}

/* Join SIDES, which have NAMES.  Lisp functions are one when they have one
 * name, C functions when they also are in files of one name; see same_name.h.
 * The programs are one file, whatever their names.  Code without a name is
 * known by its address if the files have one build id, else all of it in a file
 * is one function.  With INLINING both must have it.  False: *ERROR is a
 * sentence. */
bool report__join(struct report__pool *pool,
                  const struct report__profile *const sides[MPROF_SIDES],
                  struct report__functions *const names[MPROF_SIDES],
                  struct report__joined *joined, const char **error);

/* Of PROFILE, which is JOINED's or a part of it, what SIDE has; but it keeps
 * the bins of both. */
const struct report__profile *
report__one_side(struct report__pool *pool, const struct report__joined *joined,
                 const struct report__profile *profile,
                 enum report__joined_side side);

#endif
