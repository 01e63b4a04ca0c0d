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
    assert_int_equal(what.counter, counter); /* it stays */
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

static uint32_t *entry_of(const void *object) {
    struct mprof__shadow shadow = {0};
    uint32_t *entry;
    return mprof__objects_entry(object, &shadow, &entry) ? entry : NULL;
}

/* The counter in ENTRY. */
static mprof_ref counter_in(const uint32_t *entry) {
    mprof_ref counter = 0;
    uint32_t bytes;
    assert_true(mprof__entry_read(entry, &counter, &bytes));
    return counter;
}

/* By what a thread remembers of where it was last. */
static void neighbours_have_entries_of_their_own(void **state) {
    struct mprof__shadow shadow = {0};
    uint32_t *entry[4];
    (void)state;
    put(heap + 384, 4, 40);
    put(heap + 392, 5, 50);
    for (int i = 0; i < 4; i++)
        assert_true(
            mprof__objects_entry(heap + 384 + 8 * (i % 2), &shadow, &entry[i]));
    for (int i = 0; i < 4; i++)
        assert_int_equal(counter_in(entry[i]), 4 + i % 2);
    takes(heap + 384, 4, 40);
    takes(heap + 392, 5, 50);
}

/* Each 32 MiB have entries of their own. */
static void distant_objects_have_entries_of_their_own(void **state) {
    struct mprof__shadow shadow = {0};
    char *at = (char *)((uintptr_t)7 << 36), *next = at + ((size_t)1 << 25);
    uint32_t *entry[2];
    (void)state;
    put(at, 4, 40);
    put(next, 5, 50);
    assert_true(mprof__objects_entry(at, &shadow, &entry[0]));
    assert_true(mprof__objects_entry(next, &shadow, &entry[1]));
    assert_int_equal(counter_in(entry[0]), 4);
    assert_int_equal(counter_in(entry[1]), 5);
    takes(at, 4, 40);
    takes(next, 5, 50);
}

/* As far as numbers have room in entries, and one more. */
static void each_size_and_counter_is_kept(void **state) {
    const uint64_t sizes[] = {
        0, 1, 15, 16, 17, 18, ((uint64_t)1 << 30) - 1, (uint64_t)1 << 30};
    const mprof_ref counters[] = {1, ((mprof_ref)1 << 26) - 1,
                                  (mprof_ref)1 << 26, ((mprof_ref)1 << 31) - 1};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t k = 0; k < sizeof counters / sizeof counters[0]; k++) {
            put(heap + 640, counters[k], sizes[i]);
            mprof__objects_check(heap + 640);
            takes(heap + 640, counters[k], sizes[i]);
        }
}

/* Also where it was left by one whose free nobody saw. */
static void the_inside_of_an_object_is_no_object(void **state) {
    struct mprof__object what;
    (void)state;
    put(heap + 704, 5, 17);
    assert_false(mprof__objects_take(heap + 720, &what));
    put(heap + 720, 6, 16);
    assert_false(mprof__objects_take(heap + 704, &what));
    takes(heap + 720, 6, 16);
    put(heap + 704, 5, 17);
    takes(heap + 704, 5, 17);
    put(heap + 704, 7, 16);
    assert_false(mprof__objects_take(heap + 720, &what));
    takes(heap + 704, 7, 16);
}

/* What is found in a row of objects that touch, at the end of 32 MiB. */
struct row {
    const char *at;
    unsigned seen;
};

static void see_row(const struct mprof__object *object, void *data) {
    struct row *row = data;
    ptrdiff_t i = ((const char *)object->at - row->at) / 16;
    assert_in_range(i, 0, 4);
    assert_int_equal(object->counter, i + 1);
    assert_int_equal(object->bytes, i == 0 || i == 4 ? 16 : 32);
    row->seen |= 1 << i;
}

static void a_row_of_objects_is_visited(void **state) {
    struct row row = {.at = (char *)((uintptr_t)9 << 36) - 64};
    char *at = (char *)(uintptr_t)row.at;
    (void)state;
    mprof__objects_clear();
    put(at, 1, 16);
    put(at + 16, 2, 32);
    put(at + 48, 4, 32); /* into the next 32 MiB */
    put(at + 64, 5, 16); /* and there another */
    mprof__objects_each(see_row, &row);
    assert_int_equal(row.seen, 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4);
    takes(at + 48, 4, 32);
    takes(at + 64, 5, 16);
    mprof__objects_clear();
}

static void lose_the_counter(void) {
    *entry_of(heap + 512) = MPROF__SMALL;
    mprof__objects_check(heap + 512);
}

/* Where none was put. */
static void lose_the_size(void) {
    *entry_of(heap + 528) = MPROF__ELSEWHERE;
    mprof__objects_check(heap + 528);
}

static void a_broken_entry_is_noticed(void **state) {
    (void)state;
    put(heap + 512, 5, (uint64_t)1 << 40);
    mprof__objects_check(heap + 512);
    assert_true(check_aborts(lose_the_counter));
    assert_true(check_aborts(lose_the_size));
    takes(heap + 512, 5, (uint64_t)1 << 40);
}

/*
 * What a collector gave
 */

/* A list of those that are there. */
struct seen {
    unsigned count;
    const void *at[8];
    uint64_t bytes[8];
    mprof_ref counter[8];
    const void *dies; /* one that is to be forgotten, or NULL */
};

static bool see(const struct mprof__object *object, struct mprof__past *past,
                void *data) {
    struct seen *seen = data;
    assert_true(seen->count < 8);
    seen->at[seen->count] = object->at;
    seen->bytes[seen->count] = object->bytes;
    seen->counter[seen->count++] = object->counter;
    past->age++;
    return object->at != seen->dies;
}

static struct seen look(const void *dies) {
    struct seen seen = {.dies = dies};
    mprof__collected_each(see, &seen);
    return seen;
}

static struct mprof__object give(char *at, mprof_ref counter, uint64_t bytes,
                                 struct mprof__past *past) {
    struct mprof__object what = {.counter = counter, .bytes = bytes}, before;
    assert_true(mprof__collected_put(at, what, past, &before));
    return before;
}

static void collected_objects_are_apart(void **state) {
    struct mprof__past past = {0, 3};
    struct mprof__object what;
    (void)state;
    mprof__objects_clear();
    put(heap + 1024, 1, 10);
    assert_int_equal(give(heap + 1024, 2, 20, &past).counter, 0);
    takes(heap + 1024, 1, 10);
    assert_false(mprof__objects_take(heap + 1024, &what));
    struct seen seen = look(NULL);
    assert_int_equal(seen.count, 1);
    assert_ptr_equal(seen.at[0], heap + 1024);
    assert_int_equal(seen.counter[0], 2);
    assert_int_equal(seen.bytes[0], 20);
    mprof__objects_clear();
    assert_int_equal(look(NULL).count, 0);
}

static void collected_objects_die_and_are_replaced(void **state) {
    struct mprof__past past = {0, 3};
    const uint64_t large = (uint64_t)5 << 32;
    (void)state;
    mprof__objects_clear();
    give(heap + 1024, 2, 20, &past);
    past = (struct mprof__past){0, 4};
    give(heap + 1040, 3, large, &past);
    past = (struct mprof__past){0, 5};
    give(heap + 1072, 4, 0, &past);
    struct seen seen = look(heap + 1024);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.bytes[1], large);
    seen = look(NULL);
    assert_int_equal(seen.count, 2);
    assert_ptr_equal(seen.at[0], heap + 1040);
    /* Another one in the place of what nobody said was freed */
    past = (struct mprof__past){0, 6};
    struct mprof__object before = give(heap + 1040, 7, 70, &past);
    assert_int_equal(before.counter, 3);
    assert_int_equal(before.bytes, large);
    assert_int_equal(past.age, 2);
    assert_int_equal(past.epoch, 4);
    seen = look(heap + 1072);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.bytes[0], 70);
    assert_int_equal(seen.counter[1], 4);
    assert_int_equal(look(NULL).count, 1);
    assert_int_equal(look(heap + 1040).count, 1);
    assert_int_equal(look(NULL).count, 0);
}

/* At ADDRESS only. */
static struct seen look_at(const void *address, const void *dies) {
    struct seen seen = {.dies = dies};
    mprof__collected_one(address, see, &seen);
    return seen;
}

static void one_collected_object_dies(void **state) {
    const uint64_t large = (uint64_t)5 << 32;
    struct mprof__past past = {0, 3};
    (void)state;
    mprof__objects_clear();
    give(heap + 1024, 2, 20, &past);
    past = (struct mprof__past){0, 3};
    give(heap + 1040, 3, large, &past);
    assert_int_equal(look_at(heap + 1008, NULL).count, 0);
    assert_int_equal(look_at(heap + 1025, NULL).count, 0);
    assert_int_equal(look_at((void *)((uintptr_t)1 << 47), NULL).count, 0);
    /* Where there are no words */
    assert_int_equal(look_at((void *)((uintptr_t)1 << 46), NULL).count, 0);
    struct seen seen = look_at(heap + 1040, NULL);
    assert_int_equal(seen.count, 1);
    assert_ptr_equal(seen.at[0], heap + 1040);
    assert_int_equal(seen.bytes[0], large);
    look_at(heap + 1040, heap + 1040);
    seen = look(NULL);
    assert_int_equal(seen.count, 1);
    assert_ptr_equal(seen.at[0], heap + 1024);
    look_at(heap + 1024, heap + 1024);
    assert_int_equal(look(NULL).count, 0);
}

static void what_cannot_be_collected_is_refused(void **state) {
    struct mprof__past past = {0, 0};
    struct mprof__object what = {.counter = 1, .bytes = 1}, before;
    (void)state;
    assert_false(mprof__collected_put(heap + 8, what, &past, &before));
    assert_false(mprof__collected_put((void *)((uintptr_t)1 << 47), what, &past,
                                      &before));
}

static void addresses_of_all_kinds(void **state) {
    (void)state;
    struct mprof__object in = {.counter = 7, .bytes = 1}, out;
    const uintptr_t good[] = {16,
                              8,
                              24,
                              0x7ffffffffff0,
                              0x7ffffffffff8,
                              0x555555000000,
                              0x555556000000 - 8};
    const uintptr_t bad[] = {1, 4, 0x800000000000, UINTPTR_MAX - 7};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(mprof__objects_put((const void *)bad[i], in));
        assert_false(mprof__objects_take((const void *)bad[i], &out));
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        in.bytes = i % 2 ? i : UINT32_MAX - 1;
        assert_true(mprof__objects_put((const void *)good[i], in));
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(mprof__objects_take((const void *)good[i], &out));
        assert_int_equal(out.bytes, i % 2 ? i : UINT32_MAX - 1);
        assert_int_equal(out.counter, 7);
        assert_false(mprof__objects_take((const void *)good[i], &out));
    }
    in.bytes = UINT32_MAX;
    assert_true(mprof__objects_put((const void *)16, in));
    assert_true(mprof__objects_take((const void *)16, &out));
    assert_int_equal(out.bytes, UINT32_MAX);
    /* Behind where a huge object began there is none. */
    assert_false(mprof__objects_take((const void *)32, &out));
    assert_true(mprof__objects_memory() > 0);
    mprof__objects_clear();
    assert_int_equal(mprof__objects_memory(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_taken_once),
        cmocka_unit_test(sizes_of_64_bits_are_kept),
        cmocka_unit_test(what_is_no_object_is_not_known),
        cmocka_unit_test(all_are_forgotten),
        cmocka_unit_test(neighbours_have_entries_of_their_own),
        cmocka_unit_test(distant_objects_have_entries_of_their_own),
        cmocka_unit_test(each_size_and_counter_is_kept),
        cmocka_unit_test(the_inside_of_an_object_is_no_object),
        cmocka_unit_test(a_row_of_objects_is_visited),
        cmocka_unit_test(a_broken_entry_is_noticed),
        cmocka_unit_test(collected_objects_are_apart),
        cmocka_unit_test(collected_objects_die_and_are_replaced),
        cmocka_unit_test(one_collected_object_dies),
        cmocka_unit_test(what_cannot_be_collected_is_refused),
        cmocka_unit_test(addresses_of_all_kinds),
    };
    return check_result(cmocka_run_group_tests(tests, NULL, NULL));
}
