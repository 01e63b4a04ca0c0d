/* marks_none.c - no return address is marked on an architecture that mprof does
 * not know; see marks.h. */
#include "monitor/unwind/marks.h"

#include "monitor/unwind/walk.h"

uintptr_t mprof__first_stack_top;

void mprof__marks_initialize(void) {
}

struct mprof__marks *mprof__marks_take(uintptr_t base,
                                       enum mprof_unmarked *reason) {
    (void)base;
    *reason = MPROF_MARKS_OFF;
    return NULL;
}

void mprof__marks_lift(struct mprof__marks *marks) {
    (void)marks;
}

void mprof__marks_give(struct mprof__marks *marks) {
    (void)marks;
}

void mprof__marks_restore(void) {
}

void mprof__marks_forked(struct mprof__marks *own) {
    (void)own;
}
