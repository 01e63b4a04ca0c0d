/* focus.h - a part of a profile: only some of its chains or functions. */
#ifndef REPORT_GRAPH_FOCUS_H
#define REPORT_GRAPH_FOCUS_H

#include "report/graph/functions.h"

/* Extended regular expressions, or NULL. */
struct report__focus {
    const char *focus;  /* only chains with a function like this */
    const char *ignore; /* without those with a function like this */
    const char *only;   /* only functions of packages or files like this; what
                         * others allocate is their callers' */
};

static inline bool report__is_focused(const struct report__focus *focus) {
    return focus->focus || focus->ignore || focus->only;
}

struct report__focused {
    /* With what is left, and nothing of what was summed up: of that it is not
     * known whether it belongs here. */
    const struct report__profile *profile;
    /* Of each heap: what is left, and what was summed up. */
    struct mprof_count left[MPROF_HEAPS], summed[MPROF_HEAPS];
};

/* NAMES become those of the part.  False: *ERROR is a sentence. */
bool report__focus(struct report__pool *pool,
                   const struct report__profile *profile,
                   struct report__functions *names,
                   const struct report__focus *focus,
                   struct report__focused *focused, const char **error);

#endif
