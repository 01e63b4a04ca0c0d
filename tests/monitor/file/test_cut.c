/* test_cut.c - somebody cuts the data file while it is recorded. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "monitor/base/objects.h"
#include "monitor/include/mprof.h"
#include "monitor/record/find_counter.h"

static char path[sizeof "/tmp/mprof-cut-XXXXXX"];

/* Of objects that nobody allocates. */
static void __attribute__((noinline, optimize("no-omit-frame-pointer")))
allocate(uintptr_t n, uint64_t bytes) {
    mprof__c_allocated((const void *)(0x7f0000000000 + n * 32), bytes,
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
        mprof__c_release((const void *)(0x7f0000000000 + n * 32));
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
    strcpy(path, "/tmp/mprof-cut-XXXXXX");
    close(mkstemp(path));
    return mprof_set_heaps(MPROF_HEAP_MALLOC);
}

static int end(void **state) {
    (void)state;
    unlink(path);
    return mprof_reset();
}

/* What a thread may see while another one cuts the file: nodes that are empty
 * already, and no signal. */
static void empty_nodes(void) {
    const struct mprof__thread *thread = mprof__self->heap[MPROF_C_HEAP].thread;
    struct mprof_block *block = thread->trees.spill.tree.node_blocks.last;
    struct mprof_node *nodes = (struct mprof_node *)(block + 1);
    assert_true(block->count > 10);
    memset(nodes + 5, 0, (block->count - 5) * sizeof *nodes);
    for (uintptr_t n = 0; n < 1000 && !thread->trees.spill.refused; n++)
        allocate_at(12, n * 7);
    assert_true(thread->trees.spill.refused);
}

/* OBJECTS are allocated, then the file is cut to SIZE, SLOWLY or at once. */
static void cut_after(uintptr_t objects, off_t size, bool slowly) {
    struct mprof_status status;
    assert_int_equal(mprof_start(path), 0);
    allocate_all(objects);
    assert_int_equal(mprof_status(&status), 0);
    assert_true(status.file_bytes > (uint64_t)size);
    if (slowly)
        empty_nodes();
    assert_int_equal(truncate(path, size), 0);
    for (uintptr_t n = 0; n < 3 * objects; n++)
        allocate_at(12, n * 7);
    assert_null(mprof__current());
    assert_null(mprof__tracked());
    assert_int_equal(mprof_status(&status), 0);
    is_told(mprof_save("/dev/null/absent"));
    assert_int_equal(mprof_status(&status), 0);
    assert_int_equal(status.running, 1);
    is_told(mprof_stop());
    assert_int_equal(bytes_of_file(), size);
}

static void a_cut_ends_the_recording(void **state) {
    (void)state;
    mprof_set_limit((uint64_t)64 << 20);
    for (off_t size = 0; size <= 40000; size += 8000)
        cut_after(2000, size, false);
    another_is_recorded();
}

/* While chains are summed up, and at other moments when one thing leads to the
 * next. */
static void a_cut_may_come_at_any_time(void **state) {
    (void)state;
    mprof_set_limit((uint64_t)256 << 10);
    for (uintptr_t n = 0; n < 300; n++)
        cut_after(1000 + n * 11, (off_t)(n % 5 * 5000), n % 3 == 2 && n > 100);
    another_is_recorded();
}

/* Nothing of what functions had on the stack below here is there any more. */
static void __attribute__((noinline)) wipe_stack(void) {
    volatile char space[8192];
    for (size_t i = 0; i < sizeof space; i++)
        space[i] = 0x55;
}

/* The first allocation of a chain takes a longer walk, and those of as many
 * bytes after it do not. */
static void a_cut_may_come_after_a_longer_walk(void **state) {
    enum { SAME = 4800 };
    (void)state;
    mprof_set_limit((uint64_t)64 << 20);
    assert_int_equal(mprof_start(path), 0);
    allocate_all(101);
    for (uintptr_t n = 1; n <= 3; n++) {
        allocate_at(3, 100 + n * SAME);
        assert_int_equal(truncate(path, MPROF_HEADER_BYTES), 0);
        wipe_stack();
    }
    assert_null(mprof__current());
    is_told(mprof_stop());
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
        mprof__c_release((const void *)(0x7f0000000000 + n * 32));
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
        cmocka_unit_test_setup_teardown(a_cut_may_come_at_any_time, begin, end),
        cmocka_unit_test_setup_teardown(a_cut_may_come_after_a_longer_walk,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_cut_after_the_stop_is_noticed, begin,
                                        end),
        cmocka_unit_test_setup_teardown(what_was_not_used_may_be_cut, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
