/* focus.h - a part of a profile: only some of its chains, functions or types.
 */
#ifndef REPORT_GRAPH_FOCUS_H
#define REPORT_GRAPH_FOCUS_H

#include "report/graph/functions.h"
#include "report/graph/lisp_types.h"

/* Extended regular expressions, or NULL; and types of Lisp.  They match names
 * of functions, or if none matches, packages, files or source files. */
struct report__focus {
    const char *focus;  /* only chains with a function like this */
    const char *ignore; /* without those with a function like this */
    const char *hide;   /* matching functions are charged to their callers */
    const char *only;   /* the same of all but those whose package, file or
                         * source file is like this */
    struct report__chosen_types types;
};

static inline bool report__is_focused(const struct report__focus *focus) {
    return focus->focus || focus->ignore || focus->hide || focus->only ||
           focus->types.count > 0;
}

struct report__focused {
    /* With what is left, and nothing of what was summed up: of that it is not
     * known whether it belongs here. */
    const struct report__profile *profile;
    /* By heap: the rest, and sums that are not there. */
    struct mprof_count left[MPROF_HEAPS], summed[MPROF_HEAPS];
    /* With types, of what is left: of which only the function is known that
     * allocated it.  And what is not there as its type is not known. */
    struct mprof_count alone, untyped;
};

/* Make NAMES the names of the part, which is PROFILE if nothing is focused.
 * False: *ERROR is a sentence. */
bool report__focus(struct report__pool *pool,
                   const struct report__profile *profile,
                   struct report__functions *names,
                   const struct report__focus *focus,
                   struct report__focused *focused, const char **error);

#endif
