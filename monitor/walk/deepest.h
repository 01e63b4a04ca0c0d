/* deepest.h - how deep the stack of a thread was when it allocated.
 *
 * Measured from the stack pointer of its first frame to the stack pointer of
 * the frame that called the allocator, without the monitor's own frames.
 * Allocations whose frames are remembered need no measurement: the stack was as
 * deep when the innermost cell was made.  Other stacks, a coroutine's or a
 * signal handler's, do not count.
 */
#ifndef MONITOR_WALK_DEEPEST_H
#define MONITOR_WALK_DEEPEST_H

#include <stdint.h>

#include "monitor/walk/memo.h"

/* Once, before the first recording. */
void mprof__stack_initialize(void);

/* The chain of MEMO's thread was walked by rules, deeper than ever. */
void mprof__stack_by_rules(struct mprof__memo *memo);

/* The same by cells, the OUTERMOST of which ends the walk; SP is the stack
 * pointer. */
void mprof__stack_by_cells(struct mprof__memo *memo,
                           const struct mprof__cell *outermost, uintptr_t sp);

/* Is SP deeper than all that MEMO's thread had? */
static inline bool mprof__stack_is_deeper(const struct mprof__memo *memo,
                                          uintptr_t sp) {
    return __builtin_expect(~sp > memo->deepest, 0);
}

#endif
