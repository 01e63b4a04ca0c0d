/* remembered.h - frames remembered by their state, whatever chain they were in.
 *
 * The way of nearly all allocations, from the hook to the node of their chain:
 *
 *     mprof__remembered()                              here
 *       |  the cell of the innermost frame, by pc and stack pointer;
 *       |  from cell to cell outwards: is the word at its return address as
 *       |  it was, and the caller's cell?  As far as a mark that is alive.
 *       | yes: its node                 | no
 *       |                       mprof__remembered_slowly()    remembered.c
 *       |                         follow(): other words lead to other cells,
 *       |                         which are made by the rule of their code
 *       |                         settle(): their nodes, from the outermost
 *       |                         new one inwards
 *       |                       revise_marks()               revise.c
 *       |                               | no: a signal's frame, code without
 *       |                               | tables, no room in the tree, ...
 *       |                       mprof__locate(), a walk by rules   place.c
 *     the cell's counter
 *
 * A cell tells of a frame in a state (pc, stack pointer, and frame pointer
 * where it matters) how it led to its caller when it was seen last: what its
 * return address was, the cell of the caller, and its own node then.
 *
 *     cell of f              cell of g             cell of h
 *     pc, low                pc, low               pc, low
 *     ra ------------------- = pc  ra: a mark      ...
 *     outer ---------------->      outer: number of the mark
 *     outer_version -------- = version
 *     node                   node                  node
 *
 * That holds as long as the word is the same and the caller's cell is as it
 * was: a cell's version is a number that it gets when its node is another, or
 * what it asks of the frame pointer.  So a walk is two comparisons a frame, and
 * where frames alternate each has its cell.
 *
 * Invariants, between allocations, and if a jump leaves the hook in the middle:
 * (1) pc, low and, for a cell that NEEDS it, the frame pointer tell how large
 *     the frame is and where its return address, while the generation lasts.
 * (2) No two versions are the same; a cell that gets another node or needs
 *     another frame pointer gets its new version first.
 * (3) A cell is STALE while anything in it is rewritten.
 * (4) A mark ends a walk if it has the serial that the cell knows, and what is
 *     outside of it has a node of this tree.
 * (5) No cell that the present walk came by is used for another frame.
 * (6) No cell is for a frame of a folded or cut chain, or one that a signal
 *     struck.
 */
#ifndef MONITOR_RECORD_REMEMBERED_H
#define MONITOR_RECORD_REMEMBERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/base/atomic.h"
#include "monitor/format/format.h"
#include "monitor/names/adapter.h"
#include "monitor/unwind/walk.h"

struct mprof__thread;

enum { MPROF__LINE = 64 }; /* bytes of a line of the processor's cache */

enum {
    MPROF__CELL_MARK = 1,   /* `ra` is a mark; `outer` is its number, and
                               `outer_version` its serial */
    MPROF__CELL_END = 2,    /* there is no caller */
    MPROF__CELL_ASKS = 4,   /* what is at `runs_at` matters, too: it interprets
                               that, or its caller's stack pointer is there */
    MPROF__CELL_SAVES = 8,  /* what the caller's cell needs is saved here */
    MPROF__CELL_STALE = 16, /* only its state is valid, and its size */
    MPROF__CELL_SPECIAL = 31,
    MPROF__CELL_NEEDS = 32, /* the way outwards depends on the frame pointer */
    MPROF__CELL_USES = 64,  /* ... already the way to the caller */
    MPROF__CELL_LEAVES = 128, /* from here inwards is another stack, perhaps */
    MPROF__CELL_NEW = MPROF__SHAPE_NEW
};

/* A frame: one line of the processor's cache. */
struct mprof__cell {
    uintptr_t pc, low;
    uintptr_t ra;                  /* END: nothing */
    uint32_t outer, outer_version; /* number of the caller's cell */
    uint32_t version;
    mprof_ref node, parent; /* its node, and that of its caller */
    mprof_ref call;         /* SITE, or what is interpreted: FUNCTION */
    struct mprof__shape shape;
    mprof_ref counter[2]; /* of the node, by mprof__counter_place(), or 0 */
} __attribute__((aligned(MPROF__LINE)));

/* Where the counter with KEY is in a cell: objects and their storage, which are
 * often made in turn, are told apart. */
static inline unsigned mprof__counter_place(uint32_t key) {
    return (key ^ key >> 31) % 2;
}

/* It begins anew with versions long before there are no more. */
#define MPROF__MOST_VERSIONS (UINT32_MAX - (1 << 16))

/* What most cells do without.  A field holds only while the cell has the flag
 * beside it; else it is what another cell left there. */
struct mprof__cell_more {
    const struct mprof__site *site; /* END */
    uintptr_t bp;                   /* NEEDS: the frame pointer */
    uintptr_t word, object; /* ASKS: what is at `runs_at`, and what it means */
    uint32_t runs_at;       /* ASKS: bytes from `low` */
};

enum {
    MPROF__NEAR_CELLS = 2048, /* so many leave the program most of the
                                 processor's cache */
    MPROF__MOST_CELLS = 32768,
    MPROF__JUDGE_EVERY = 32768, /* walks; see mprof__memo_judge() */
    MPROF__CELL_WAYS = 4, /* places of the index for a frame, in one line */
    MPROF__FAR = 256,     /* see mprof__far() */
    MPROF__REVISE_EVERY = 256
};

/* What was seen at a review of the marks. */
struct mprof__seen {
    uintptr_t low;
    uint32_t version;
};

/* Of a thread, and only it touches it.  What is mapped begins with `cells`. The
 * way of nearly all walks is in the first line. */
struct mprof__memo {
    uint64_t generation; /* that the cells are true for; 0: there are none */
    struct mprof__cell *cells; /* the first one is nobody's */
    uint32_t *index;           /* by state, numbers of cells; 0: none */
    uint32_t mask;             /* of the index */
    uint32_t patience;         /* walks until the next review */
    struct mprof__cell *last;  /* where the last walk began, or another */
    uintptr_t shallowest;      /* stack pointer of walks since the review */
    char *base;                /* of the data file */
    const struct mprof__marks *marks; /* of the thread, or NULL */
    struct mprof__cell **visited;     /* by a longer walk, innermost first */
    struct mprof__cell_more *more;
    uint16_t *at;             /* where each cell is in the index, if it is */
    struct mprof__seen *seen; /* by the last review, innermost first */
    bool largest;             /* there are not to be more cells */
    uint32_t hand;            /* the cell that was taken away last */
    uint32_t capacity, used;  /* cells */
    uint32_t versions;        /* the last one */
    uint32_t wanted;          /* cells, when it begins the next time; or 0 */
    uint32_t waits, backoff;  /* walks that are not tried, as others failed */
    /* Since the last judgement; and when there were few the last time. */
    uint32_t walks, made, made_near;
    uint32_t trial_waits;   /* judgements until it is tried with many again, */
    uint32_t trial_backoff; /* and how many these were at first */
    bool filling;           /* it is tried, and not all were used yet */
    uint32_t seen_count;
    uint32_t reviews, distance; /* frames that are too near to be marked */
    uint32_t nearest_serial;    /* of the mark that the last review set, or 0 */
    uint32_t nearest;           /* its number */
} __attribute__((aligned(MPROF__LINE)));

/* Cells that a walk goes by, at most, where there are CAPACITY. */
static inline uint32_t mprof__far(uint32_t capacity) {
    return capacity < MPROF__FAR ? capacity : MPROF__FAR;
}

/* What REF means in the data file. */
static inline void *mprof__memo_at(const struct mprof__memo *memo,
                                   mprof_ref ref) {
    return memo->base + (size_t)ref * 8;
}

static inline struct mprof__cell_more *
mprof__cell_more(const struct mprof__memo *memo, const struct mprof__cell *c) {
    return &memo->more[c - memo->cells];
}

static inline uintptr_t mprof__cell_slot(const struct mprof__cell *c) {
    return c->low + c->shape.ra_at * sizeof(uintptr_t);
}

static inline uintptr_t mprof__cell_bp_slot(const struct mprof__cell *c) {
    return c->low + c->shape.bp_at * sizeof(uintptr_t);
}

static inline uintptr_t mprof__cell_high(const struct mprof__cell *c) {
    return c->low + c->shape.size * sizeof(uintptr_t);
}

/* Can what C is compared with be read from the stack? */
static inline bool mprof__cell_can_be_read(struct mprof__reach *reach,
                                           const struct mprof__cell *c) {
    return c->shape.flags & MPROF__CELL_END ||
           (mprof__reaches(reach, mprof__cell_slot(c)) &&
            (c->shape.bp_at == MPROF__NOT_SAVED ||
             mprof__reaches(reach, mprof__cell_bp_slot(c))));
}

/* Where the cell for a frame at PC with the stack pointer SP is in the index,
 * or in one of the other three of its four; and what stands there beside the
 * number of the cell, so that others need not be looked at. */
struct mprof__cell_place {
    uint32_t *at, tag;
};

static inline struct mprof__cell_place
mprof__cell_place(const struct mprof__memo *memo, uintptr_t pc, uintptr_t sp) {
    uintptr_t hash = pc * 0x9e3779b97f4a7c15u;
    return (struct mprof__cell_place){
        &memo->index[((sp >> 5) + (hash >> 47)) & memo->mask],
        ((uint32_t)(hash >> 29) ^ (uint32_t)(sp << 10)) &
            ~(uint32_t)(MPROF__MOST_CELLS - 1)};
}

/* The WAY-th of the four. */
static inline uint32_t *mprof__cell_way(struct mprof__cell_place place,
                                        unsigned way) {
    return (uint32_t *)((uintptr_t)place.at ^ way * sizeof *place.at);
}

static inline bool mprof__cell_is(const struct mprof__cell *c, uintptr_t pc,
                                  uintptr_t sp) {
    return c->pc == pc && c->low == sp;
}

/* The cell at WAY of PLACE, if it may be the right one; or nobody's. */
static inline struct mprof__cell *
mprof__cell_candidate(const struct mprof__memo *memo,
                      struct mprof__cell_place place, unsigned way) {
    uint32_t number = *mprof__cell_way(place, way) ^ place.tag;
    return &memo->cells[number < MPROF__MOST_CELLS ? number : 0];
}

/* The cell for that frame, or another. */
static inline struct mprof__cell *mprof__cell_at(const struct mprof__memo *memo,
                                                 uintptr_t pc, uintptr_t sp) {
    struct mprof__cell_place place = mprof__cell_place(memo, pc, sp);
    struct mprof__cell *c = mprof__cell_candidate(memo, place, 0);
    if (__builtin_expect(mprof__cell_is(c, pc, sp), 1))
        return c;
#pragma GCC unroll 4
    for (unsigned way = 1; way < MPROF__CELL_WAYS - 1; way++) {
        c = mprof__cell_candidate(memo, place, way);
        if (mprof__cell_is(c, pc, sp))
            return c;
    }
    return mprof__cell_candidate(memo, place, MPROF__CELL_WAYS - 1);
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

/* Is what C saved of the frame pointer what its caller's cell needs? */
static inline bool mprof__cell_saves(const struct mprof__memo *memo,
                                     const struct mprof__cell *c) {
    return mprof__word_at(mprof__cell_bp_slot(c)) == memo->more[c->outer].bp;
}

/* Does C, which is SPECIAL, lead where it led, as far as it knows? */
static inline __attribute__((always_inline)) bool
mprof__cell_holds(const struct mprof__memo *memo, const struct mprof__cell *c) {
    unsigned flags = c->shape.flags;
    if (flags & MPROF__CELL_STALE)
        return false;
    if (flags & MPROF__CELL_MARK)
        return mprof__word_at(mprof__cell_slot(c)) == c->ra &&
               mprof__marks_has(memo->marks, c->outer, c->outer_version);
    if (flags & MPROF__CELL_ASKS && !mprof__cell_runs(memo, c))
        return false;
    if (flags & MPROF__CELL_END)
        return true;
    return mprof__word_at(mprof__cell_slot(c)) == c->ra &&
           !(flags & MPROF__CELL_SAVES && !mprof__cell_saves(memo, c));
}

/* Begin with no cell that is found, true for GENERATION; there are more of them
 * if all were used, or as many as was judged right.  False: no memory.  errno
 * stays. */
bool mprof__memo_begin(struct mprof__thread *thread, uint64_t generation);
/* After MPROF__JUDGE_EVERY walks for which the way above was not enough: are
 * many cells worth while?  The next walk may begin anew with many, or with few.
 */
void mprof__memo_judge(struct mprof__memo *memo);
/* Forget all, as for another thread. */
void mprof__memo_forget(struct mprof__memo *memo);
/* Give back its memory. */
void mprof__memo_free(struct mprof__memo *memo);

/* Find out for C, which has its state and its site, what the rule of KNOWN says
 * of the way to its caller.  False: it is none that cells are for. */
bool mprof__cell_measure(struct mprof__thread *thread, struct mprof__cell *c,
                         const struct mprof__known_site *known);

/* How far a walk came: from the cell `first`, by cells that are as they were,
 * to one that leads elsewhere; or both are NULL. */
struct mprof__trail {
    struct mprof__cell *first, *last;
};

/* The cell of the frame where the chain from FRAME begins, with its node, when
 * all is as it was; else NULL, and TRAIL is for the function below. */
static inline __attribute__((always_inline)) struct mprof__cell *
mprof__remembered(struct mprof__memo *memo, const void *frame,
                  struct mprof__trail *trail) {
    uintptr_t pc, sp, bp;
    struct mprof__cell *c, *f;
    mprof__caller(frame, &pc, &sp, &bp);
    *trail = (struct mprof__trail){NULL, NULL};
    if (memo->generation != mprof__load_acquire(&mprof__generation) ||
        --memo->patience == 0)
        return NULL;
    c = memo->last;
    if (!mprof__cell_is(c, pc, sp)) {
        c = mprof__cell_at(memo, pc, sp);
        if (!mprof__cell_is(c, pc, sp))
            return NULL;
    }
    if (__builtin_expect(c->shape.flags & MPROF__CELL_NEEDS, 0) &&
        mprof__cell_more(memo, c)->bp != bp)
        return NULL;
    for (f = c;;) {
        if (__builtin_expect(f->shape.flags & MPROF__CELL_SPECIAL, 0)) {
            if (!mprof__cell_holds(memo, f))
                break;
            if (f->shape.flags & (MPROF__CELL_MARK | MPROF__CELL_END)) {
                if (sp > memo->shallowest)
                    memo->shallowest = sp;
                memo->last = c;
                return c;
            }
        } else if (mprof__word_at(mprof__cell_slot(f)) != f->ra) {
            break;
        }
        struct mprof__cell *outer = &memo->cells[f->outer];
        if (outer->version != f->outer_version)
            break;
        f = outer;
    }
    *trail = (struct mprof__trail){c, f};
    return NULL;
}

/* The same when something is not as it was, from where TRAIL ends; NULL: the
 * chain is to be walked by rules.  errno stays. */
struct mprof__cell *mprof__remembered_slowly(struct mprof__thread *thread,
                                             const void *frame,
                                             struct mprof__trail trail);

#endif
