/* The counters of Lisp against sums of 64 bits, where one word is enough and
 * where it is not. */
#include "tests/support/check.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/support/made.h"
#include "monitor/record/find_counter.h"
#include "monitor/record/thread.h"

static struct mprof__session *session;
static struct mprof__thread *thread;
static struct mprof__frame frame;

static int begin(void **state) {
    (void)state;
    session = made_session(1 << 20);
    thread = made_thread(session, MPROF_LISP_HEAP);
    thread->chain.frames = &frame;
    return 0;
}

static int end(void **state) {
    (void)state;
    made_end(session, thread);
    return 0;
}

/* A counter of the root, with KEY: nothing else is said of a key here. */
static struct mprof_lisp_counter *make(uint32_t key) {
    struct mprof_counter *counter =
        mprof__counter(&thread->trees, thread->trees.tree.root, key,
                       (struct mprof_count){0, 0});
    struct mprof_lisp_counter *own = (struct mprof_lisp_counter *)counter;
    own->sum = 0;
    return own;
}

static void check(const struct mprof_lisp_counter *counter,
                  struct mprof_count sum) {
    struct mprof_count has =
        mprof__lisp_counter_read(session->arena.base, counter);
    assert_int_equal(has.allocs, sum.allocs);
    assert_int_equal(has.bytes, sum.bytes);
}

/* Add N: true when it became wide. */
static bool add(struct mprof_lisp_counter *counter, struct mprof_count *sum,
                struct mprof_count n) {
    bool was_wide = counter->sum & MPROF_IS_WIDE;
    assert_true(
        mprof__counter_add(&thread->trees, &counter->counter, false, n));
    sum->allocs += n.allocs;
    sum->bytes += n.bytes;
    check(counter, *sum);
    return !was_wide && counter->sum & MPROF_IS_WIDE;
}

static const uint64_t most = ((uint64_t)1 << 31) - 1;

/* One word is enough for 31 bits of each, and no more. */
static void ends_where_a_word_ends(void **state) {
    (void)state;
    static const struct mprof_count before[] = {
        {1, 0}, {0, 1}, {1, 1}, {1000, 1 << 20}};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        for (unsigned of_bytes = 0; of_bytes < 2; of_bytes++) {
            struct mprof_lisp_counter *counter = make(0);
            struct mprof_count sum = {0, 0};
            assert_false(add(counter, &sum, before[i]));
            uint64_t left = most - (of_bytes ? sum.bytes : sum.allocs);
            while (left > 0) {
                uint64_t n =
                    left < MPROF__MOST_ADDED ? left : MPROF__MOST_ADDED;
                assert_false(add(counter, &sum,
                                 of_bytes ? (struct mprof_count){0, n}
                                          : (struct mprof_count){n, 0}));
                left -= n;
            }
            assert_true(add(counter, &sum,
                            of_bytes ? (struct mprof_count){0, 1}
                                     : (struct mprof_count){1, 0}));
            assert_false(add(counter, &sum, (struct mprof_count){1, 16}));
        }
}

/* What is too much for a word at once. */
static void takes_any_number(void **state) {
    (void)state;
    for (unsigned bit = 29; bit < 63; bit++)
        for (unsigned of_bytes = 0; of_bytes < 2; of_bytes++) {
            const uint64_t n = (uint64_t)1 << bit;
            struct mprof_lisp_counter *counter = make(0);
            struct mprof_count sum = {0, 0};
            add(counter, &sum, (struct mprof_count){3, 50});
            assert_int_equal(add(counter, &sum,
                                 of_bytes ? (struct mprof_count){1, n}
                                          : (struct mprof_count){n, 1}),
                             n > MPROF__MOST_ADDED);
            add(counter, &sum, (struct mprof_count){1, 16});
        }
}

static uint64_t random_number(void) {
    uint64_t n = (uint64_t)random() << 31 | (uint64_t)random();
    return n >> random() % 62;
}

static void adds_as_64_bits_do(void **state) {
    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        struct mprof_lisp_counter *counter = make(round % MPROF_CLASSES);
        struct mprof_count sum = {0, 0};
        for (unsigned i = 0; i < 30; i++)
            add(counter, &sum,
                (struct mprof_count){random_number() >> 20,
                                     random_number() >> 8});
    }
}

/* A copy of less than it has, wherever that is. */
static void is_set_in_a_copy(void **state) {
    (void)state;
    struct mprof_lisp_counter *counter = make(0);
    struct mprof_count sum = {0, 0}, less = {2, 30}, none = {0, 0};
    add(counter, &sum, (struct mprof_count){3, 50});
    mprof__lisp_counter_set(session->arena.base, counter, less);
    check(counter, less);
    assert_false(counter->sum & MPROF_IS_WIDE);
    sum = less;
    add(counter, &sum, (struct mprof_count){1, (uint64_t)1 << 40});
    mprof__lisp_counter_set(session->arena.base, counter, none);
    check(counter, none);
    mprof__lisp_counter_set(session->arena.base, counter, sum);
    check(counter, sum);
}

/* Without room for more it has what it had. */
static void stays_without_room(void **state) {
    (void)state;
    const struct mprof_count much = {1, (uint64_t)1 << 40};
    struct mprof_lisp_counter *counter = make(0);
    struct mprof_count sum = {0, 0};
    while (mprof__counter_add(&thread->trees, &counter->counter, false, much))
        counter->sum = 0;
    assert_false(mprof__arena_has_room(&session->arena, MPROF__FOR_ROOTS));
    add(counter, &sum, (struct mprof_count){3, 50});
    errno = ERANGE;
    assert_false(
        mprof__counter_add(&thread->trees, &counter->counter, false, much));
    assert_int_equal(errno, ERANGE);
    check(counter, sum);
    add(counter, &sum, (struct mprof_count){1, 16});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ends_where_a_word_ends, begin, end),
        cmocka_unit_test_setup_teardown(takes_any_number, begin, end),
        cmocka_unit_test_setup_teardown(adds_as_64_bits_do, begin, end),
        cmocka_unit_test_setup_teardown(is_set_in_a_copy, begin, end),
        cmocka_unit_test_setup_teardown(stays_without_room, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
