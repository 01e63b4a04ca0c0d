/* live.c - see live.h. */
#include "monitor/heap/live.h"

#include <errno.h>
#include <time.h>

#include "monitor/base/self.h"
#include "monitor/format/process.h"

enum {
    FEWEST = 16,  /* events between a share that was taken back and the next */
    MOST = 65536, /* ... when they never last */
    LASTS = 1000 * 1000, /* ns */
    PATIENCE = 1024,     /* parts refused before all are shared out anew */
    ROUND = 64,          /* events in which who runs at the moment is seen */
    NOTE = 1024,         /* a new height is higher by one part in so many */
    NOTE_BYTES = 64,     /* ... and these */
    BEHIND = 65536       /* bytes that a clock may be behind, for each thread */
};

void mprof__live_begin(struct mprof__live *heap, struct mprof__arena *arena) {
    heap->arena = arena;
    pthread_mutex_init(&heap->lock, NULL);
    heap->round = 1;
}

void mprof__live_end(struct mprof__live *heap) {
    pthread_mutex_destroy(&heap->lock);
    mprof__finder_end(&heap->curve.sizes);
}

/* While the clock is below a power of two, so many allocations are too many for
 * a narrow counter that their lifetimes may need more than 63 bits, also with
 * as many that are spilled, and when the clock comes to twice that power
 * meanwhile. That power. */
static uint64_t bound_lifetimes(struct mprof__share *share) {
    unsigned bits = 32;
    while (bits < 60 && share->clock >> bits != 0)
        bits++;
    share->not_narrow =
        MPROF_NOT_NARROW | (UINT32_MAX & -((uint32_t)1 << (61 - bits)));
    return (uint64_t)1 << bits;
}

/* Let what THREAD allocated be in the clock of all. */
static void sync_clock(struct mprof__live *heap, struct mprof__share *share) {
    heap->clock += share->clock - share->synced;
    share->clock = share->synced = heap->clock;
    uint64_t at = bound_lifetimes(share);
    if (heap->curve_at < at)
        at = heap->curve_at;
    if (heap->members > 1 && share->clock + BEHIND < at)
        at = share->clock + BEHIND;
    mprof__store_relaxed(&share->clock_at, at);
}

/* There is no share: count what comes to the heap itself. */
static void have_nothing(struct mprof__share *share) {
    share->kind = MPROF__HAS_NONE;
    share->live = 0;
    mprof__store_relaxed(&share->most, INT64_MIN);
    share->taken = false;
}

/* Give SHARE back to HEAP, when LIVE bytes of it are used. */
static void give_back(struct mprof__live *heap, struct mprof__share *share,
                      int64_t live) {
    if (share->kind == MPROF__HAS_ALL) {
        int64_t peak = mprof__load_relaxed(&share->peak);
        heap->live = live;
        if (peak > heap->peak)
            heap->peak = peak;
        heap->all = NULL;
    } else if (share->kind == MPROF__HAS_PART) {
        heap->live -= share->part - live;
        heap->parts--;
    }
    share->kind = MPROF__HAS_NONE;
}

/* Take another thread's share, after the barrier.  That thread may be in the
 * midst of an event; then it finds out whether that was seen. */
static void take(struct mprof__live *heap, struct mprof__share *share) {
    share->taken = true;
    share->taken_at = mprof__load_acquire(&share->live);
    give_back(heap, share, share->taken_at);
    mprof__store_relaxed(&share->clock_at, 0);
}

static bool is_other_share(const struct mprof__share *s,
                           const struct mprof__share *self) {
    return s != self && s->kind != MPROF__HAS_NONE;
}

/* Who comes from now on, and with how much, decides on the next shares. */
static void begin_round(struct mprof__live *heap) {
    heap->round++;
    heap->events = heap->active = heap->refused = 0;
    heap->largest = 0;
    heap->streak = 0;
}

/* Take back all shares but SELF. */
static void take_back(struct mprof__live *heap,
                      const struct mprof__share *self) {
    struct mprof__share *first = mprof__load_acquire(&heap->shares);
    for (struct mprof__share *s = first; s != NULL; s = s->next)
        if (is_other_share(s, self))
            mprof__store_relaxed(&s->most, INT64_MIN);
    heap->slow = !mprof__threads_pass();
    for (struct mprof__share *s = first; s != NULL; s = s->next)
        if (is_other_share(s, self))
            take(heap, s);
    uint32_t wait = heap->next_wait * 2;
    if (mprof__clock(CLOCK_MONOTONIC) - heap->given > LASTS || wait < FEWEST)
        wait = FEWEST;
    heap->next_wait = heap->wait = wait < MOST ? wait : MOST;
    begin_round(heap);
}

/* LIVE is higher than ever. */
static void note(struct mprof__live *heap, struct mprof__share *share,
                 int64_t live) {
    uint64_t time =
        mprof__arena_time(heap->arena, mprof__clock(CLOCK_MONOTONIC));
    mprof__store_relaxed(&share->record->high_time, time);
    mprof__store_relaxed(&share->record->high_clock, share->clock);
    mprof__store_relaxed(&share->record->high, (uint64_t)live);
    heap->note_at = live + live / NOTE + NOTE_BYTES;
}

static void give_all(struct mprof__live *heap, struct mprof__share *share) {
    share->kind = MPROF__HAS_ALL;
    mprof__store_relaxed(&share->live, heap->live);
    mprof__store_relaxed(&share->most, heap->note_at);
    heap->all = share;
}

/* As much as is there for each thread that came and has none, and for one more,
 * if that is of use: those that do not run now need no more than they use. */
static void give_part(struct mprof__live *heap, struct mprof__share *share) {
    uint32_t others =
        heap->active > heap->parts ? heap->active - heap->parts : 1;
    int64_t left = heap->peak - heap->live, part = left / (others + 1);
    if (part < heap->largest)
        part = heap->largest;
    if (part > left) {
        heap->refused++;
        return;
    }
    share->kind = MPROF__HAS_PART;
    share->part = part;
    mprof__store_relaxed(&share->most, part);
    heap->live += part;
    heap->parts++;
}

/* Has THREAD come here often enough? */
static void consider(struct mprof__live *heap, struct mprof__share *share,
                     int64_t bytes) {
    bool had_none = heap->parts == 0;
    if (had_none && heap->events++ == ROUND && heap->streak < ROUND)
        begin_round(heap);
    heap->active += share->came != heap->round;
    share->came = heap->round;
    if (heap->last != share)
        heap->streak = 0;
    heap->last = share;
    heap->streak++;
    if (heap->largest < (bytes < 0 ? -bytes : bytes))
        heap->largest = bytes < 0 ? -bytes : bytes;
    if (heap->wait > 0)
        heap->wait--;
    if (heap->wait > 0 || heap->slow || heap->watched)
        return;
    if (had_none && heap->streak >= heap->next_wait)
        give_all(heap, share);
    else
        give_part(heap, share);
    if (had_none && share->kind != MPROF__HAS_NONE)
        heap->given = mprof__clock(CLOCK_MONOTONIC);
}

/* An event that no share has. */
static void count(struct mprof__live *heap, struct mprof__share *share,
                  int64_t bytes) {
    heap->members += !share->is_member;
    share->is_member = true;
    bool is_short =
        heap->live + bytes > heap->peak || heap->refused >= PATIENCE;
    if (heap->all != NULL || (heap->parts > 0 && is_short))
        take_back(heap, share);
    if (bytes < 0 && heap->live > heap->peak)
        heap->peak = heap->live;
    heap->live += bytes;
    if (heap->live > heap->recent_peak)
        heap->recent_peak = heap->live;
    if (heap->live > heap->note_at)
        note(heap, share, heap->live);
    sync_clock(heap, share);
    have_nothing(share);
    mprof__store_relaxed(&share->peak, heap->peak);
    consider(heap, share, bytes);
}

void mprof__live_slowly(struct mprof__share *share, int64_t bytes) {
    int saved = errno;
    struct mprof__live *heap = share->heap;
    mprof__lock(&heap->lock);
    if (share->taken && share->live == share->taken_at) {
        /* Who took it has seen the event, but noted no height. */
        if (share->taken_at > heap->note_at)
            note(heap, share, share->taken_at);
        have_nothing(share);
    } else if (share->kind == MPROF__HAS_ALL) {
        note(heap, share, share->live);
        mprof__store_relaxed(&share->most, heap->note_at);
    } else {
        give_back(heap, share, share->live - bytes);
        count(heap, share, bytes);
    }
    mprof__unlock(&heap->lock);
    /* It is the largest that this thread knows. */
    mprof__store_relaxed(&share->record->peak, (uint64_t)share->peak);
    errno = saved;
}

/* Return the live bytes, with the shares as they were just now. */
static int64_t live_now(const struct mprof__live *heap) {
    int64_t live = heap->live;
    if (heap->all != NULL)
        return mprof__load_acquire(&heap->all->live);
    const struct mprof__share *s = mprof__load_acquire(&heap->shares);
    for (; s != NULL && heap->parts > 0; s = s->next)
        if (s->kind == MPROF__HAS_PART)
            live -= s->part - mprof__load_acquire(&s->live);
    return live;
}

uint64_t mprof__live_bytes(struct mprof__live *heap) {
    mprof__lock(&heap->lock);
    int64_t live = live_now(heap);
    mprof__unlock(&heap->lock);
    return live < 0 ? 0 : (uint64_t)live;
}

void mprof__live_read(struct mprof__live *heap, bool reset,
                      struct mprof__heap_now *now) {
    mprof__lock(&heap->lock);
    if (reset && !heap->watched) {
        heap->watched = true;
        take_back(heap, NULL);
    }
    int64_t live = live_now(heap), peak = heap->peak;
    if (reset)
        heap->recent_peak = live;
    int64_t raised =
        heap->all == NULL ? 0 : mprof__load_relaxed(&heap->all->peak);
    if (raised > peak)
        peak = raised;
    if (heap->watched)
        peak = heap->recent_peak;
    *now =
        (struct mprof__heap_now){.current = live < 0 ? 0 : (uint64_t)live,
                                 .peak = (uint64_t)(live > peak ? live : peak)};
    mprof__curve_sums(&heap->curve, heap->arena, &now->total, &now->count,
                      &now->frees);
    mprof__unlock(&heap->lock);
}

void mprof__live_tick(struct mprof__share *share) {
    int saved = errno;
    struct mprof__live *heap = share->heap;
    struct mprof__curve *curve = &heap->curve;
    if (mprof__load_acquire(&curve->record) == NULL &&
        !mprof__load_relaxed(&curve->refused))
        mprof__curve_begin(curve, heap->arena);
    mprof__lock(&heap->lock);
    sync_clock(heap, share);
    if (heap->clock >= heap->curve_at && mprof__load_relaxed(&curve->refused)) {
        heap->curve_at = UINT64_MAX;
    } else if (heap->clock >= heap->curve_at) {
        int64_t live = live_now(heap);
        mprof__curve_add(curve, heap->arena, heap->clock,
                         live < 0 ? 0 : (uint64_t)live);
        heap->curve_at = curve->next;
    }
    sync_clock(heap, share);
    mprof__unlock(&heap->lock);
    errno = saved;
}

void mprof__live_enter(struct mprof__live *heap, struct mprof__share *share,
                       struct mprof_thread *record) {
    share->most = INT64_MIN;
    share->not_narrow = MPROF_NOT_NARROW;
    share->heap = heap;
    share->record = record;
    mprof__lock(&heap->lock);
    share->next = heap->shares;
    mprof__store_release(&heap->shares, share);
    mprof__unlock(&heap->lock);
}

void mprof__live_leave(struct mprof__share *share) {
    struct mprof__live *heap = share->heap;
    mprof__lock(&heap->lock);
    if (share->is_member) {
        give_back(heap, share, share->live);
        have_nothing(share);
        sync_clock(heap, share);
        heap->members--;
        share->is_member = false;
        share->last = NULL;
    }
    mprof__unlock(&heap->lock);
}
