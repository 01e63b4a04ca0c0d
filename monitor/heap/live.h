/* live.h - how much of the C heap lives, how high that went, and what lived
 * then.
 *
 * Each event of the heap adds to what lives or takes from it, and the peak is
 * the most that this ever was, in an order of the events that agrees with each
 * thread's own and with time.  It is raised when something is freed at a new
 * height.  So it only grows, and its value identifies a moment.  A counter that
 * was not changed since the peak was raised notes its numbers before it
 * changes.  In the end each counter has the bytes that were live at the peak:
 * those that it noted then, or those that it has had ever since.
 *
 *     mprof__c_allocated(), mprof__c_release()     c_quick.h
 *       |  the thread's own share, a line of the cache that it alone writes
 *       | may be ALL: the live bytes; no other thread asks now
 *       | or a PART: so many bytes that whatever others do the peak cannot be
 *       |            reached
 *       | more than that, or another thread took it back
 *     mprof__live_slowly()                         live.c
 *          one sum, under a lock; shares are given and taken back
 *
 * A share is taken back without waiting for its thread: `most` becomes
 * INT64_MIN, all threads pass a barrier (membarrier), and then `live` is read.
 * A thread stores what lives, then looks at `most`; so an event is either in
 * the number that was read, or its thread sees that the share is gone.
 */
#ifndef MONITOR_HEAP_LIVE_H
#define MONITOR_HEAP_LIVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/atomic.h"
#include "monitor/file/arena.h"
#include "monitor/format/format.h"
#include "monitor/heap/curve.h"

enum { MPROF__HAS_NONE, MPROF__HAS_PART, MPROF__HAS_ALL };

/* The part of the heap that a thread changes without a lock.  The first cache
 * line is on the path of each event. */
struct mprof__share {
    int64_t live;        /* bytes: all, or of its part; atomic */
    int64_t most;        /* that `live` may be without asking; atomic */
    int64_t peak;        /* bytes, when it was raised last; atomic */
    uint64_t clock;      /* bytes allocated so far, by all threads */
    uint64_t clock_at;   /* the clock at which to call mprof__live_tick();
                            atomic */
    const void *last;    /* the object that the last event allocated, or NULL */
    uint64_t not_narrow; /* bits that the sums of a narrow counter have not, as
                          * the lifetime of so many would need more than a word
                          * with this clock */
    /* Under the lock: */
    int kind;
    bool is_member; /* it had events */
    uint32_t came;  /* in which round its last event came to the heap */
    bool taken;     /* back by another, when `live` was `taken_at` */
    int64_t taken_at;
    int64_t part;    /* PART: bytes of it */
    uint64_t synced; /* its clock, as far as the heap's includes it */
    struct mprof__live *heap;
    struct mprof_thread *record; /* of its thread */
    struct mprof__share *next;   /* in the heap's list */
} __attribute__((aligned(64)));

/* The heap of a recording; all under the lock. */
struct mprof__live {
    pthread_mutex_t lock; /* the last in the order of locks */
    int64_t live;         /* without the share that is ALL; parts as if used */
    int64_t peak;
    int64_t note_at;                 /* height whose time is to be noted */
    uint64_t clock, curve_at;        /* when the curve has its next point */
    struct mprof__arena *arena;      /* the data file */
    struct mprof__curve curve;       /* it over time */
    struct mprof__share *shares;     /* list, one for each thread; atomic */
    struct mprof__share *all;        /* who has it, or NULL */
    uint32_t members;                /* threads that had events */
    uint32_t parts, active;          /* of these, in this round: */
    uint32_t round, events, refused; /* since the shares were taken back */
    /* When a share is given: after so many events that came here, for ALL of
     * one thread. */
    uint32_t wait, next_wait, streak;
    const struct mprof__share *last; /* who came here */
    int64_t largest;                 /* of these events */
    bool watched;        /* no shares: every event is looked at, for */
    int64_t recent_peak; /* the peak since mprof_heap_reset_peak() */
    uint64_t given;      /* ns: when there was no share before */
    bool slow;           /* it takes too long to take one back */
};

/* Zeroed memory becomes a heap that is recorded in ARENA. */
void mprof__live_begin(struct mprof__live *heap, struct mprof__arena *arena);
void mprof__live_end(struct mprof__live *heap);

/* An event of BYTES, negative for a free, which SHARE has already, and must not
 * without asking.  errno stays. */
void mprof__live_slowly(struct mprof__share *share, int64_t bytes);

/* The numbers of a heap.  mprof__live_read() stores HEAP's present ones in
 * *NOW; with RESET its peak counts from now on. */
struct mprof__heap_now {
    uint64_t current, peak; /* bytes */
    uint64_t total, count;  /* bytes, allocations */
    uint64_t frees;
};
void mprof__live_read(struct mprof__live *heap, bool reset,
                      struct mprof__heap_now *now);

/* Return the live bytes of HEAP. */
uint64_t mprof__live_bytes(struct mprof__live *heap);

/* The clock of SHARE came to `clock_at`. */
void mprof__live_tick(struct mprof__share *share);

/* SHARE, zeroed, of a new thread with RECORD, is one of HEAP's.  It has nothing
 * for itself: also a free, with which the thread may begin, is an event that it
 * must ask for. */
void mprof__live_enter(struct mprof__live *heap, struct mprof__share *share,
                       struct mprof_thread *record);

/* The thread of SHARE ends: it gives back what it has. */
void mprof__live_leave(struct mprof__share *share);

/* A sum of 128 bits that one thread writes: the lower half, which has a sign,
 * and the times that it went past its ends. */
static inline void mprof__sum_add(uint64_t sum[2], uint64_t n) {
    int64_t low = (int64_t)mprof__load_relaxed(&sum[0]);
    if (__builtin_expect(__builtin_add_overflow(low, (int64_t)n, &low), 0))
        mprof__bump(&sum[1], 1);
    mprof__store_relaxed(&sum[0], (uint64_t)low);
}

static inline void mprof__sum_subtract(uint64_t sum[2], uint64_t n) {
    int64_t low = (int64_t)mprof__load_relaxed(&sum[0]);
    if (__builtin_expect(__builtin_sub_overflow(low, (int64_t)n, &low), 0))
        mprof__bump(&sum[1], (uint64_t)-1);
    mprof__store_relaxed(&sum[0], (uint64_t)low);
}

/* The thread of SHARE has allocated BYTES: the first step.  False: call
 * mprof__live_slowly() before the next one, which is mprof__live_pass(). */
static inline bool mprof__live_raise(struct mprof__share *share,
                                     uint64_t bytes) {
    int64_t live = share->live + (int64_t)bytes;
    mprof__store_release(&share->live, live);
    mprof__order_for_handlers(); /* and others: see above */
    return __builtin_expect(live <= mprof__glance(&share->most), 1);
}

/* Does nothing happen until the clock is at CLOCK? */
static inline bool mprof__live_passes(const struct mprof__share *share,
                                      uint64_t clock) {
    return __builtin_expect(clock < mprof__glance(&share->clock_at), 1);
}

/* They are at OBJECT, and the clock is at CLOCK: the last step. */
static inline void mprof__live_pass(struct mprof__share *share,
                                    const void *object, uint64_t clock) {
    share->clock = clock;
    share->last = object;
}

/* The same, whatever happens. */
static inline void mprof__live_pass_on(struct mprof__share *share,
                                       const void *object, uint64_t bytes) {
    mprof__live_pass(share, object, share->clock + bytes);
    if (!mprof__live_passes(share, share->clock))
        mprof__live_tick(share);
}

/* All of them. */
static inline void mprof__live_add(struct mprof__share *share,
                                   const void *object, uint64_t bytes) {
    if (!mprof__live_raise(share, bytes))
        mprof__live_slowly(share, (int64_t)bytes);
    mprof__live_pass_on(share, object, bytes);
}

/* BYTES are freed.  False: call mprof__live_slowly(). */
static inline bool mprof__live_lower(struct mprof__share *share,
                                     uint64_t bytes) {
    int64_t live = share->live;
    if (__builtin_expect(live > share->peak, 0)) {
        mprof__store_relaxed(&share->peak, live);
        mprof__store_relaxed(&share->record->peak, (uint64_t)live);
    }
    live -= (int64_t)bytes;
    mprof__store_release(&share->live, live);
    mprof__order_for_handlers();
    return __builtin_expect(live <= mprof__glance(&share->most), 1);
}

/* ... and that, too. */
static inline void mprof__live_subtract(struct mprof__share *share,
                                        uint64_t bytes) {
    if (!mprof__live_lower(share, bytes))
        mprof__live_slowly(share, -(int64_t)bytes);
}

#endif
