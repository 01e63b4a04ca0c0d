/* memo.h - the cells of a thread, and how they are found; see remembered.h. */
#ifndef MONITOR_WALK_MEMO_H
#define MONITOR_WALK_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/format/format.h"
#include "monitor/names/adapter.h"
#include "monitor/walk/cell.h"
#include "monitor/unwind/walk.h"

struct mprof__trees;

/* It begins anew with versions long before there are no more. */
#define MPROF__MOST_VERSIONS (UINT32_MAX - (1 << 16))

enum {
    MPROF__NEAR_CELLS = 2048, /* so many leave the program most of the
                                 processor's cache */
    MPROF__MOST_CELLS = 32768,
    MPROF__JUDGE_EVERY = 32768, /* walks; see mprof__memo_judge() */
    MPROF__CELL_WAYS = 4, /* slots of the index for a frame, in one line */
    MPROF__RECENT = 64,
    MPROF__DETOURS = 8,
    MPROF__FAR = 256, /* see mprof__far() */
    MPROF__REVISE_EVERY = 256
};

/* A frame that was there at a review of the marks. */
struct mprof__seen {
    uintptr_t low;
    uint32_t version;
};

/* Of a thread, and only it touches it.  What is mapped begins with `cells`. The
 * way of nearly all walks is in the first line. */
struct mprof__memo {
    uint64_t generation; /* that the cells are true for; 0: there are none */
    struct mprof__cell *cells; /* the first one is not used */
    uint32_t *index;           /* by state, numbers of cells; 0: none */
    uint32_t mask;             /* entries of the index - 1 */
    uint32_t patience;         /* walks until the next review */
    uintptr_t shallowest;      /* stack pointer of walks since the review */
    char *base;                /* start of the data file */
    const struct mprof__marks *marks; /* the thread's, or NULL */
    /* Where walks began lately, by mprof__memo_recent(); or other cells. */
    struct mprof__cell *recent[MPROF__RECENT];
    struct mprof__cell **visited; /* by a longer walk, innermost first */
    struct mprof__cell_more *more;
    struct mprof__place *before; /* where they KEEP it */
    uint16_t *at;                /* where each cell is in the index, if it is */
    struct mprof__seen *seen;    /* by the last review, innermost first */
    bool largest;                /* there are not to be more cells */
    uint8_t plain_waits, plain_failures; /* see plainly.h */
    uint32_t hand;                       /* the cell that was taken away last */
    uint32_t capacity, used;             /* cells */
    uint32_t versions;                   /* the last one */
    uint32_t wanted;         /* cells, when it begins the next time; or 0 */
    uint32_t waits, backoff; /* walks that are not tried, as others failed */
    /* Since the last judgement, `made` by the present cells; and when there
     * were few the last time. */
    uint32_t walks, made, made_near;
    uint32_t trial_waits;   /* judgements until it is tried with many again, */
    uint32_t trial_backoff; /* and how many these were at first */
    bool filling;           /* it is tried, and not all were used yet */
    uint32_t seen_count;
    uint32_t reviews, distance; /* frames that are too near to be marked */
    uint32_t nearest_serial;    /* the mark that the last review set, or 0 */
    uint32_t nearest;           /* its number */
    struct mprof__cell detour[MPROF__DETOURS]; /* see plainly.h */
    struct mprof__trees *trees; /* the thread's; with its chain */
    uintptr_t deepest; /* ~ of the lowest stack pointer; 0: not known */
} __attribute__((aligned(MPROF__LINE)));

/* Cells that a walk goes by, at most, where there are CAPACITY. */
static inline uint32_t mprof__far(uint32_t capacity) {
    return capacity < MPROF__FAR ? capacity : MPROF__FAR;
}

/* Return the address of REF in the data file. */
static inline void *mprof__memo_at(const struct mprof__memo *memo,
                                   mprof_ref ref) {
    return memo->base + (size_t)ref * 8;
}

static inline struct mprof__cell_more *
mprof__cell_more(const struct mprof__memo *memo, const struct mprof__cell *c) {
    return &memo->more[c - memo->cells];
}

/* Where to look first for the cell of a frame in which walks begin, at PC with
 * the stack pointer SP. */
static inline struct mprof__cell **
mprof__memo_recent(struct mprof__memo *memo, uintptr_t pc, uintptr_t sp) {
    return &memo->recent[(pc + (sp >> 4)) % MPROF__RECENT];
}

/* Where the cell for a frame at PC with the stack pointer SP is in the index,
 * or in one of the other three of its four; and what stands there beside the
 * number of the cell, so that others need not be looked at.
 *
 * Stack pointers are multiples of sixteen, so frames of one function that are
 * near each other on the stack have each another four in the same line; and
 * with the second shift so have those that are a power of two apart. */
struct mprof__cell_bucket {
    uint32_t *at, tag;
};

static inline struct mprof__cell_bucket
mprof__cell_bucket(const struct mprof__memo *memo, uintptr_t pc, uintptr_t sp) {
    uintptr_t hash = pc * 0x9e3779b97f4a7c15u;
    return (struct mprof__cell_bucket){
        &memo->index[((sp >> 2) + (sp >> 9) + (hash >> 47)) & memo->mask],
        ((uint32_t)(hash >> 29) ^ (uint32_t)(sp << 10)) &
            ~(uint32_t)(MPROF__MOST_CELLS - 1)};
}

/* The WAY-th of the four. */
static inline uint32_t *mprof__cell_way(struct mprof__cell_bucket bucket,
                                        unsigned way) {
    return (uint32_t *)((uintptr_t)bucket.at ^ way * sizeof *bucket.at);
}

/* Return the cell at WAY of PLACE, if it may be the right one; or the first
 * cell, which is not used. */
static inline struct mprof__cell *
mprof__cell_candidate(const struct mprof__memo *memo,
                      struct mprof__cell_bucket bucket, unsigned way) {
    uint32_t number = *mprof__cell_way(bucket, way) ^ bucket.tag;
    return &memo->cells[number < MPROF__MOST_CELLS ? number : 0];
}

/* The cell for that frame, or another. */
static inline struct mprof__cell *mprof__cell_at(const struct mprof__memo *memo,
                                                 uintptr_t pc, uintptr_t sp) {
    struct mprof__cell_bucket bucket = mprof__cell_bucket(memo, pc, sp);
    struct mprof__cell *c = mprof__cell_candidate(memo, bucket, 0);
    if (__builtin_expect(mprof__cell_is(c, pc, sp), 1))
        return c;
#pragma GCC unroll 4
    for (unsigned way = 1; way < MPROF__CELL_WAYS - 1; way++) {
        c = mprof__cell_candidate(memo, bucket, way);
        if (mprof__cell_is(c, pc, sp))
            return c;
    }
    return mprof__cell_candidate(memo, bucket, MPROF__CELL_WAYS - 1);
}

/* Does C interpret what it did?  Only objects that have a name of their own are
 * kept: at the address of another one something else may be by now. */
static inline bool mprof__cell_runs(const struct mprof__memo *memo,
                                    const struct mprof__cell *c) {
    const struct mprof__cell_more *more = mprof__cell_more(memo, c);
    return mprof__word_at(c->low + more->runs_at) == more->word &&
           (more->word == more->object ||
            mprof__adapter.object(more->word) == more->object);
}

/* The same, as far as the runtime need not be asked; else false. */
static inline bool mprof__cell_runs_plainly(const struct mprof__memo *memo,
                                            const struct mprof__cell *c) {
    const struct mprof__cell_more *more = mprof__cell_more(memo, c);
    return mprof__word_at(c->low + more->runs_at) == more->word &&
           more->word == more->object;
}

/* Is what C saved of the frame pointer what its caller's cell needs? */
static inline bool mprof__cell_saves(const struct mprof__memo *memo,
                                     const struct mprof__cell *c) {
    return mprof__word_at(mprof__cell_bp_slot(c)) == memo->more[c->outer].bp;
}

/* Is the mark still there that C, which is one, saw? */
static inline bool mprof__cell_marked(const struct mprof__memo *memo,
                                      const struct mprof__cell *c) {
    return mprof__word_at(mprof__cell_slot(c)) == c->ra &&
           mprof__marks_has(memo->marks, c->outer, c->outer_version);
}

/* Does C, which has FLAGS and may be SPECIAL, lead where it led, as far as it
 * knows?  Nothing is called, so it is false now and then where that
 * is not so. */
static inline __attribute__((always_inline)) bool
mprof__cell_holds(const struct mprof__memo *memo, const struct mprof__cell *c,
                  unsigned flags) {
    if (flags & MPROF__CELL_STALE)
        return false;
    if (flags & MPROF__CELL_MARK)
        return mprof__cell_marked(memo, c);
    if (flags & MPROF__CELL_ASKS && !mprof__cell_runs_plainly(memo, c))
        return false;
    if (flags & MPROF__CELL_END)
        return true;
    return mprof__word_at(mprof__cell_slot(c)) == c->ra &&
           !(flags & MPROF__CELL_SAVES && !mprof__cell_saves(memo, c));
}

/* Begin with no cell that is found, true for GENERATION; there are more of them
 * if all were used, or as many as was judged right.  False: no memory.  errno
 * stays. */
bool mprof__memo_begin(struct mprof__memo *memo, uint64_t generation);
/* After MPROF__JUDGE_EVERY walks for which the way above was not enough: are
 * many cells worth while?  The next walk may begin anew with many, or with few.
 */
void mprof__memo_judge(struct mprof__memo *memo);
/* There was no cell for a frame, or no slot of the index: let the next walk
 * begin anew with more of them, if there may be more. */
void mprof__memo_grow(struct mprof__memo *memo);
/* Give back its memory. */
void mprof__memo_free(struct mprof__memo *memo);

#endif
