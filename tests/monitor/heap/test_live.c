/* What lives in the C heap, and its peak: threads that are struck by signals at
 * any time, and a checker of orders.
 *
 * Each event of a thread has two times, from before and after it.  What the
 * data say of the peak is right if there is an order of all events in which one
 * that ended before another began comes first, and the heap was as high as the
 * peak then and never higher.  What lived at the peak tells how far each thread
 * was; so it is looked at
 * - whether no event after that ended before one began that is not after it;
 * - whether the sum of all these events is the peak;
 * - whether at any time the heap must have been higher.
 */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "monitor/base/atomic.h"
#include "monitor/include/mprof.h"
#include "monitor/tree/c_counter.h"
#include "monitor/record/heap_events.h"
#include "monitor/record/session.h"
#include "monitor/record/thread.h"
#include "monitor/unwind/arch.h"

enum { THREADS = 5, EVENTS = 500, SLOTS = 16, LETTERS = 4, ROUNDS = 150 };

struct event {
    uint64_t begins, ends;
    int64_t bytes;
};

struct worker {
    unsigned number;
    uint64_t seed;
    pthread_t id;
    struct event events[EVENTS + SLOTS];
    size_t count;
    size_t objects; /* made so far */
    struct {
        const void *at;
        int64_t bytes;
    } slots[SLOTS];
    mprof_ref ref; /* THREAD */
};

static struct worker workers[THREADS];
static uint64_t time_now;            /* atomic */
static const void *letters[LETTERS]; /* atomic: objects for who comes by */
static bool is_over;                 /* atomic */
static unsigned scene;               /* what the threads do in this round */
/* No thread takes over the record of one that has ended. */
static pthread_barrier_t all_done;

static uint64_t chance(struct worker *w) {
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return w->seed >> 33;
}

/* How large an object is, its address tells. */
static const void *object(struct worker *w, int64_t bytes) {
    return (const void *)(uintptr_t)(0x100000000000 +
                                     ((uint64_t)w->number << 42) +
                                     ((uint64_t)w->objects++ << 28) +
                                     (uint64_t)bytes * 16);
}

static int64_t bytes_of(const void *at) {
    return (int64_t)((uintptr_t)at % (1 << 28) / 16);
}

/* What the data call this thread, which has recorded something. */
static mprof_ref own_ref(void) {
    const char *own =
        (const char *)mprof__self->heap[MPROF_C_HEAP].thread->record;
    return (mprof_ref)((size_t)(own - (char *)mprof__tracked()->arena.base) /
                       8);
}

static void record(struct worker *w, uint64_t begins, int64_t bytes) {
    w->events[w->count++] =
        (struct event){begins, mprof__add_ordered(&time_now, 1), bytes};
}

static __attribute__((noinline, optimize("no-omit-frame-pointer"))) void
allocate_here(const void *at, int64_t bytes) {
    mprof__c_allocated(at, (uint64_t)bytes, __builtin_frame_address(0));
    __asm__ volatile("" ::: "memory");
}

static __attribute__((noinline, optimize("no-omit-frame-pointer"))) void
allocate_there(const void *at, int64_t bytes) {
    mprof__c_allocated(at, (uint64_t)bytes, __builtin_frame_address(0));
    __asm__ volatile("" ::: "memory");
}

/* All sizes differ, and so do their sums. */
static const void *allocate(struct worker *w) {
    int64_t bytes = 1 + (int64_t)(chance(w) % 100000);
    if (scene == 1)
        bytes = 1000 + (int64_t)(chance(w) % 8);
    const void *at = object(w, bytes);
    uint64_t begins = mprof__add_ordered(&time_now, 1);
    (chance(w) % 2 ? allocate_here : allocate_there)(at, bytes);
    record(w, begins, bytes);
    return at;
}

static void release(struct worker *w, const void *at) {
    uint64_t begins = mprof__add_ordered(&time_now, 1);
    mprof__c_release(at);
    record(w, begins, -bytes_of(at));
}

static void step(struct worker *w) {
    size_t i = chance(w) % (scene == 1 ? 1 : SLOTS);
    if (w->slots[i].at != NULL) {
        release(w, w->slots[i].at);
        w->slots[i].at = NULL;
    } else if (chance(w) % 8 == 0) {
        const void **letter = &letters[chance(w) % LETTERS];
        const void *mine = allocate(w);
        const void *found = mprof__exchange(letter, mine);
        if (found != NULL)
            release(w, found);
    } else {
        w->slots[i].at = allocate(w);
    }
}

/* 0: as they come.  1: one object each, again and again.  2: one thread does
 * nearly all.  3: all grow, then shrink. */
static void *work(void *data) {
    struct worker *w = data;
    size_t events = scene == 2 && w->number > 0 ? EVENTS / 20 : EVENTS;
    while (w->count + 2 < events) {
        if (scene == 2 && w->number > 0)
            usleep((useconds_t)(chance(w) % 100));
        step(w);
    }
    for (size_t i = 0; i < SLOTS; i++)
        if (w->slots[i].at != NULL)
            release(w, w->slots[i].at);
    w->ref = own_ref();
    pthread_barrier_wait(&all_done);
    return NULL;
}

static void wait_a_little(int signal) {
    static uint64_t times;
    struct timespec pause = {0, (long)(mprof__add_relaxed(&times, 7919) % 200) *
                                    1000};
    (void)signal;
    nanosleep(&pause, NULL);
}

/* Strike a thread, again and again. */
static void *strike(void *data) {
    struct worker *w = data;
    while (!mprof__load_relaxed(&is_over)) {
        pthread_kill(workers[chance(w) % THREADS].id, SIGUSR1);
        usleep((useconds_t)(chance(w) % 100));
    }
    return NULL;
}

static struct worker striker;

static void run_round(unsigned round) {
    memset(workers, 0, sizeof workers);
    is_over = false;
    scene = round % 4;
    pthread_barrier_init(&all_done, NULL, THREADS);
    /* The striker must not strike who is gone: they are joined after it. */
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].seed = round * 1000 + i;
        assert_int_equal(
            pthread_create(&workers[i].id, NULL, work, &workers[i]), 0);
    }
    assert_int_equal(pthread_create(&striker.id, NULL, strike, &striker), 0);
    usleep(20000);
    mprof__store_relaxed(&is_over, true);
    pthread_join(striker.id, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].id, NULL);
    pthread_barrier_destroy(&all_done);
}

/* What each thread, by its ref, did up to the peak. */
static struct {
    mprof_ref thread;
    int64_t sum;
} parts[THREADS + 1];
static uint64_t peak, high;

static void add_part(mprof_ref thread, uint64_t bytes) {
    size_t i = 0;
    while (parts[i].thread != 0 && parts[i].thread != thread)
        i++;
    assert_true(i < THREADS + 1);
    parts[i].thread = thread;
    parts[i].sum += (int64_t)bytes;
}

static void add_counters(const struct mprof_block *block) {
    const struct mprof_c_counter *c = (const void *)(block + 1);
    const char *base = mprof__tracked()->arena.base;
    for (uint32_t i = 0; i < block->count; i++, c++) {
        const struct mprof_c_numbers n = mprof__c_counter_read(base, c);
        add_part(block->thread, n.stamp == peak
                                    ? n.at_peak.bytes
                                    : n.allocated.bytes - n.freed.bytes);
    }
}

static void each_record(uint32_t type, void (*visit)(const void *record)) {
    struct mprof__session *session = mprof__tracked();
    uint64_t used = mprof__arena_header(&session->arena)->used;
    const struct mprof_record *record;
    for (uint64_t at = MPROF_HEADER_BYTES; at < used; at += record->bytes) {
        record = (const void *)(session->arena.base + at);
        if (record->type == type)
            visit(record);
    }
}

static void see_thread(const void *record) {
    const struct mprof_thread *thread = record;
    if (thread->peak > peak)
        peak = thread->peak;
    if (thread->high > high)
        high = thread->high;
}

static void see_counters(const void *record) {
    add_counters(record);
}

static void see_freed(const void *record) {
    const struct mprof_freed *f = record;
    add_part(f->thread,
             -(f->stamp == peak ? f->at_peak.bytes : f->freed.bytes));
}

struct moment {
    uint64_t time;
    const struct event *event;
    bool ends;
};

static int compare_moments(const void *a, const void *b) {
    const struct moment *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* The heap must have been as high as this, whatever the order. */
static int64_t least_peak(void) {
    static struct moment moments[2 * THREADS * (EVENTS + SLOTS)];
    size_t n = 0;
    int64_t least = 0, highest = 0;
    for (unsigned i = 0; i < THREADS; i++)
        for (size_t k = 0; k < workers[i].count; k++) {
            const struct event *e = &workers[i].events[k];
            moments[n++] = (struct moment){e->begins, e, false};
            moments[n++] = (struct moment){e->ends, e, true};
        }
    qsort(moments, n, sizeof *moments, compare_moments);
    /* What is freed may be gone when that begins; what is allocated is there
     * when it has ended. */
    for (size_t i = 0; i < n; i++) {
        int64_t bytes = moments[i].event->bytes;
        if (moments[i].ends == (bytes > 0))
            least += bytes;
        if (least > highest)
            highest = least;
    }
    return highest;
}

/* Is there a state of W that its part agrees with, which it has reached by
 * events that began at LAST_BEGUN at the latest, and left by one that ended
 * behind it? */
static bool fits(const struct worker *w, int64_t part, uint64_t last_begun) {
    int64_t sum = 0;
    for (size_t n = 0; n <= w->count; n++) {
        if (sum == part && (n == w->count || w->events[n].ends > last_begun))
            return true;
        if (n == w->count || w->events[n].begins > last_begun)
            return false;
        sum += w->events[n].bytes;
    }
    return false;
}

static int64_t part_of(const struct worker *w) {
    for (size_t p = 0; p <= THREADS; p++)
        if (parts[p].thread == w->ref)
            return parts[p].sum;
    return 0;
}

/* One event is the last that began before the peak: with one of them all
 * workers' parts fit, if there is an order. */
static bool have_order(void) {
    for (unsigned k = 0; k < THREADS; k++)
        for (size_t i = 0; i < workers[k].count; i++) {
            uint64_t last_begun = workers[k].events[i].begins;
            unsigned n = 0;
            while (n < THREADS &&
                   fits(&workers[n], part_of(&workers[n]), last_begun))
                n++;
            if (n == THREADS)
                return true;
        }
    return false;
}

static void check_round(void) {
    int64_t sum = 0;

    peak = high = 0;
    memset(parts, 0, sizeof parts);
    each_record(MPROF_THREAD, see_thread);
    each_record(MPROF_COUNTERS, see_counters);
    each_record(MPROF_FREED, see_freed);
    for (unsigned i = 0; i < THREADS; i++)
        sum += part_of(&workers[i]);
    assert_int_equal(sum, peak);
    assert_true(high + high / 1024 + 64 >= peak);
    assert_true(high <= peak);
    assert_true((int64_t)peak >= least_peak());
    assert_true(have_order());
}

static void orders_of_threads(void **state) {
    const char *wanted = getenv("MPROF_ROUNDS");
    unsigned rounds = wanted == NULL ? ROUNDS : (unsigned)atoi(wanted);
    struct sigaction action = {.sa_handler = wait_a_little,
                               .sa_flags = SA_RESTART};
    (void)state;
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    for (unsigned round = 0; round < rounds; round++) {
        assert_int_equal(mprof_start(NULL), 0);
        run_round(round);
        for (size_t i = 0; i < LETTERS; i++)
            letters[i] = NULL;
        check_round();
        assert_int_equal(mprof_reset() || mprof_stop() || mprof_reset(), 0);
    }
}

static void *release_only(void *at) {
    mprof__c_release(at);
    return NULL;
}

/* Each object is freed by a thread that never allocates. */
static void threads_that_free(void **state) {
    const void *base = (const void *)(uintptr_t)0x200000000000;
    pthread_t id;
    (void)state;
    assert_int_equal(mprof_start(NULL), 0);
    for (int i = 0; i < 10; i++) {
        allocate_here(base, 1000);
        assert_int_equal(mprof_heap_current(), 1000);
        pthread_create(&id, NULL, release_only, (void *)base);
        pthread_join(id, NULL);
        assert_int_equal(mprof_heap_current(), 0);
    }
    assert_int_equal(mprof_heap_peak(), 1000);
    assert_int_equal(mprof_reset() || mprof_stop() || mprof_reset(), 0);
}

/* This thread has all of the heap, and is in the midst of an allocation when
 * another one takes that back: the height is noted nevertheless. */
static void height_that_another_saw(void **state) {
    const void *base = (const void *)(uintptr_t)0x200000000000;
    pthread_t id;
    (void)state;
    assert_int_equal(mprof_start(NULL), 0);
    for (int i = 0; i < 100; i++) {
        allocate_here(base, 1000);
        mprof__c_release(base);
    }
    allocate_here(base, 1000);
    struct mprof__share *share = &mprof__self->heap[MPROF_C_HEAP].thread->share;
    assert_int_equal(share->kind, MPROF__HAS_ALL);
    assert_false(mprof__live_raise(share, 100000));
    pthread_create(&id, NULL, release_only, (void *)base);
    pthread_join(id, NULL);
    assert_true(share->taken);
    mprof__live_slowly(share, 100000);
    assert_int_equal(mprof_heap_peak(), 101000);
    assert_int_equal(share->record->high, 101000);
    assert_int_equal(mprof_reset() || mprof_stop() || mprof_reset(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_free),
        cmocka_unit_test(height_that_another_saw),
        cmocka_unit_test(orders_of_threads)};
    if (mprof_set_heaps(MPROF_HEAP_MALLOC) != 0)
        return 1;
    return check_result(cmocka_run_group_tests(tests, NULL, NULL));
}
