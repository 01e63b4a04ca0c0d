/* test_objects.c - the shadow in which the objects of the C heap are kept. */
#include "tests/support/check.h"

#include "monitor/base/objects.h"

/* Places for objects; nothing is written there. */
static _Alignas(64) char heap[4096];

static void put(char *at, mprof_ref counter, uint64_t bytes) {
    struct mprof__object what = {.counter = counter, .bytes = bytes};
    assert_true(mprof__objects_put(at, what));
}

static void takes(char *at, mprof_ref counter, uint64_t bytes) {
    struct mprof__object what = {0};
    assert_true(mprof__objects_take(at, &what));
    assert_int_equal(what.counter, counter);
    assert_int_equal(what.bytes, bytes);
    assert_false(mprof__objects_take(at, &what));
}

static void what_is_put_is_taken_once(void **state) {
    (void)state;
    put(heap, 7, 0);
    put(heap + 8, 8, 1); /* some allocators align to eight only */
    put(heap + 16, 9, UINT32_MAX - 1);
    takes(heap + 16, 9, UINT32_MAX - 1);
    takes(heap, 7, 0);
    takes(heap + 8, 8, 1);
}

static void sizes_of_64_bits_are_kept(void **state) {
    const uint64_t sizes[] = {UINT32_MAX, (uint64_t)UINT32_MAX + 1,
                              (uint64_t)1 << 46};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        put(heap + 64, 3, sizes[i]);
        mprof__objects_check(heap + 64);
        takes(heap + 64, 3, sizes[i]);
    }
}

static void what_is_no_object_is_not_known(void **state) {
    struct mprof__object what = {.counter = 1, .bytes = 1};
    (void)state;
    assert_false(mprof__objects_take(heap + 128, &what));
    assert_false(mprof__objects_put(heap + 129, what));
    assert_false(mprof__objects_put((void *)((uintptr_t)1 << 47), what));
}

static void all_are_forgotten(void **state) {
    struct mprof__object what;
    (void)state;
    put(heap + 256, 5, 50);
    put(heap + 264, 6, 60);
    mprof__objects_clear();
    assert_false(mprof__objects_take(heap + 256, &what));
    assert_false(mprof__objects_take(heap + 264, &what));
}

static uint64_t *word_of(char *object) {
    struct mprof__shadow shadow = {0};
    uint64_t *word;
    return mprof__objects_word(object, &shadow, &word) ? word : NULL;
}

/* By what a thread remembers of where it was last. */
static void neighbours_have_words_of_their_own(void **state) {
    struct mprof__shadow shadow = {0};
    uint64_t *word[4];
    (void)state;
    put(heap + 384, 4, 40);
    put(heap + 392, 5, 50);
    for (int i = 0; i < 4; i++)
        assert_true(
            mprof__objects_word(heap + 384 + 8 * (i % 2), &shadow, &word[i]));
    for (int i = 0; i < 4; i++)
        assert_int_equal(*word[i] >> 32, 4 + i % 2);
    takes(heap + 384, 4, 40);
    takes(heap + 392, 5, 50);
}

static void lose_the_counter(void) {
    *word_of(heap + 512) = 100;
    mprof__objects_check(heap + 512);
}

static void lose_the_size(void) {
    *word_of(heap + 528) = 0;
    mprof__objects_check(heap + 512);
}

static void a_broken_word_is_noticed(void **state) {
    (void)state;
    put(heap + 512, 5, (uint64_t)1 << 40);
    mprof__objects_check(heap + 512);
    assert_true(check_aborts(lose_the_counter));
    assert_true(check_aborts(lose_the_size));
    takes(heap + 512, 5, (uint64_t)1 << 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_taken_once),
        cmocka_unit_test(sizes_of_64_bits_are_kept),
        cmocka_unit_test(what_is_no_object_is_not_known),
        cmocka_unit_test(all_are_forgotten),
        cmocka_unit_test(neighbours_have_words_of_their_own),
        cmocka_unit_test(a_broken_word_is_noticed),
    };
    return check_result(cmocka_run_group_tests(tests, NULL, NULL));
}
