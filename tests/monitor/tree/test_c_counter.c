/* The counters of the C heap against sums of 64 and 128 bits, where words are
 * enough and where they are not. */
#include "tests/support/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/made.h"
#include "monitor/tree/c_counter.h"
#include "monitor/record/find_counter.h"
#include "monitor/record/thread.h"

static struct mprof__session *session;
static struct mprof__thread *thread;
static struct mprof__frame frame;
static struct mprof__share *share;

static int begin(void **state) {
    (void)state;
    session = made_session(1 << 20);
    thread = made_thread(session, MPROF_C_HEAP);
    thread->chain.frames = &frame;
    share = &thread->share;
    return 0;
}

static int end(void **state) {
    (void)state;
    made_end(session, thread);
    return 0;
}

/* What a counter must have: counted by other means. */
struct model {
    struct mprof_count allocated, spilled, freed, at_peak;
    uint64_t stamp, temporary;
    __int128 lifetime;
};

/* A counter that is in no tree, as its arena has it; and whose it is. */
static struct mprof_c_counter *make(void) {
    struct mprof__blocks blocks = {.arena = &session->arena,
                                   .thread = thread->ref,
                                   .type = MPROF_COUNTERS,
                                   .bytes = sizeof(struct mprof_c_counter)};
    struct mprof_c_counter *counter =
        mprof__block_next(&blocks, MPROF__FOR_COUNTERS);
    assert_non_null(counter);
    memset(counter, 0, sizeof *counter);
    mprof__block_publish(&blocks, counter);
    return counter;
}

static void check_count(struct mprof_count has, struct mprof_count must) {
    assert_int_equal(has.allocs, must.allocs);
    assert_int_equal(has.bytes, must.bytes);
}

static void check(const struct mprof_c_counter *counter,
                  const struct model *m) {
    struct mprof_c_numbers n =
        mprof__c_counter_read(session->arena.base, counter);
    check_count(n.allocated, m->allocated);
    check_count(n.spilled, m->spilled);
    check_count(n.freed, m->freed);
    check_count(n.at_peak, m->at_peak);
    assert_int_equal(n.temporary, m->temporary);
    assert_int_equal(n.stamp, m->stamp);
    unsigned __int128 high = n.lifetime[1];
    __int128 low = (int64_t)n.lifetime[0];
    __int128 lifetime = (__int128)((high << 64) + (unsigned __int128)low);
    assert_true(lifetime == m->lifetime);
}

static void add(struct mprof_count *sum, uint64_t bytes) {
    sum->allocs++;
    sum->bytes += bytes;
}

static void touch(struct model *m) {
    if (m->stamp == (uint64_t)share->peak)
        return;
    m->at_peak = (struct mprof_count){
        m->allocated.allocs + m->spilled.allocs - m->freed.allocs,
        m->allocated.bytes + m->spilled.bytes - m->freed.bytes};
    m->stamp = (uint64_t)share->peak;
}

static void allocate(struct mprof_c_counter *counter, struct model *m,
                     uint64_t bytes, bool spilled) {
    touch(m);
    m->lifetime -= share->clock;
    add(spilled ? &m->spilled : &m->allocated, bytes);
    assert_true(mprof__c_counter_prepare(&session->arena, share, counter, bytes,
                                         spilled));
    mprof__c_counter_add(&session->arena, share, counter, bytes, spilled);
    check(counter, m);
}

static void release(struct mprof_c_counter *counter, struct model *m,
                    const void *object, uint64_t bytes) {
    touch(m);
    m->temporary += share->last == object;
    m->lifetime += share->clock;
    add(&m->freed, bytes);
    mprof__c_counter_free(&session->arena, share, counter, object, bytes);
    check(counter, m);
}

/* As live.c does when the clock comes to `clock_at`. */
static void set_clock(uint64_t clock) {
    share->clock = clock;
    mprof__live_tick(&thread->share);
    assert_int_equal(share->clock, clock);
    /* It comes to the next power of two with notice. */
    assert_true(share->clock_at > clock);
    assert_true(share->clock_at <= (uint64_t)1 << 32 ||
                share->clock_at <= 2 * clock);
}

/* As far as a word goes, and no further. */
static void ends_where_a_word_ends(void **state) {
    (void)state;
    const uint64_t most = MPROF__MOST_AT_ONCE;
    for (uint64_t first = 0; first < 3; first++) {
        struct mprof_c_counter *counter = make();
        struct model m = {.stamp = 0};
        allocate(counter, &m, first, false);
        allocate(counter, &m, most - first, false);
        assert_false(mprof__c_counter_is_wide(counter));
        allocate(counter, &m, 0, false);
        assert_false(mprof__c_counter_is_wide(counter));
        release(counter, &m, NULL, most - first);
        allocate(counter, &m, 1, false);
        assert_true(mprof__c_counter_is_wide(counter));
        release(counter, &m, NULL, first);
    }
}

/* What is too much for a word at once. */
static void takes_any_size(void **state) {
    (void)state;
    for (unsigned bit = 29; bit < 63; bit++) {
        struct mprof_c_counter *counter = make();
        struct model m = {.stamp = 0};
        allocate(counter, &m, 40, false);
        allocate(counter, &m, (uint64_t)1 << bit, false);
        assert_int_equal(mprof__c_counter_is_wide(counter), bit > 30);
        release(counter, &m, counter, (uint64_t)1 << bit);
        release(counter, &m, NULL, 40);
    }
}

/* Chains in the spill have a word of their own, and what is freed may be of
 * both. */
static void what_is_spilled_is_told_apart(void **state) {
    (void)state;
    const uint64_t most = MPROF__MOST_AT_ONCE;
    for (unsigned first = 0; first < 2; first++) {
        struct mprof_c_counter *counter = make();
        struct model m = {.stamp = 0};
        allocate(counter, &m, most, first != 0);
        allocate(counter, &m, most, first == 0);
        assert_false(mprof__c_counter_is_wide(counter));
        share->peak++;
        release(counter, &m, NULL, most);
        release(counter, &m, NULL, most);
        assert_false(mprof__c_counter_is_wide(counter));
        allocate(counter, &m, 1, first != 0);
        assert_true(mprof__c_counter_is_wide(counter));
        allocate(counter, &m, 1, first == 0);
    }
}

/* COUNTER has as many, allocated or SPILLED just now, as it may have narrow, or
 * more. */
static struct model have(struct mprof_c_counter *counter, uint64_t many,
                         bool spilled) {
    struct mprof_count count = {many, many};
    struct model m = {.lifetime = -(__int128)share->clock * many};
    struct mprof_c_numbers n = {.lifetime[0] = (uint64_t)m.lifetime};
    __int128 rest = m.lifetime - (int64_t)n.lifetime[0];
    n.lifetime[1] = (uint64_t)(rest >> 64);
    *(spilled ? &m.spilled : &m.allocated) = count;
    *(spilled ? &n.spilled : &n.allocated) = count;
    if ((mprof_narrow_sum(count) & share->not_narrow) != 0)
        assert_true(mprof__c_counter_widen(&session->arena, counter));
    mprof__c_counter_set(session->arena.base, counter, &n);
    check(counter, &m);
    return m;
}

/* However long objects live, and however many: a word has their lifetime, or it
 * is in two. */
static void check_lifetime(unsigned bits, uint64_t many, bool spilled) {
    struct mprof_c_counter *counter = make();
    uint64_t clock = ((uint64_t)1 << bits) - 1;
    set_clock(clock);
    struct model m = have(counter, many, spilled);
    allocate(counter, &m, 1, spilled);
    set_clock(clock * 2);
    allocate(counter, &m, 1, !spilled);
    /* All are freed much later. */
    for (unsigned i = 0; i < 3; i++) {
        set_clock(share->clock * (i == 1 ? 256 : 1));
        release(counter, &m, NULL, 1);
    }
    if (mprof__c_counter_is_wide(counter))
        return;
    /* As so many frees would find it. */
    assert_true((unsigned __int128)many * share->clock < (unsigned __int128)1
                                                             << 63);
}

static void lifetimes_of_any_length(void **state) {
    (void)state;
    for (unsigned bits = 20; bits < 50; bits++)
        for (unsigned shift = 0; shift < 31; shift++)
            for (unsigned spilled = 0; spilled < 2; spilled++) {
                check_lifetime(bits, (uint64_t)1 << shift, spilled != 0);
                if (!mprof__arena_has_room(&session->arena,
                                           MPROF__FOR_COUNTERS)) {
                    end(NULL);
                    begin(NULL);
                }
            }
}

static uint64_t random_number(void) {
    uint64_t n = (uint64_t)random() << 31 | (uint64_t)random();
    return n >> random() % 62;
}

static void counts_as_large_numbers_do(void **state) {
    enum { OBJECTS = 40 };
    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        struct mprof_c_counter *counter = make();
        struct model m = {.stamp = 0};
        uint64_t bytes[OBJECTS] = {0};
        unsigned count = 0;
        set_clock(random_number() >> 4);
        while (count < OBJECTS) {
            if (random() % 3 == 0)
                share->peak += random_number() >> 24;
            set_clock(share->clock + (random_number() >> 20));
            share->last = random() % 2 == 0 ? &bytes[count] : NULL;
            if (random() % 3 > 0 || count == 0) {
                bytes[count] = random_number() >> random() % 50;
                allocate(counter, &m, bytes[count++], random() % 50 == 0);
                continue;
            }
            release(counter, &m, &bytes[count], bytes[count - 1]);
            count--;
            if (random() % 20 == 0)
                break;
        }
        if (!mprof__arena_has_room(&session->arena, MPROF__FOR_COUNTERS)) {
            end(NULL);
            begin(NULL);
        }
    }
}

/* Without room for more it has what it had, and the root has room for all. */
static void stays_without_room(void **state) {
    (void)state;
    const uint64_t much = (uint64_t)1 << 40;
    struct mprof_c_counter *counter = make();
    struct model m = {.stamp = 0};
    allocate(counter, &m, 40, false);
    while (mprof__arena_record(&session->arena, MPROF_C_WIDE,
                               sizeof(struct mprof_c_wide)) != NULL &&
           mprof__arena_has_room(&session->arena, MPROF__FOR_ROOTS))
        mprof__arena_publish(&session->arena,
                             mprof__arena_record(&session->arena, MPROF_C_WIDE,
                                                 sizeof(struct mprof_c_wide)));
    errno = ERANGE;
    assert_false(
        mprof__c_counter_prepare(&session->arena, share, counter, much, false));
    assert_int_equal(errno, ERANGE);
    check(counter, &m);
    allocate(counter, &m, 16, false);
    release(counter, &m, NULL, 40);
    /* What only has a long lifetime is counted all the same. */
    set_clock((uint64_t)1 << 59);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(mprof__c_counter_prepare(&session->arena, share, counter, 1,
                                             false));
        mprof__c_counter_add(&session->arena, share, counter, 1, false);
    }
    assert_int_equal(counter->allocated,
                     mprof_narrow_sum((struct mprof_count){5, 40 + 16 + 3}));
    thread->trees.counter[0] = 1;
    mprof_ref ref =
        mprof__root_counter(&thread->trees, 0, (struct mprof_count){1, much});
    counter = mprof__arena_at(&session->arena, ref);
    assert_true(mprof__c_counter_is_wide(counter));
    assert_int_equal(thread->record->folded_allocs, 1);
    assert_int_equal(thread->record->folded_bytes, much);
    thread->trees.counter[0] = 0;
    mprof__root_counter(&thread->trees, 0, (struct mprof_count){1, much});
    assert_int_equal(thread->record->folded_allocs, 1);
    m = (struct model){.stamp = 0};
    allocate(counter, &m, much, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ends_where_a_word_ends, begin, end),
        cmocka_unit_test_setup_teardown(takes_any_size, begin, end),
        cmocka_unit_test_setup_teardown(what_is_spilled_is_told_apart, begin,
                                        end),
        cmocka_unit_test_setup_teardown(lifetimes_of_any_length, begin, end),
        cmocka_unit_test_setup_teardown(counts_as_large_numbers_do, begin, end),
        cmocka_unit_test_setup_teardown(stays_without_room, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
