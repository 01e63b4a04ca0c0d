/* stack_count.h - the functions of stack_count by their names, for programs
 * that were written for it: include this, and link with -lmprof_malloc.
 */
#ifndef MPROF_STACK_COUNT_H
#define MPROF_STACK_COUNT_H

#include <stddef.h>

#include <mprof.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Paint the stack of this thread from here on, and return the argument for
 * stack_count_usage(). */
static inline void *stack_count_clear(void) {
    return mprof_stack_clear();
}

/* The most bytes of stack in use since then. */
static inline size_t stack_count_usage(void *base) {
    return (size_t)mprof_stack_used(base);
}

#ifdef __cplusplus
}
#endif
#endif
