/* finder.h - what findings.c and found_rows.c share.
 *
 * An allocation belongs to the innermost function of the program itself on its
 * chain, its spot, with what a library allocated for that.
 */
#ifndef REPORT_TABLES_FINDER_H
#define REPORT_TABLES_FINDER_H

#include "report/base/dictionary.h"
#include "report/graph/groups.h"
#include "report/tables/findings.h"

/* The objects that are counted. */
enum report__measured {
    MPROF_ALL_ALLOCATED,
    MPROF_ALL_KEPT,
    MPROF_ALL_AT_PEAK
};

struct report__finder {
    struct report__context c;
    struct report__pool *pool;
    bool is_lisp;
    struct report__paths paths;
    const enum report__origin *origins;
    /* By path: the innermost path of a function of the program's own at or
     * outside of it, MPROF_NONE: there is none; and the one just inside of
     * that, a library's function, or MPROF_NONE. */
    uint32_t *own, *called;
    /* By path of an own function, a number of its chain of these, from 1 on. */
    uint32_t *chain;
    struct report__pairs chains, causes;
    struct report__findings *out;
};

/* The innermost function of PATH, with its line. */
static inline const struct report__label *
report__path_label(const struct report__finder *f, uint32_t path) {
    return &f->paths.labels[f->paths.list[path].label];
}

/* The function that what was allocated at PATH belongs to. */
static inline uint32_t report__spot(const struct report__finder *f,
                                    uint32_t path) {
    return f->own[path] == MPROF_NONE ? path : f->own[path];
}

/* The next function of the program's own outside of PATH, or MPROF_NONE. */
static inline uint32_t report__own_caller(const struct report__finder *f,
                                          uint32_t path) {
    const uint32_t caller = f->paths.list[path].caller;

    return caller == MPROF_NONE ? MPROF_NONE : f->own[caller];
}

static inline struct mprof_count
report__measured(const struct report__at *at, enum report__measured measure) {
    return measure == MPROF_ALL_KEPT
               ? report__count_left(at->allocated, &at->lived->freed)
           : measure == MPROF_ALL_AT_PEAK ? at->lived->at_peak
                                          : at->allocated;
}

/* Whether the C or C++ library keeps it until the program ends. */
static inline bool report__is_held(const struct report__finder *f,
                                   uint32_t path) {
    const enum mprof__held held =
        f->c.names->list[report__path_label(f, path)->function].held;

    return held == MPROF__STREAM_BUFFERS ||
           (held == MPROF__EXCEPTION_POOL && f->own[path] == MPROF_NONE);
}

/* Sums by a key, two numbers. */
struct report__found_group {
    uint32_t path; /* one of them */
    bool is_mixed; /* the others have other lines */
    struct mprof_count count;
    uint32_t order; /* the first one's */
};
struct report__grouping {
    struct report__pairs keys;
    struct report__found_group *list;
    uint32_t count;
    size_t capacity;
};
/* The group of KEY, which is made for PATH if it is new. */
struct report__found_group *report__add_group(struct report__finder *f,
                                              struct report__grouping *g,
                                              struct report__pair key,
                                              uint32_t path);

/* The largest one first. */
void report__sort_groups(struct report__grouping *g);

/* Return the cause of an allocation.  A library's function, called by one of
 * the program's own, is one cause: "CL:FORMAT, called by MAKE-ROW". */
static inline struct report__pair report__cause(const struct report__finder *f,
                                                uint32_t path) {
    const uint32_t called = f->called[path];

    return (struct report__pair){f->paths.list[report__spot(f, path)].label,
                                 called == MPROF_NONE
                                     ? MPROF_NONE
                                     : report__path_label(f, called)->function};
}

/* Add a sentence, and to it TEXT, which is the name of FUNCTION or MPROF_NONE;
 * or the name of LABEL; or words like printf(). */
struct report__sentence *report__new_sentence(struct report__finder *f);
void report__add_piece(struct report__finder *f, struct report__sentence *s,
                       const char *text, uint32_t function);
void report__say_label(struct report__finder *f, struct report__sentence *s,
                       uint32_t label);
#define REPORT__WORDS(f, s, ...)                                               \
    report__add_piece(f, s, report__format((f)->pool, __VA_ARGS__), MPROF_NONE)

enum { REPORT__MUCH = 4 }; /* a quarter of all says enough */

static inline bool report__is_most(uint64_t part, uint64_t whole) {
    return (double)part >= 0.8 * (double)whole;
}

/* Say what keeps live objects, and whether many have equal contents. */
void report__find_kept(struct report__finder *f);

/* The rows of all tables. */
void report__fill_rows(struct report__finder *f);

#endif
