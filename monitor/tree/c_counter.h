/* c_counter.h - what was allocated in the C heap at a node, and what became of
 * it.
 *
 *     narrow                             wide
 *     counter: allocated, freed, ...     counter: wide ---> C_WIDE: allocated,
 *        31 bits of allocations and of      stamp           freed, spilled, ...
 *        bytes, each in one word
 *
 * Of most counters all numbers are small.  Where one is not, there is a record
 * that has all of them, and the counter gets its ref in one store: whoever
 * reads the file, or finds it after SIGKILL, finds one or the other, and both
 * have the same.  Only what was allocated and spilled needs to be looked at: no
 * more than that was freed, or lived at the peak, and the lifetime is at most
 * so many clocks (bound_lifetimes() in live.c).
 *
 * A counter has one writer, and readers that may find it between two stores.
 */
#ifndef MONITOR_TREE_C_COUNTER_H
#define MONITOR_TREE_C_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/atomic.h"
#include "monitor/format/format.h"
#include "monitor/tree/lisp_counter.h"
#include "monitor/heap/live.h"

/* The numbers of COUNTER, which is wide, of the data file that begins at BASE.
 */
static inline struct mprof_c_numbers *
mprof__c_counter_wide(char *base, const struct mprof_c_counter *counter) {
    struct mprof_c_wide *wide =
        (void *)(base + (size_t)mprof_wide_ref(counter->allocated) * 8);
    return &wide->number;
}

/* Has COUNTER a C_WIDE? */
static inline bool
mprof__c_counter_is_wide(const struct mprof_c_counter *counter) {
    return (counter->allocated & MPROF_IS_WIDE) != 0;
}

/* An allocation of BYTES, at most MPROF__MOST_AT_ONCE, as a sum in a word. */
#define MPROF__MOST_AT_ONCE (((uint64_t)1 << 31) - 1)
static inline uint64_t mprof__c_one(uint64_t bytes) {
    return mprof_narrow_sum((struct mprof_count){1, bytes});
}

/* Is COUNTER narrow, and stays it for the thread with SHARE when MORE is
 * allocated, one as above? */
static inline bool
mprof__c_counter_is_quick(const struct mprof__share *share,
                          const struct mprof_c_counter *counter,
                          uint64_t more) {
    uint64_t next = counter->allocated + more;
    return __builtin_expect((next & share->not_narrow) == 0, 1);
}

/* ... when something is freed? */
static inline bool
mprof__c_counter_frees_quickly(const struct mprof__share *share,
                               const struct mprof_c_counter *counter) {
    uint64_t sums = counter->allocated | counter->spilled;
    return __builtin_expect((sums & share->not_narrow) == 0, 1);
}

/* Let COUNTER, of ARENA, have room for any numbers.  False: there is none in
 * the data file.  Takes the arena's lock; errno stays. */
bool mprof__c_counter_widen(struct mprof__arena *arena,
                            struct mprof_c_counter *counter);

/* Let COUNTER have room for one more allocation of any BYTES by the thread with
 * SHARE, and of its chain if that is SPILLED.  False: there is none.  Where
 * only a lifetime has none, that will be wrong, after 2^63 bytes times objects.
 */
bool mprof__c_counter_prepare(struct mprof__arena *arena,
                              const struct mprof__share *share,
                              struct mprof_c_counter *counter, uint64_t bytes,
                              bool spilled);

/* All that COUNTER has, of the data file or a copy that begins at BASE. */
static inline struct mprof_c_numbers
mprof__c_counter_read(const char *base, const struct mprof_c_counter *counter) {
    return mprof__c_counter_is_wide(counter)
               ? *mprof__c_counter_wide((char *)(uintptr_t)base, counter)
               : mprof_c_narrow_numbers(counter);
}

/* Read a COUNTER of any kind, of a thread of HEAP; LIVES: a Lisp thread that
 * follows live objects.  For Lisp the first half of the lifetime is the sum of
 * the ages of live objects. */
struct mprof_c_numbers mprof__counter_read(const char *base,
                                           const struct mprof_counter *counter,
                                           enum mprof_heap heap, bool lives);

/* Let COUNTER have NUMBER, of which nothing is more than it ever had: in a copy
 * that begins at BASE. */
void mprof__c_counter_set(char *base, struct mprof_c_counter *counter,
                          const struct mprof_c_numbers *number);

/* Note in COUNTER, which is narrow, its bytes at the peak, before it is changed
 * by an event that the thread with SHARE has counted. */
static inline void mprof__c_counter_touch(const struct mprof__share *share,
                                          struct mprof_c_counter *counter) {
    uint64_t peak = (uint64_t)share->peak;
    if (__builtin_expect(counter->stamp == peak, 1))
        return;
    mprof__store_relaxed(&counter->at_peak, counter->allocated +
                                                counter->spilled -
                                                counter->freed);
    mprof__order_for_handlers();
    mprof__store_relaxed(&counter->stamp, peak);
}

/* One more of BYTES in COUNTER, which has room for it; the thread with SHARE
 * has counted it among what lives.  SPILLED: the chain is in the spill. */
static inline __attribute__((always_inline)) void
mprof__c_counter_allocated(const struct mprof__share *share,
                           struct mprof_c_counter *counter, uint64_t bytes,
                           bool spilled) {
    mprof__c_counter_touch(share, counter);
    mprof__store_relaxed(&counter->lifetime,
                         (int64_t)((uint64_t)counter->lifetime - share->clock));
    mprof__bump(spilled ? &counter->spilled : &counter->allocated,
                mprof__c_one(bytes));
}

/* OBJECT of BYTES that COUNTER has is freed by the thread with SHARE, which has
 * taken it off what lives.  It is temporary if nothing happened to the heap
 * since it was allocated. */
static inline __attribute__((always_inline)) void
mprof__c_counter_freed(struct mprof__share *share,
                       struct mprof_c_counter *counter, const void *object,
                       uint64_t bytes) {
    mprof__c_counter_touch(share, counter);
    if (share->last == object)
        mprof__store_relaxed(&counter->temporary, counter->temporary + 1);
    else
        share->last = NULL;
    mprof__bump((uint64_t *)&counter->lifetime, share->clock);
    mprof__bump(&counter->freed, mprof__c_one(bytes));
}

/* The same three for one that is wide, of the data file that begins at BASE:
 * the numbers that it has, */
static inline struct mprof_c_numbers *
mprof__c_wide_touch(char *base, const struct mprof__share *share,
                    const struct mprof_c_counter *counter) {
    struct mprof_c_numbers *n = mprof__c_counter_wide(base, counter);
    uint64_t peak = (uint64_t)share->peak;
    if (__builtin_expect(n->stamp == peak, 1))
        return n;
    const struct mprof_count *own = &n->allocated, *spilled = &n->spilled;
    mprof__store_relaxed(&n->at_peak.allocs,
                         own->allocs + spilled->allocs - n->freed.allocs);
    mprof__store_relaxed(&n->at_peak.bytes,
                         own->bytes + spilled->bytes - n->freed.bytes);
    mprof__order_for_handlers();
    mprof__store_relaxed(&n->stamp, peak);
    return n;
}

/* ... an allocation, */
static inline __attribute__((always_inline)) void
mprof__c_wide_allocated(char *base, const struct mprof__share *share,
                        struct mprof_c_counter *counter, uint64_t bytes,
                        bool spilled) {
    struct mprof_c_numbers *n = mprof__c_wide_touch(base, share, counter);
    mprof__sum_subtract(n->lifetime, share->clock);
    mprof__count(spilled ? &n->spilled : &n->allocated, bytes);
}

/* ... and a free. */
static inline __attribute__((always_inline)) void
mprof__c_wide_freed(char *base, struct mprof__share *share,
                    struct mprof_c_counter *counter, const void *object,
                    uint64_t bytes) {
    struct mprof_c_numbers *n = mprof__c_wide_touch(base, share, counter);
    if (share->last == object)
        mprof__bump(&n->temporary, 1);
    else
        share->last = NULL;
    mprof__sum_add(n->lifetime, share->clock);
    mprof__count(&n->freed, bytes);
}

/* The same for any COUNTER, of ARENA.  For an allocation it was prepared; for
 * a free it becomes wide if it has to be. */
void mprof__c_counter_add(const struct mprof__arena *arena,
                          const struct mprof__share *share,
                          struct mprof_c_counter *counter, uint64_t bytes,
                          bool spilled);
void mprof__c_counter_free(struct mprof__arena *arena,
                           struct mprof__share *share,
                           struct mprof_c_counter *counter, const void *object,
                           uint64_t bytes);

#endif
