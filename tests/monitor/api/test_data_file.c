/* test_data_file.c - the data file while it is written, after errors and a
 * kill. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fake.h"
#include "tests/support/folder.h"
#include "monitor/base/atomic.h"
#include "monitor/format/crc.h"
#include "monitor/record/find_counter.h"
#include "monitor/unwind/generation.h"

static void the_file_is_there_while_it_is_written(void **state) {
    (void)state;
    char path[256];
    strcpy(path, in_folder("live.data"));
    assert_int_equal(mprof_start(path), 0);
    fake_alloc(5, 2);
    size_t size;
    struct mprof_header *header = read_file(path, &size);
    assert_int_equal(header->state, MPROF_OPEN);
    assert_true(header->used <= size);
    free(header);
    assert_int_equal(mprof_start(path), 0);
    assert_int_equal(mprof_start("elsewhere"), MPROF_E_RUNNING);
    assert_int_equal(mprof_save(in_folder("copy.data")), 0);
    check_complete(in_folder("copy.data"));
    assert_int_equal(mprof_stop(), 0);
    check_complete(path);
    /* Going on in the same file, and once more complete. */
    assert_int_equal(mprof_start(path), 0);
    for (int i = 0; i < 1000; i++)
        fake_alloc(5, 2);
    assert_int_equal(mprof_stop(), 0);
    check_complete(path);
    assert_int_equal(status().bytes, 5005);
    assert_int_equal(mprof_reset(), 0);
    /* What was recorded stays on disk. */
    check_complete(path);
}

static void bad_files_are_errors(void **state) {
    (void)state;
    assert_int_equal(mprof_start(folder), MPROF_E_OPEN);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(mprof_start(in_folder("no/such/folder")), MPROF_E_OPEN);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(mprof_start("/dev/null"), MPROF_E_OPEN);
    assert_int_equal(mprof_start(NULL), 0);
    fake_alloc(5, 2);
    assert_int_equal(mprof_save(in_folder("no/such/folder")), MPROF_E_OPEN);
    assert_int_equal(mprof_save("/dev/full"), MPROF_E_OPEN);
    struct stat st;
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(status().bytes, 5);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_reset(), 0);
    for (int e = 1; e <= MPROF_E_SAMPLED; e++)
        assert_string_not_equal(mprof_strerror(e), mprof_strerror(-1));
}

static void a_start_that_fails_touches_no_file(void **state) {
    (void)state;
    char path[256];
    strcpy(path, in_folder("mine.data"));
    assert_int_equal(mprof_start(path), 0);
    fake_alloc(5, 2);
    assert_int_equal(mprof_stop(), 0);
    fake_check = MPROF_E_UNPATCHED;
    assert_int_equal(mprof_start(path), MPROF_E_UNPATCHED);
    assert_int_equal(mprof_start(NULL), MPROF_E_UNPATCHED);
    fake_check = 0;
    check_complete(path);
    assert_int_equal(status().bytes, 5);
    assert_int_equal(mprof_reset(), 0);
}

static void what_was_recorded_survives_a_kill(void **state) {
    (void)state;
    char path[256];
    strcpy(path, in_folder("killed.data"));
    pid_t child = fork();
    if (child == 0) {
        if (mprof_start(path) == 0)
            for (int i = 0; i < 1000; i++)
                fake_alloc(10, 1);
        kill(getpid(), SIGKILL);
    }
    int result;
    waitpid(child, &result, 0);
    assert_true(WIFSIGNALED(result));
    size_t size;
    char *data = read_file(path, &size);
    const struct mprof_header *header = (const void *)data;
    const struct mprof_record *record;
    uint64_t bytes = 0;
    for (uint64_t at = MPROF_HEADER_BYTES; at < header->used;
         at += record->bytes) {
        record = (const void *)(data + at);
        const struct mprof_block *block = (const void *)record;
        const struct mprof_lisp_counter *counter = (const void *)(block + 1);
        if (record->type != MPROF_COUNTERS)
            continue;
        for (uint32_t i = 0; i < block->count; i++)
            bytes += mprof__lisp_counter_read(data, &counter[i]).bytes;
    }
    assert_int_equal(bytes, 10000);
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_is_there_while_it_is_written),
        cmocka_unit_test(bad_files_are_errors),
        cmocka_unit_test(a_start_that_fails_touches_no_file),
        cmocka_unit_test(what_was_recorded_survives_a_kill),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
