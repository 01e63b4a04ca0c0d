/* lisp_types.h - the types of Lisp, of all threads, and which of them are
 * meant.
 *
 * A bin is a type in one thread; the same type in another one is another bin.
 */
#ifndef REPORT_GRAPH_LISP_TYPES_H
#define REPORT_GRAPH_LISP_TYPES_H

#include <stdbool.h>

#include "report/base/pool.h"
#include "report/data/profile.h"

struct report__lisp_type {
    const char *type; /* "cons", "structure" */
    const char *name; /* the class of a structure or instance, or NULL */
    uint64_t bytes;   /* by the bins */
};

struct report__lisp_types {
    struct report__lisp_type *list; /* by decreasing bytes, then names */
    uint32_t count;
    uint32_t *of_bin; /* by bin */
};

struct report__lisp_types
report__lisp_types(struct report__pool *pool,
                   const struct report__profile *profile);

/* Return the name of a type: its own, or its class's. */
static inline const char *
report__lisp_type_name(const struct report__lisp_type *type) {
    return type->name ? type->name : type->type;
}

/* Types to choose: each a name or several with commas, of a type, of a class,
 * or of one without its package.  "structure" is each of them. */
enum { MPROF_MOST_CHOSEN = 64 };
struct report__chosen_types {
    const char *list[MPROF_MOST_CHOSEN];
    uint32_t count; /* 0: all are meant */
};

/* By type, whether it is chosen.  NULL: *ERROR is a sentence. */
bool *report__choose_types(struct report__pool *pool,
                           const struct report__lisp_types *types,
                           const struct report__chosen_types *chosen,
                           const char **error);

/* Let PART, which has fewer counters and totals than the profile that it was
 * copied from, have bins of what these have. */
void report__bin_part(struct report__pool *pool, struct report__profile *part);

#endif
