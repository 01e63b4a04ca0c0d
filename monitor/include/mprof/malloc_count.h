/* malloc_count.h - the functions of malloc_count by their names, for programs
 * that were written for it: include this, and link with -lmprof_malloc.
 *
 * All threads are counted together.  mprof.h describes each function.
 */
#ifndef MPROF_MALLOC_COUNT_H
#define MPROF_MALLOC_COUNT_H

#include <stddef.h>

#include <mprof.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called after each change of the heap, with the bytes that are in use then. */
typedef void (*malloc_count_callback_type)(void *cookie, size_t current);

/* Bytes in use, and the most that were since the start or the last reset. */
static inline size_t malloc_count_current(void) {
    return (size_t)mprof_heap_current();
}

static inline size_t malloc_count_peak(void) {
    return (size_t)mprof_heap_peak();
}

static inline void malloc_count_reset_peak(void) {
    mprof_heap_reset_peak();
}

/* All bytes that were asked for, and how often that was. */
static inline size_t malloc_count_total(void) {
    return (size_t)mprof_heap_total();
}

static inline size_t malloc_count_num_allocs(void) {
    return (size_t)mprof_heap_count();
}

/* NULL: none. */
static inline void
malloc_count_set_callback(malloc_count_callback_type callback, void *cookie) {
    mprof_heap_callback(callback, cookie);
}

/* One line on standard error. */
static inline void malloc_count_print_status(void) {
    mprof_heap_print("malloc_count");
}

#ifdef __cplusplus
}
#endif
#endif
