/* test_cut.c - somebody cuts the data file while it is recorded. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "monitor/base/objects.h"
#include "monitor/include/mprof.h"
#include "monitor/record/place.h"

static char path[] = "/tmp/mprof-cut-XXXXXX";

/* Of objects that nobody allocates. */
static void __attribute__((noinline, optimize("no-omit-frame-pointer")))
allocate(uintptr_t n, uint64_t bytes) {
    mprof__c_allocated((const void *)(0x7f0000000000 + n * 16), bytes,
                       __builtin_frame_address(0));
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void allocate_at(int depth, uintptr_t n);

static void __attribute__((noinline)) by_another_way(int depth, uintptr_t n) {
    allocate_at(depth, n);
    __asm__ volatile("" ::: "memory");
}

static void __attribute__((noinline)) allocate_at(int depth, uintptr_t n) {
    if (depth == 0)
        allocate(n, n % 600);
    else if (n >> depth & 1)
        by_another_way(depth - 1, n);
    else
        allocate_at(depth - 1, n);
    __asm__ volatile("" ::: "memory");
}

/* As many chains. */
static void allocate_all(uintptr_t objects) {
    for (uintptr_t n = 0; n < objects; n++)
        allocate_at(12, n);
    for (uintptr_t n = 0; n < objects; n += 2)
        mprof__c_release((const void *)(0x7f0000000000 + n * 16));
}

static uint64_t bytes_of_file(void) {
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void is_told(int error) {
    int why = errno;
    assert_int_equal(error, MPROF_E_WRITE);
    assert_int_equal(why, ENODATA);
}

/* As if nothing had been. */
static void another_is_recorded(void) {
    struct mprof_status status;
    assert_int_equal(mprof_start(path), 0);
    allocate_all(100);
    assert_int_equal(mprof_status(&status), 0);
    assert_int_equal(status.c_allocs, 100);
    assert_int_equal(mprof_stop(), 0);
    assert_true(bytes_of_file() > MPROF_HEADER_BYTES);
}

static int begin(void **state) {
    (void)state;
    close(mkstemp(path));
    return mprof_set_heaps(MPROF_HEAP_MALLOC);
}

static int end(void **state) {
    (void)state;
    unlink(path);
    return mprof_reset();
}

static void a_cut_ends_the_recording(void **state) {
    struct mprof_status status;
    (void)state;
    for (uint64_t limit = (uint64_t)256 << 10; limit <= (uint64_t)64 << 20;
         limit <<= 8)
        for (off_t size = 0; size <= 40000; size += 8000) {
            mprof_set_limit(limit);
            assert_int_equal(mprof_start(path), 0);
            allocate_all(2000);
            assert_int_equal(mprof_status(&status), 0);
            assert_true(status.file_bytes > (uint64_t)size);
            assert_int_equal(truncate(path, size), 0);
            allocate_all(3000);
            assert_int_equal(mprof_status(&status), 0);
            is_told(mprof_save("/dev/null/absent"));
            is_told(mprof_stop());
            assert_int_equal(bytes_of_file(), size);
        }
    another_is_recorded();
}

/* What was kept of frees has no place either. */
static void a_cut_after_the_stop_is_noticed(void **state) {
    (void)state;
    mprof_set_limit((uint64_t)64 << 20);
    assert_int_equal(mprof_start(path), 0);
    allocate_all(1000);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(truncate(path, 0), 0);
    for (uintptr_t n = 1; n < 1000; n += 2)
        mprof__c_release((const void *)(0x7f0000000000 + n * 16));
    assert_int_equal(bytes_of_file(), 0);
    another_is_recorded();
}

static void what_was_not_used_may_be_cut(void **state) {
    struct mprof_status status;
    (void)state;
    mprof_set_limit((uint64_t)64 << 20);
    assert_int_equal(mprof_start(path), 0);
    allocate_all(100);
    assert_int_equal(mprof_status(&status), 0);
    assert_int_equal(truncate(path, (off_t)status.file_bytes), 0);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(bytes_of_file(), status.file_bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_cut_ends_the_recording, begin, end),
        cmocka_unit_test_setup_teardown(a_cut_after_the_stop_is_noticed, begin,
                                        end),
        cmocka_unit_test_setup_teardown(what_was_not_used_may_be_cut, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
