/* marks.h - return addresses that show when a frame has returned.
 *
 * The walk marks a few frames: in the place of a frame's return address it puts
 * the address of a trampoline of the return barrier (barrier_ARCHITECTURE.S).
 * As long as the mark is where a walk looks for the return address, the frame
 * has not returned, and everything further out is as it was.  When the frame
 * returns, the barrier goes on to the real address.
 *
 *     the stack            marks of its thread
 *     +---------------+
 *     | first frame   | base
 *     |  ...          |
 *     | trampoline    |<- ra_slot  mark[0]   further out
 *     |  ...          |               .
 *     | trampoline    |<- ra_slot  mark[1]
 *     |  ...          |               .
 *     +---------------+ stack pointer   count = 2
 *
 * From each mark to the next, ra_slot and sp fall: each is further in.  A
 * mark's slot lies below its sp.  Serials grow: a new mark has the highest.
 *
 * The barrier consists of gates.  A gate leads to one return address, for good,
 * whichever thread's frame comes to it, and wherever that frame is: a program
 * may copy, move or abandon its stacks.  The other members of a mark matter
 * only for the recording.  A gate has several trampolines, and marks at one
 * slot use them in turn: so a mark differs from an older one that a copy of the
 * stack has put back.
 *
 * Each thread has marks of its own, ordered by their place on the stack, the
 * innermost last.  Only slots that the unwind rules prove to hold a return
 * address are written, only on the stack on which the thread began, and only
 * from inside of the hook of the thread itself; when the recording stops, all
 * are taken back.
 *
 * An unwinder, as of a C++ exception, finds the real addresses by the unwind
 * tables of the barrier.  For stack markers see Cheng, Harper and Lee,
 * "Generational Stack Collection and Profile-Driven Pretenuring", 1998.
 */
#ifndef MONITOR_UNWIND_MARKS_H
#define MONITOR_UNWIND_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/base/atomic.h"
#include "monitor/format/format.h"
#include "monitor/unwind/arch.h"
#include "monitor/unwind/cfi.h"

/* Marks that a thread has at most: more are thinned. */
enum { MPROF__MOST_MARKS = 1 << 16 };

/* The place in a tree of the frame that called one with a mark. */
struct mprof__outside {
    uint32_t tree; /* number of the chain that it is known for, 0: none */
    mprof_ref node;
};

struct mprof__mark {
    uintptr_t sp;      /* stack pointer when the frame has returned */
    uintptr_t ra_slot; /* where the mark is */
    uintptr_t word;    /* the word there: a trampoline */
    uint32_t serial;   /* 0: not in use */
    struct mprof__outside outside[MPROF_HEAPS];
};

enum { MPROF__TURNS = 64 };

/* The marks of a thread.  Mapped, and never unmapped. */
struct mprof__marks {
    struct mprof__mark *mark; /* mapped; `room` of them, which only grows */
    uint32_t count, room;     /* in use; atomic */
    uint32_t last_serial;
    pid_t thread;               /* that has these marks, 0 for none; atomic */
    uintptr_t base;             /* stack pointer of its first frame */
    struct mprof__marks *next;  /* in the list of all */
    uint8_t turn[MPROF__TURNS]; /* by slot: trampolines that were used */
};

/* Return addresses that can be marked, and bytes of a gate, which begins with
 * its distance from the place of its return address. */
enum {
    MPROF__GATES = 4096,
    MPROF__GATE_BYTES = 64,
    MPROF__GATE_CODE = 8 /* where the trampolines begin */
};

/* The address that each gate leads to; 0: none yet.  Number 0 is not used. */
extern uintptr_t mprof__barrier_ra[MPROF__GATES]; /* atomic */

/* First the gates, then what is common to them. */
extern const char mprof__barrier_start[], mprof__barrier_end[];

/* Is ADDRESS in the code of the barrier? */
static inline bool mprof__in_barrier(uintptr_t address) {
    return address - (uintptr_t)mprof__barrier_start <
           (uintptr_t)(mprof__barrier_end - mprof__barrier_start);
}

/* Is a return address a mark, anybody's? */
static inline bool mprof__is_mark(uintptr_t word) {
    return word - (uintptr_t)mprof__barrier_start <
           MPROF__GATES * MPROF__GATE_BYTES;
}

/* Where the gate leads that ADDRESS is in; 0: to nothing. */
static inline uintptr_t mprof__marked_address(uintptr_t address) {
    return mprof__load_acquire(
        &mprof__barrier_ra[(address - (uintptr_t)mprof__barrier_start) /
                           MPROF__GATE_BYTES]);
}

/* Is the mark number INDEX still the one that had SERIAL? */
static inline bool mprof__marks_has(const struct mprof__marks *marks,
                                    uint32_t index, uint32_t serial) {
    return marks->mark[index].serial == serial;
}

/* Find out whether marks may be set in this process; before the first
 * recording. */
void mprof__marks_initialize(void);

/* Is the function of UNWIND, which has no caller and is at PC, where threads
 * begin? */
bool mprof__marks_begins(const struct mprof__unwind *unwind, uintptr_t pc);

/* Marks for this thread, which has none yet, on the stack where its first frame
 * has the stack pointer BASE; NULL: it cannot have any, for REASON. */
struct mprof__marks *mprof__marks_take(uintptr_t base,
                                       enum mprof_unmarked *reason);

/* The invariants, of this thread's MARKS. */
void mprof__marks_check(const struct mprof__marks *marks);

/* Take the marks of this thread back: it has none then. */
void mprof__marks_lift(struct mprof__marks *marks);

/* Take the marks of this thread back, and let another thread have them. */
void mprof__marks_give(struct mprof__marks *marks);

/* Take back the marks of all threads.  No thread is inside of the hook, or will
 * be before this returns. */
void mprof__marks_restore(void);

/* In the child of a fork: OWN, which may be NULL, are the marks of the only
 * thread there is. */
void mprof__marks_forked(struct mprof__marks *own);

/* The number of the mark of MARKS that is WORD, on a frame that leaves the
 * stack pointer at SP; -1: it is none of them, or MARKS is NULL. */
int mprof__marks_find(const struct mprof__marks *marks, uintptr_t word,
                      uintptr_t sp);

/* Mark the frame that has its return address at RA_SLOT and leaves the stack
 * pointer at SP.  All that are marked are further out.  Returns the mark's
 * number, or -1 when there cannot be one more. */
int mprof__marks_set(struct mprof__marks *marks, uintptr_t ra_slot,
                     uintptr_t sp);

/* Take every other mark back, and let the others be as if they were new. */
void mprof__marks_thin(struct mprof__marks *marks);

/* The marks behind the first COUNT ones are on frames that are not there now:
 * should one of them come back, as coroutines do that have their stacks in this
 * one, its gate leads to its return address. */
void mprof__marks_drop(struct mprof__marks *marks, uint32_t count);

/* While the program itself looks at this thread's stack, in a function at
 * FRAME, no mark may be set; 0: it has done so. */
void mprof__marks_unwinding(uintptr_t frame);
/* Does it? */
bool mprof__unwinds(void);

/* This program does what marks do not allow: set no more, for good.  Each
 * thread takes its own back by mprof__marks_lift(). */
extern bool mprof__marks_off; /* atomic */

enum {
    MPROF__MARKS_SPACE = 6,    /* frames between marks in a long stretch */
    MPROF__MARKS_CLEARANCE = 4 /* frames inside of the last of these */
};

/* Return true if N frames without a mark are so many that more marks pay off at
 * once. */
static inline bool mprof__stretch_is_long(size_t n) {
    return n > MPROF__MARKS_SPACE + MPROF__MARKS_CLEARANCE;
}

#endif
