/* limits.h - limits to what a program may allocate, and how its profile keeps
 * them: `mprof check`. */
#ifndef REPORT_TABLES_LIMITS_H
#define REPORT_TABLES_LIMITS_H

#include "report/tables/paths.h"
#include "report/base/dictionary.h"
#include "report/tables/tables.h"

/* The limited number.  For a function, as in the graph: by it and its callees;
 * then, in the same order, by itself, as in the direct table. */
enum report__limited {
    MPROF_LIMIT_BYTES,
    MPROF_LIMIT_ALLOCS,
    MPROF_LIMIT_KEPT, /* in bytes, as is the peak; both of C only */
    MPROF_LIMIT_PEAK,
    MPROF_LIMIT_SELF_BYTES,
    MPROF_LIMIT_SELF_ALLOCS,
    MPROF_LIMIT_SELF_KEPT,
    MPROF_LIMIT_SELF_PEAK,
    MPROF_LIMITED
};

/* As users write them: "bytes", "self-kept". */
extern const char *const report__limited_names[MPROF_LIMITED];

static inline bool report__is_self(enum report__limited what) {
    return what >= MPROF_LIMIT_SELF_BYTES;
}

/* The same of a function with all that it called. */
static inline enum report__limited
report__without_self(enum report__limited what) {
    return (enum report__limited)(what % MPROF_LIMIT_SELF_BYTES);
}

struct report__limit {
    const char *function; /* as tables print it; NULL: the whole heap */
    enum report__limited what;
    uint64_t most;
    const char *file; /* that has it, or NULL: on the command line */
    uint32_t line;
};

/* A profile, or an older one to compare it with. */
struct report__recorded {
    const struct report__profile *profile;
    struct report__functions *names;
};

/* A chain that has much of what is limited; names are as they are. */
struct report__worst {
    const char *chain; /* as text, or NULL: there is none */
    uint64_t is, was;  /* what it has; and had before, if it grew */
    bool grew;
};

struct report__verdict {
    const struct report__limit *limit;
    uint64_t is;
    bool is_exceeded;
    bool is_absent; /* it allows something to a function that is not there */
    /* If it is one of those that are furthest above: the chain that has most,
     * or that grew most. */
    struct report__worst worst;
};

struct report__verdicts {
    struct report__verdict *list; /* in the order of the limits */
    uint32_t count, exceeded, absent;
    /* Those of the list that are exceeded, by how far; the first MPROF_WORST
     * have chains. */
    uint32_t *worst;
    const char **notes; /* sentences, with names as they are */
    uint32_t note_count;
    size_t note_capacity;
};
enum { MPROF_WORST = 10 };

/* How HEAP of NOW keeps the COUNT LIMITS.  BEFORE may be NULL.  All that is
 * limited, HEAP has.  ALL_FRAMES: functions of the plumbing count, too. */
struct report__verdicts report__judge(struct report__pool *pool,
                                      const struct report__recorded *now,
                                      const struct report__recorded *before,
                                      enum mprof_heap heap, bool all_frames,
                                      const struct report__limit *limits,
                                      uint32_t count);

/* One more note, which must last. */
void report__add_note(struct report__pool *pool,
                      struct report__verdicts *verdicts, const char *note);

/* "bytes", or "FUNCTION:bytes", with names as they are.  In POOL. */
const char *report__limit_text(struct report__pool *pool,
                               const struct report__limit *limit);

/* "budget:7", or NULL for one of the command line.  In POOL. */
const char *report__limit_place(struct report__pool *pool,
                                const struct report__limit *limit);

/* Neither exceeded nor absent. */
static inline bool report__is_kept(const struct report__verdict *verdict) {
    return !verdict->is_exceeded && !verdict->is_absent;
}

static inline bool report__all_kept(const struct report__verdicts *verdicts) {
    return verdicts->exceeded == 0 && verdicts->absent == 0;
}

/* "within budget", or how many limits are not kept.  In POOL. */
const char *report__verdicts_text(struct report__pool *pool,
                                  const struct report__verdicts *verdicts);

/* "10,000 by || > main > f", or NULL.  In POOL. */
const char *report__worst_text(struct report__pool *pool,
                               const struct report__worst *worst);

/* "146.5%" of its limit; "" if that is 0.  In POOL. */
const char *report__verdict_share(struct report__pool *pool,
                                  const struct report__verdict *verdict);

/* Lines below all else. */
void report__print_notes(FILE *out, const struct report__verdicts *verdicts);

/* Print the exceeded limits, or ALL, in words. */
void report__print_verdicts(FILE *out, const struct report__verdicts *verdicts,
                            bool all, struct report__pool *pool);

struct report__through_sum {
    struct mprof_count allocated;
    uint64_t freed, at_peak;
};

/* The chains of one heap; in a pool. */
struct report__through {
    const struct report__functions *names;
    struct report__paths paths;
    struct report__through_sum *sums; /* by path, which is its chain */
    bool *on;                         /* room, by path */
};

struct report__through *
report__through_make(struct report__pool *pool,
                     const struct report__recorded *side, enum mprof_heap heap,
                     bool all_frames);

/* Return the sum of LIMITED over all chains that go through FUNCTION of names,
 * or end there: as LIMITED says. */
uint64_t report__through_number(struct report__through *through,
                                uint32_t function,
                                enum report__limited limited);

/* The chain that has most of that; with BEFORE, which may be NULL, the chain
 * that grew most since, matched by the names in it.  FUNCTION may be MPROF_NONE
 * for any.  In POOL. */
struct report__worst report__through_worst(struct report__pool *pool,
                                           struct report__through *through,
                                           const struct report__through *before,
                                           uint32_t function,
                                           enum report__limited limited);

#endif
