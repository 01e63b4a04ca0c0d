/* test_table.c - the hash table of the monitor, and memory that it maps. */
#include "tests/support/check.h"

#include <sys/resource.h>

#include "monitor/base/table.h"

enum { KEYS = 3000, FIRST = 1000 };

static struct mprof__table table;

static void fill(void) {
    for (uint64_t i = 0; i < KEYS; i++)
        assert_true(mprof__table_add(&table, FIRST + i * 8, i));
}

static bool has(uint64_t i) {
    const struct mprof__slot *slot = mprof__table_find(&table, FIRST + i * 8);
    return slot != NULL && slot->value == i;
}

static void what_is_added_is_found(void **state) {
    (void)state;
    assert_null(mprof__table_find(&table, FIRST));
    fill();
    for (uint64_t i = 0; i < KEYS; i++)
        assert_true(has(i));
    assert_null(mprof__table_find(&table, FIRST + KEYS * 8));
    assert_null(mprof__table_find(&table, FIRST + 1));
    mprof__table_trim(&table);
    assert_true(has(0) && has(KEYS - 1));
    mprof__table_free(&table);
    assert_null(mprof__table_find(&table, FIRST));
}

static size_t seen;

static bool is_odd(uint64_t key, uint64_t value, void *data) {
    (void)data;
    seen++;
    assert_int_equal(key, FIRST + value * 8);
    return value % 2 != 0;
}

static void what_is_swept_is_gone(void **state) {
    (void)state;
    fill();
    seen = 0;
    mprof__table_sweep(&table, is_odd, NULL);
    assert_int_equal(seen, KEYS);
    for (uint64_t i = 0; i < KEYS; i++)
        assert_int_equal(has(i), i % 2 == 0);
    /* What is removed is not asked again. */
    seen = 0;
    mprof__table_sweep(&table, is_odd, NULL);
    assert_int_equal(seen, KEYS / 2);
    mprof__table_free(&table);
}

static bool is_any(uint64_t key, uint64_t value, void *data) {
    (void)key, (void)value, (void)data;
    return true;
}

/* Keys that come and go do not let it grow. */
static void removed_keys_make_room(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 10 * KEYS; i++) {
        assert_true(mprof__table_add(&table, FIRST + i * 8, i));
        assert_true(has(i));
        if (i % 50 == 49)
            mprof__table_sweep(&table, is_any, NULL);
    }
    assert_int_equal(table.slots->mask, 255);
    mprof__table_free(&table);
}

static void memory_is_counted_and_given_back(void **state) {
    uint64_t before = mprof__mapped;
    (void)state;
    fill();
    assert_true(mprof__mapped > before + KEYS * sizeof(struct mprof__slot));
    uint64_t all = mprof__mapped;
    mprof__table_trim(&table);
    assert_true(mprof__mapped < all);
    mprof__table_trim(&table);
    mprof__table_free(&table);
    assert_int_equal(mprof__mapped, before);
    void *memory = mprof__map(4096);
    assert_int_equal(mprof__mapped, before + 4096);
    mprof__unmap(memory, 4096);
    mprof__unmap(NULL, 4096);
    assert_int_equal(mprof__mapped, before);
}

/* A sanitizer has more addresses than any limit. */
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define HAS_LIMIT

/* After a refusal smaller requests are made, and as large ones after a while.
 */
static void what_was_refused_is_asked_for_later(void **state) {
    enum { MUCH = 512 << 20, LITTLE = 4096 };
    struct rlimit limit, small;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    small = limit;
    small.rlim_cur = MUCH;
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    assert_null(mprof__map(MUCH));
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    void *memory = mprof__map(LITTLE);
    assert_non_null(memory);
    mprof__unmap(memory, LITTLE);
    assert_null(mprof__map(MUCH));
    memory = mprof__map(MUCH);
    assert_non_null(memory);
    mprof__unmap(memory, MUCH);
    /* Who begins anew is not kept waiting. */
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    assert_null(mprof__map(MUCH));
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    mprof__map_again();
    memory = mprof__map(MUCH);
    assert_non_null(memory);
    mprof__unmap(memory, MUCH);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_is_found),
        cmocka_unit_test(what_is_swept_is_gone),
        cmocka_unit_test(removed_keys_make_room),
        cmocka_unit_test(memory_is_counted_and_given_back),
#ifdef HAS_LIMIT
        cmocka_unit_test(what_was_refused_is_asked_for_later),
#endif
    };
    return check_result(cmocka_run_group_tests(tests, NULL, NULL));
}
