/* walk.h - the chain of callers of this thread.
 *
 * The walk reads the unwind tables; it never allocates on a heap that is
 * profiled, and says when it could not go on.
 */
#ifndef MONITOR_UNWIND_WALK_H
#define MONITOR_UNWIND_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/base/atomic.h"
#include "monitor/format/format.h"
#include "monitor/unwind/arch.h"
#include "monitor/unwind/generation.h"
#include "monitor/unwind/known.h"
#include "monitor/unwind/marks.h"
#include "monitor/unwind/reach.h"

/* How a frame is known to lead where it led in the walk before. */
enum mprof__check {
    MPROF__WORD,  /* the word at `ra_slot` is `ra` */
    MPROF__WORDS, /* ... and the frame pointer that it saved did not change */
    MPROF__ASK,   /* ... and the runtime says so */
    MPROF__DEREF, /* ... and the word that says where the caller's frame is:
                     what a signal handler's frame has of what it interrupted */
    MPROF__MARK,  /* ... a mark, so nothing further out has changed */
    MPROF__END    /* ... and there is nothing further out */
};

/* A frame, as it is while it calls on.  Its memory is [low, high): from its
 * stack pointer to the one its caller has. */
struct mprof__frame {
    uintptr_t ra_slot; /* where its return address is */
    uintptr_t ra;      /* the word there: the caller's pc, or a mark */
    uintptr_t pc;
    uintptr_t low, high;
    uintptr_t bp;
    uintptr_t bp_at; /* where its caller's frame pointer is, or 0: unchanged */
    const struct mprof__site *site;
    uintptr_t object; /* the function that is interpreted here, or 0 */
    mprof_ref node;   /* its place in the tree; see tree.c */
    uint32_t serial;  /* of its mark */
    uint32_t mark;    /* number of its mark */
    uint8_t check;    /* enum mprof__check */
    bool exact;       /* a signal struck here: pc is no return address */
    bool last;        /* it has no caller */
    bool interprets;  /* `object` represents it */
    /* The way to the caller depends on nothing but the return address and,
     * perhaps, the frame pointer and the word that `check` says. */
    bool checkable;
    bool marked;   /* its return address is a mark of this thread */
    bool needs_bp; /* the way outwards depends on `bp` */
    bool uses_bp;  /* ... already the way to the caller */
    bool folded;   /* in the tree, here or further out */
};

/* The chain, outermost frame first.  The outermost `reused` frames, with all
 * that is known of them, are from the walk before; the outermost `unreturned`
 * of these have not returned since. */
struct mprof__chain {
    struct mprof__first *first;     /* room at first, mapped; or NULL */
    struct mprof__frame *frames;    /* owned by the chain */
    struct mprof__frame *innermost; /* of them; NULL: there are none */
    size_t count, room, reused, unreturned;
    uint32_t generation; /* of code; 0: nothing may be reused */
    uint32_t walked_in;  /* ... when the last walk began */
    bool cut;            /* frames[0] is where the rules ended */
    bool in_barrier;     /* a signal struck in the return barrier */
    bool astray;         /* it came to a mark that is none of the thread's */
    size_t exact_at;     /* number of the innermost exact frame, from 1 */
    size_t large_at;     /* number of the outermost large one; see below */
    bool interprets;     /* frames that may have returned interpret */
    struct mprof__marks *marks;  /* the thread's, or NULL; see marks.h */
    uint8_t refused;             /* 1 + enum mprof_unmarked: NULL for good */
    struct mprof_thread *record; /* counts marks */
    uint32_t number;             /* identifies, in the process, the tree that
                                    frames have nodes in; or 0 */
    struct mprof__frame *fresh;  /* of this walk, innermost first */
    size_t fresh_count, fresh_room;
    struct mprof__reach reach; /* of walks by rules */
    struct mprof__known known;
};

/* A frame of more bytes is large: another stack may begin there, which may not
 * exist any more.  But below the top of the first thread's stack there is
 * nothing else. */
enum { MPROF__LARGE_FRAME = 64 << 10, MPROF__FIRST_STACK = 64 << 20 };

extern uintptr_t mprof__first_stack_top; /* 0: not known */

static inline bool mprof__is_large(uintptr_t low, uintptr_t high) {
    return __builtin_expect(high - low > MPROF__LARGE_FRAME, 0) &&
           (mprof__first_stack_top - low > MPROF__FIRST_STACK ||
            mprof__first_stack_top - high > MPROF__FIRST_STACK);
}

/* Walk from FRAME (see MPROF__FRAME() in arch.h) to the first frame of the
 * thread.  There is no limit to the depth; when there is no memory for more
 * frames, the chain is cut.  Nothing is reused by the next walk until
 * mprof__walk_done(). */
void mprof__walk(struct mprof__chain *chain, const void *frame);

/* Set marks after a walk by rules, when all frames have their nodes: a mark
 * knows the node of its caller.  See look.c. */
void mprof__walk_look(struct mprof__chain *chain);

/* The walk came to a mark that is none of the thread's: the program copies
 * frames, or leaves and enters them again, so that what is at a mark's place
 * may be an older one's copy.  No more marks are set in this process. */
void mprof__walk_astray(struct mprof__chain *chain);

/* The frames of the chain have their nodes now. */
void mprof__walk_done(struct mprof__chain *chain);

/* The word of the stack at ADDRESS, whatever the program has there.  Not
 * volatile: then a compiler compares it where it is. */
static inline uintptr_t mprof__word_at(uintptr_t address) {
    typedef uintptr_t word __attribute__((may_alias));
    return *(const word *)address;
}

/* The third thing that mprof__caller() says. */
static inline uintptr_t mprof__frame_pointer(const void *frame) {
    uintptr_t pc, sp, bp;
    mprof__caller(frame, &pc, &sp, &bp);
    return bp;
}

/* Prepare CHAIN for the first walk: sites come from SITE_OF for CONTEXT, and
 * RECORD counts marks. */
static inline void mprof__chain_begin(
    struct mprof__chain *chain,
    const struct mprof__site *(*site_of)(void *, uintptr_t, bool),
    void *context, struct mprof_thread *record) {
    chain->known.site_of = site_of;
    chain->known.context = context;
    chain->record = record;
}

/* The marks for chains whose first frame is at PC, known by SITE, with the
 * stack pointer BASE; NULL: they cannot have any, which is counted. */
struct mprof__marks *mprof__walk_marks(struct mprof__chain *chain,
                                       const struct mprof__site *site,
                                       uintptr_t pc, uintptr_t base);

/* Note that the caller of the frame with mark NUMBER has NODE. */
static inline void mprof__walk_set_outer(const struct mprof__chain *chain,
                                         size_t number, mprof_ref node) {
    struct mprof__outside *outside =
        &chain->marks->mark[number].outside[chain->record->heap];
    /* Should a jump leave this in the middle, nothing is known. */
    outside->tree = 0;
    mprof__order_for_handlers();
    outside->node = node;
    mprof__order_for_handlers();
    outside->tree = chain->number;
}

/* Return the node that was noted; 0: none. */
static inline mprof_ref mprof__walk_outer(const struct mprof__chain *chain,
                                          size_t number) {
    const struct mprof__outside *outside =
        &chain->marks->mark[number].outside[chain->record->heap];
    return outside->tree == chain->number ? outside->node : 0;
}

/* Give back its memory. */
void mprof__chain_free(struct mprof__chain *chain);

#endif
