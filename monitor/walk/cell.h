/* cell.h - what is remembered of one frame in one state; see remembered.h. */
#ifndef MONITOR_WALK_CELL_H
#define MONITOR_WALK_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/format/format.h"
#include "monitor/unwind/walk.h"

enum { MPROF__LINE = 64 }; /* bytes of a line of the processor's cache */

enum {
    MPROF__CELL_MARK = 1,   /* `ra` is a mark; `outer` is its number, and
                               `outer_version` its serial */
    MPROF__CELL_END = 2,    /* there is no caller */
    MPROF__CELL_ASKS = 4,   /* the word at `runs_at` matters, too: it interprets
                               that, or its caller's stack pointer is there */
    MPROF__CELL_SAVES = 8,  /* it saves a register that the caller's cell needs
                             */
    MPROF__CELL_STALE = 16, /* only its state is valid, and its size */
    MPROF__CELL_SPECIAL = 31,
    MPROF__CELL_NEEDS = 32, /* the way outwards depends on the frame pointer */
    MPROF__CELL_USES = 64,  /* ... already the way to the caller */
    MPROF__CELL_LEAVES = 128, /* from here inwards is another stack, perhaps */
    MPROF__CELL_KEEPS = 256   /* there is a place that it had before */
};

/* A frame: one line of the processor's cache. */
struct mprof__cell {
    uintptr_t pc, low;
    uintptr_t ra;                  /* END: nothing */
    uint32_t outer, outer_version; /* number of the caller's cell */
    uint32_t version;
    mprof_ref node, parent; /* its node, and its caller's */
    mprof_ref call;         /* SITE, or what is interpreted: FUNCTION */
    struct mprof__shape shape;
    mprof_ref counter[2]; /* the node's, by mprof__cell_counter_slot(), or 0 */
} __attribute__((aligned(MPROF__LINE)));

/* Where the counter with KEY is in a cell: objects and their storage, which are
 * often made in turn, are told apart. */
static inline unsigned mprof__cell_counter_slot(uint32_t key) {
    return (key ^ key >> 31) % 2;
}

/* Rarely used members, kept apart so that a cell fits in one cache line.  A
 * member is valid only while the cell has the flag named beside it. */
struct mprof__cell_more {
    const struct mprof__site *site; /* END */
    uintptr_t bp;                   /* NEEDS: the frame pointer */
    uintptr_t word, object; /* ASKS: the word at `runs_at`, and its object */
    uint32_t runs_at;       /* ASKS: bytes from `low` */
};

/* A place in the tree, with all that a cell has of it; see plainly.h. */
struct mprof__place {
    mprof_ref parent; /* as in the cell; 0: it is none */
    mprof_ref node, counter[2];
    uint32_t version;
};

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

static inline bool mprof__cell_is(const struct mprof__cell *c, uintptr_t pc,
                                  uintptr_t sp) {
    return c->pc == pc && c->low == sp;
}

struct mprof__memo;

/* Find out for C, which has its state and its site, what the rule of KNOWN says
 * of the way to its caller.  False: it is none that cells are for. */
bool mprof__cell_measure(struct mprof__memo *memo, struct mprof__cell *c,
                         const struct mprof__known_site *known);

#endif
