/* marks.h - return addresses that tell when a frame returns.
 *
 * The walk marks a few frames: in the place of a frame's return address it puts
 * the address of a trampoline of the return barrier (barrier_ARCHITECTURE.S),
 * and remembers the real one.  As long as the mark is where a walk looks for
 * the return address, the frame has not returned, and everything further out is
 * as it was.  When the frame returns, the barrier goes on to the real address.
 *
 *     the stack            marks of its thread
 *     +---------------+
 *     | first frame   | base
 *     |  ...          |
 *     | trampoline    |<- ra_slot[0]   mark[0] = {sp, ra}   further out
 *     |  ...          |                   .
 *     | trampoline    |<- ra_slot[1]   mark[1] = {sp, ra}
 *     |  ...          |                   .
 *     +---------------+ stack pointer  used = 2 * sizeof mark[0]
 *
 * used / sizeof mark[0] <= MPROF__MARKS, `none` is 0.  From each mark to the
 * next, ra_slot and sp fall: each is further in.  A mark's slot lies below its
 * sp.  serial[] grows: a new mark has the highest.  A mark that is not done has
 * this thread's trampoline at its slot, unless a jump left its frame.
 *
 * Each thread has marks of its own, and its own trampoline in the barrier. They
 * are ordered by their place on the stack, the innermost last.  Only slots that
 * the unwind rules prove to hold a return address are written, only on the
 * stack on which the thread began, and only from inside of the hook of the
 * thread itself; when the recording stops, all are taken back.
 *
 * What unwinds the stack, as a C++ throw does, finds the real addresses by the
 * unwind tables of the barrier.  For stack markers see Cheng, Harper and Lee,
 * "Generational Stack Collection and Profile-Driven Pretenuring", 1998.
 */
#ifndef MONITOR_UNWIND_MARKS_H
#define MONITOR_UNWIND_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/format/format.h"
#include "monitor/unwind/arch.h"
#include "monitor/unwind/cfi.h"

enum { MPROF__MARKS = 512 };

struct mprof__mark {
    uintptr_t sp; /* stack pointer when the frame has returned; + 1: it has */
    uintptr_t ra;
};

/* The place in a tree of the frame that called one with a mark. */
struct mprof__outside {
    uint32_t tree; /* number of the chain that it is known for, 0: none */
    mprof_ref node;
};

static inline bool mprof__mark_is_done(const struct mprof__mark *mark) {
    return mark->sp & 1;
}

/* Of a thread.  The barrier knows the first three by their places; marks of
 * frames that have returned stay for a while.  Mapped, and
 * never unmapped. */
struct mprof__marks {
    uint64_t used; /* bytes of `mark` in use */
    uint64_t none; /* 0: the return address of frames that are not found */
    struct mprof__mark mark[MPROF__MARKS];
    uintptr_t ra_slot[MPROF__MARKS]; /* where each is */
    uint32_t serial[MPROF__MARKS];   /* 0: not in use */
    /* By heap: what is known of the frame outside of each. */
    struct mprof__outside outside[MPROF_HEAPS][MPROF__MARKS];
    uint32_t last_serial;
    uint32_t number; /* of the trampoline */
    pid_t thread;    /* that has these marks, 0 for none; atomic */
    uintptr_t base;  /* stack pointer of its first frame */
};

/* Number of threads that can have marks at once, and bytes of a trampoline,
 * which begins with its distance from the pointer to the thread's marks. */
enum {
    MPROF__TRAMPOLINES = 256,
    MPROF__TRAMPOLINE_BYTES = 32,
    MPROF__TRAMPOLINE_CODE = 16
};

extern struct mprof__marks *mprof__marks[MPROF__TRAMPOLINES]; /* atomic */

/* First the trampolines, then what is common to them. */
extern const char mprof__barrier_start[], mprof__barrier_common[],
    mprof__barrier_end[];

/* Is ADDRESS in the code of the barrier? */
static inline bool mprof__in_barrier(uintptr_t address) {
    return address - (uintptr_t)mprof__barrier_start <
           (uintptr_t)(mprof__barrier_end - mprof__barrier_start);
}

/* Is a return address a mark, anybody's? */
static inline bool mprof__is_mark(uintptr_t word) {
    return word - (uintptr_t)mprof__barrier_start <
           MPROF__TRAMPOLINES * MPROF__TRAMPOLINE_BYTES;
}

/* What a return address is replaced by. */
static inline uintptr_t
mprof__marks_trampoline(const struct mprof__marks *marks) {
    return (uintptr_t)mprof__barrier_start + MPROF__TRAMPOLINE_CODE +
           marks->number * MPROF__TRAMPOLINE_BYTES;
}

/* Is the mark number INDEX still the one that had SERIAL? */
static inline bool mprof__marks_has(const struct mprof__marks *marks,
                                    unsigned index, uint32_t serial) {
    return marks->serial[index] == serial;
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

/* Take the marks of this thread back. */
void mprof__marks_lift(struct mprof__marks *marks);

/* Take the marks of this thread back, and let another thread have them. */
void mprof__marks_give(struct mprof__marks *marks);

/* Take back the marks of all threads.  No thread is inside of the hook, or will
 * be before this returns. */
void mprof__marks_restore(void);

/* In the child of a fork: OWN, which may be NULL, are the marks of the only
 * thread there is. */
void mprof__marks_forked(struct mprof__marks *own);

/* The mark that ADDRESS, in the barrier, stands for in a frame that leaves the
 * stack pointer at SP; NULL: there is none.  *OWNER: of which thread. */
struct mprof__mark *mprof__marks_find(uintptr_t address, uintptr_t sp,
                                      struct mprof__marks **owner);

/* Mark the frame that has its return address at RA_SLOT and leaves the stack
 * pointer at SP.  All that are marked are further out.  Returns the mark's
 * number, or -1 when there are too many. */
int mprof__marks_set(struct mprof__marks *marks, uintptr_t ra_slot,
                     uintptr_t sp);

/* Take every other mark back, and let the others be as if they were new. */
void mprof__marks_thin(struct mprof__marks *marks);

/* The marks behind the first COUNT ones are on frames that are not there now:
 * should one of them come back, as coroutines do that have their stacks in this
 * one, it finds its return address. */
void mprof__marks_drop(struct mprof__marks *marks, size_t count);

/* This program does what marks do not allow: take all back for good. */
void mprof__marks_refuse(void);
extern bool mprof__marks_off; /* atomic */

#endif
