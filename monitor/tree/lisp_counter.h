/* lisp_counter.h - what was allocated at a node of the Lisp heap, of one type.
 *
 *     narrow                     wide
 *     counter: sum               counter: sum ---> WIDE: allocations, bytes
 *        bytes, allocations
 *
 * There are many counters, and most have small numbers: both are in one word,
 * until one of them needs more than 31 bits.  Then a record gets both, and the
 * word becomes its ref, in one store.  So a reader of the file finds one or the
 * other, also after SIGKILL.
 *
 * Counters of threads that follow live objects have separate numbers instead.
 */
#ifndef MONITOR_TREE_LISP_COUNTER_H
#define MONITOR_TREE_LISP_COUNTER_H

#include <stdbool.h>

#include "monitor/base/atomic.h"
#include "monitor/format/format.h"
#include "monitor/tree/trees.h"

/* Larger numbers are not added to a word: two sums could come into one. */
#define MPROF__MOST_ADDED (((uint64_t)1 << 30) - 1)

/* Counters have one writer. */
static inline void mprof__count_more(struct mprof_count *count,
                                     struct mprof_count n) {
    mprof__bump(&count->allocs, n.allocs);
    mprof__bump(&count->bytes, n.bytes);
}

static inline void mprof__count(struct mprof_count *count, uint64_t bytes) {
    mprof__count_more(count, (struct mprof_count){1, bytes});
}

/* N more in COUNTER, of the data file that begins at BASE.  False: it has no
 * room for that, and has what it had. */
static inline __attribute__((always_inline)) bool
mprof__lisp_counter_add(char *base, struct mprof_lisp_counter *counter,
                        struct mprof_count n) {
    uint64_t sum = mprof__load_relaxed(&counter->sum);
    uint64_t next = sum + mprof_narrow_sum(n);
    if (__builtin_expect(n.bytes <= MPROF__MOST_ADDED &&
                             n.allocs <= MPROF__MOST_ADDED &&
                             (next & MPROF_NOT_NARROW) == 0,
                         1)) {
        mprof__store_relaxed(&counter->sum, next);
        return true;
    }
    if (!(sum & MPROF_IS_WIDE))
        return false;
    struct mprof_wide *wide = (void *)(base + (size_t)mprof_wide_ref(sum) * 8);
    mprof__count_more(&wide->allocated, n);
    return true;
}

/* A record of TYPE with the NUMBERS of COUNTER, of BYTES: its ref, which
 * COUNTER is to become in one store; or 0: there is no room.  Takes the
 * arena's lock; errno stays. */
mprof_ref mprof__make_wide(struct mprof__arena *arena, uint32_t type,
                           const void *counter, const void *numbers,
                           size_t bytes);

/* Let COUNTER have room for any N, and N more.  False: there is none in the
 * data file, and it has what it had.  Takes the arena's lock; errno stays. */
bool mprof__lisp_counter_widen(struct mprof__trees *trees,
                               struct mprof_lisp_counter *counter,
                               struct mprof_count n);

/* Read COUNTER, of the data file or a copy that begins at BASE. */
static inline struct mprof_count
mprof__lisp_counter_read(const void *base,
                         const struct mprof_lisp_counter *counter) {
    uint64_t sum = mprof__load_relaxed(&counter->sum);
    if (!(sum & MPROF_IS_WIDE))
        return mprof_narrow_count(sum);
    const struct mprof_wide *wide =
        (const void *)((const char *)base + (size_t)mprof_wide_ref(sum) * 8);
    return wide->allocated;
}

/* Let COUNTER have N, which is not more than it ever had: in a copy. */
void mprof__lisp_counter_set(void *copy, struct mprof_lisp_counter *counter,
                             struct mprof_count n);

/* N more in a counter of THREAD, of Lisp: that is in its tree or in its spill,
 * and of either kind.  False: there is no room. */
bool mprof__counter_add(struct mprof__trees *trees,
                        struct mprof_counter *counter, bool in_spill,
                        struct mprof_count n);

#endif
