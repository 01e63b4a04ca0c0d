/* generation.h - for how long what is known of code is true.
 *
 * After a library was closed another one may have its addresses.  So all that
 * is known of code holds for a generation, which ends when a library is closed,
 * and is checked again in the next.
 */
#ifndef MONITOR_UNWIND_GENERATION_H
#define MONITOR_UNWIND_GENERATION_H

#include <stdint.h>

#include "monitor/base/atomic.h"

/* The generation of code: while it lasts, no library is closed.  In the upper
 * half, the number of threads that are closing one. */
extern MPROF__NEAR uint64_t mprof__generation; /* atomic */

/* 0: a library is being closed. */
static inline uint32_t mprof__code_generation(void) {
    uint64_t now = mprof__load_acquire(&mprof__generation);
    return now >> 32 == 0 ? (uint32_t)now : 0;
}

/* Without a look at who is closing one. */
static inline uint32_t mprof__this_generation(void) {
    return (uint32_t)mprof__load_acquire(&mprof__generation);
}

/* For how long holds what is looked at now, since generation BEFORE?  0: not
 * even for long. */
uint32_t mprof__holds_for(uint32_t before);

/* Modules may have been unloaded unseen, while nothing was recorded. */
void mprof__modules_changed(void);

/* Before and after a library is closed, perhaps. */
void mprof__modules_close(void);
void mprof__modules_closed(void);
/* In the child of a fork. */
void mprof__modules_forked(void);

#endif
