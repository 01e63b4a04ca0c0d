/* atomic.h - what several threads read and write, by the order that it needs.
 *
 * For any integer, bool or pointer at AT; the names say the order, as C11 does:
 *     relaxed   the value is whole, nothing is said of others: counts, flags
 *               that only speed things up, what one thread alone writes
 *     release   whoever loads this value with acquire sees all that was written
 *               before: how something that was made is handed over
 *     acquire   the other side
 *     ordered   one order for all threads (sequential consistency)
 */
#ifndef MONITOR_BASE_ATOMIC_H
#define MONITOR_BASE_ATOMIC_H

#include <stdint.h>

/* For variables on the way of each event: they are in this library, which a
 * compiler does not know of what it only sees declared. */
#define MPROF__NEAR __attribute__((visibility("hidden")))

#define mprof__load_relaxed(at) __atomic_load_n(at, __ATOMIC_RELAXED)
/* The same, for a comparison, which may then be one instruction with memory. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define mprof__glance(at) (*(at))
#else
#define mprof__glance(at) mprof__load_relaxed(at)
#endif
#define mprof__load_acquire(at) __atomic_load_n(at, __ATOMIC_ACQUIRE)
#define mprof__load_ordered(at) __atomic_load_n(at, __ATOMIC_SEQ_CST)
#define mprof__store_relaxed(at, value)                                        \
    __atomic_store_n(at, value, __ATOMIC_RELAXED)
#define mprof__store_release(at, value)                                        \
    __atomic_store_n(at, value, __ATOMIC_RELEASE)

/* Add to what several threads add to; the sum. */
#define mprof__add_relaxed(at, n) __atomic_add_fetch(at, n, __ATOMIC_RELAXED)
#define mprof__sub_relaxed(at, n) __atomic_sub_fetch(at, n, __ATOMIC_RELAXED)
#define mprof__add_ordered(at, n) __atomic_add_fetch(at, n, __ATOMIC_SEQ_CST)
#define mprof__sub_ordered(at, n) __atomic_sub_fetch(at, n, __ATOMIC_SEQ_CST)

/* Acquire and release: store VALUE, and return the old value. */
#define mprof__exchange(at, value)                                             \
    __atomic_exchange_n(at, value, __ATOMIC_ACQ_REL)

/* Acquire and release: put VALUE there if *EXPECTED is there; else false, and
 * *EXPECTED is what is there, acquired. */
#define mprof__replace(at, expected, value)                                    \
    __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_ACQ_REL,  \
                                __ATOMIC_ACQUIRE)

/* Order stores for signal handlers that interrupt this thread. */
#define mprof__order_for_handlers() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Add N to a counter that only this thread writes.  Readers may see it a moment
 * late, never torn. */
static inline void mprof__bump(uint64_t *counter, uint64_t n) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    /* One instruction, which compilers do not make of the other two. */
    __asm__("addq %1, %0" : "+m"(*counter) : "er"(n) : "cc");
#else
    mprof__store_relaxed(counter, mprof__load_relaxed(counter) + n);
#endif
}

#endif
