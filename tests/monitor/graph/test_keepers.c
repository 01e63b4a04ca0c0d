/* test_keepers.c - keepers: which are one, and their sums. */
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

#include "monitor/graph/keepers.h"

static struct mprof__keepers keepers;

static int begin(void **unused) {
    (void)unused;
    mprof__keepers_begin(&keepers);
    return 0;
}

static int end(void **unused) {
    (void)unused;
    mprof__keepers_end(&keepers);
    return mprof__mapped != 0;
}

/* The keeper with ID within OUTER, which may be new. */
static uint32_t find(uint32_t outer, uint64_t id) {
    char name[32];
    snprintf(name, sizeof name, "number %d", (int)id);
    return mprof__keepers_add(
        &keepers, outer, id,
        outer == 0 ? MPROF_KEEPER_ROOT : MPROF_KEEPER_OBJECT, name, 0);
}

static uint64_t all_of(const char *name) {
    uint64_t bytes = 0;
    for (size_t i = 1; i < keepers.count; i++)
        if (strcmp(mprof__keepers_text(&keepers, &keepers.list[i]), name) == 0)
            bytes += keepers.list[i].all.bytes;
    return bytes;
}

static void the_same_within_is_one(void **unused) {
    (void)unused;
    uint32_t root = find(0, 1), table = find(root, 2), list = find(table, 3);
    assert_int_equal(find(root, 2), table);
    assert_int_not_equal(find(find(0, 4), 2), table);
    /* Also further out: a list in a table in that list */
    assert_int_equal(find(list, 3), list);
    assert_int_equal(find(list, 2), table);
    assert_int_equal(keepers.list[list].depth, 3);
}

/* However many there are in each other */
static void they_are_not_too_deep(void **unused) {
    (void)unused;
    uint32_t at = 0;
    for (uint64_t id = 1; id <= 1000; id++)
        at = find(at, id);
    assert_int_equal(keepers.list[at].depth, MPROF_MOST_KEEPERS);
}

static void sums(void **unused) {
    (void)unused;
    uint32_t large = find(0, 1), inner = find(large, 2), small = find(inner, 3),
             first = find(0, 4), second = find(0, 5), within = find(second, 6),
             stack = mprof__keepers_add(&keepers, 0, 7, MPROF_KEEPER_UNCERTAIN,
                                        "number 7", 0),
             shared = mprof__keepers_add(&keepers, 0, 8, MPROF_KEEPER_SHARED,
                                         "number 8", 0);
    mprof__keepers_count(&keepers, inner, 70, 9000);
    assert_int_equal(keepers.list[inner].each, 9000);
    mprof__keepers_count(&keepers, inner, 71, 500);
    mprof__keepers_count(&keepers, small, 70, 5);
    mprof__keepers_count(&keepers, small, 0, 3);
    mprof__keepers_count(&keepers, first, 70, 2);
    mprof__keepers_count(&keepers, within, 70, 7);
    mprof__keepers_count(&keepers, stack, 70, 4);
    mprof__keepers_count(&keepers, shared, 70, 6);
    mprof__keepers_finish(&keepers, 100, "other stacks");
    assert_int_equal(all_of("number 1"), 9508);
    assert_int_equal(all_of("number 2"), 9508);
    assert_int_equal(all_of("number 3"), 0);
    assert_int_equal(all_of("number 4"), 0);
    assert_int_equal(all_of("number 5"), 0);
    assert_int_equal(all_of("number 6"), 0);
    assert_int_equal(all_of("number 7"), 0);
    assert_int_equal(all_of("number 8"), 0);
    assert_int_equal(all_of("others"), 9);
    assert_int_equal(all_of("other stacks"), 4);
    assert_int_equal(all_of("several others together"), 6);
    for (size_t i = 7; i < keepers.count; i++)
        if (strcmp(mprof__keepers_text(&keepers, &keepers.list[i]), "others") ==
            0)
            assert_int_equal(keepers.list[i].kind, MPROF_KEEPER_ROOT);
    assert_int_equal(keepers.list[inner].own.bytes, 9508);
    assert_int_equal(keepers.list[inner].each, MPROF__MIXED);
    assert_int_equal(keepers.list[inner].strange.bytes, 3);
    /* What a counter has is where the sums are. */
    uint64_t kept = 0;
    for (size_t i = 0; i < keepers.kept_count; i++) {
        const struct mprof__kept *k = &keepers.kept[i];
        assert_true(keepers.list[k->keeper].all.bytes >= k->count.bytes);
        kept += k->count.bytes;
    }
    assert_int_equal(kept, 9524);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_same_within_is_one, begin, end),
        cmocka_unit_test_setup_teardown(they_are_not_too_deep, begin, end),
        cmocka_unit_test_setup_teardown(sums, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
