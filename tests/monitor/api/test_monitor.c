/* The public functions, and threads, with allocations that are only told. */
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
#include "monitor/base/self.h"
#include "monitor/record/find_counter.h"
#include "monitor/unwind/generation.h"

static void counts_from_start_to_stop(void **state) {
    (void)state;
    fake_alloc(1, 0);
    assert_int_equal(mprof_start(NULL), 0);
    for (int i = 0; i < 100; i++)
        fake_alloc(10, i % 4);
    assert_int_equal(mprof_stop(), 0);
    fake_alloc(1, 0);
    struct mprof_status s = status();
    assert_int_equal(s.running, 0);
    assert_int_equal(s.allocs, 100);
    assert_int_equal(s.bytes, 1000);
    assert_int_equal(s.threads, 1);
    /* A second start goes on, a reset begins anew. */
    assert_int_equal(mprof_start(NULL), 0);
    fake_alloc(7, 0);
    assert_int_equal(status().bytes, 1007);
    assert_int_equal(mprof_reset(), 0);
    assert_int_equal(status().running, 1);
    assert_int_equal(status().bytes, 0);
    fake_alloc(3, 0);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(status().bytes, 3);
    assert_int_equal(mprof_reset(), 0);
    assert_int_equal(status().bytes, 0);
    assert_int_equal(mprof_save(in_folder("x")), MPROF_E_STOPPED);
}

/* Of Lisp alone.  Going on is going on, whatever was asked for since. */
static void what_is_sampled_is_not_exact(void **state) {
    struct mprof_scope scope = {0};
    (void)state;
    assert_int_equal(mprof_set_heaps(MPROF_HEAP_LISP), 0);
    assert_int_equal(mprof_set_sampling(MPROF_MOST_SAMPLING), 0);
    assert_int_equal(mprof_start(NULL), 0);
    assert_int_equal(mprof_scope_begin(&scope, 0), MPROF_E_SAMPLED);
    fake_alloc(5, 2);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_set_sampling(0), 0);
    assert_int_equal(mprof_resume(), 0);
    assert_int_equal(status().bytes, 5);
    assert_int_equal(mprof_scope_begin(&scope, 0), MPROF_E_SAMPLED);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_start(NULL), 0);
    assert_int_equal(status().bytes, 0);
    assert_int_equal(mprof_scope_begin(&scope, 0), 0);
    assert_int_equal(mprof_scope_end(&scope), 0);
    mprof_scope_free(&scope);
    assert_int_equal(mprof_reset(), 0);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_set_sampling(512), 0);
    assert_int_equal(mprof_set_heaps(MPROF_HEAP_LISP | MPROF_HEAP_MALLOC), 0);
    assert_int_equal(mprof_start(NULL), 0);
    assert_int_equal(mprof_scope_begin(&scope, 0), 0);
    assert_int_equal(mprof_scope_end(&scope), 0);
    mprof_scope_free(&scope);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_set_sampling(0), 0);
    assert_int_equal(mprof_set_heaps(MPROF_HEAP_LISP), 0);
    assert_int_equal(mprof_reset(), 0);
}

static void wrong_arguments_are_refused(void **state) {
    (void)state;
    assert_int_equal(mprof_start(NULL), 0);
    fake_alloc(5, 2);
    for (int running = 1; running >= 0; running--) {
        assert_int_equal(mprof_save(NULL), MPROF_E_ARGUMENT);
        assert_int_equal(mprof_status(NULL), MPROF_E_ARGUMENT);
        assert_int_equal(mprof_set_heaps(0), MPROF_E_ARGUMENT);
        assert_int_equal(mprof_set_heaps(4), MPROF_E_ARGUMENT);
        assert_int_equal(mprof_set_heaps(~0u), MPROF_E_ARGUMENT);
        assert_int_equal(mprof_set_sampling(1), MPROF_E_ARGUMENT);
        assert_int_equal(mprof_set_sampling(MPROF_MOST_SAMPLING + 1),
                         MPROF_E_ARGUMENT);
        set_mprof_autosave(-1);
        assert_int_equal(status().running, running);
        assert_int_equal(status().bytes, 5);
        assert_int_equal(mprof_stop(), 0);
    }
    assert_int_equal(mprof_restart(NULL), 0);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_reset(), 0);
    assert_int_equal(mprof_save(NULL), MPROF_E_ARGUMENT);
    assert_string_equal(mprof_strerror(1000), mprof_strerror(-1));
}

static void a_child_records_nothing_into_the_parents_file(void **state) {
    (void)state;
    assert_int_equal(mprof_start(in_folder("fork.data")), 0);
    fake_alloc(5, 2);
    pid_t child = fork();
    if (child == 0) {
        fake_alloc(1000, 2);
        _exit(mprof_stop());
    }
    int result;
    waitpid(child, &result, 0);
    assert_int_equal(result, 0);
    assert_int_equal(status().bytes, 5);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_reset(), 0);
}

enum { THREADS = 4, ROUNDS = 20000 };
static uint64_t told; /* bytes, atomic */
static int go;

static void __attribute__((noinline)) deeper(int depth, uint64_t bytes) {
    if (depth == 0)
        fake_alloc(bytes, (int)(bytes % 4));
    else
        deeper(depth - 1, bytes);
    __asm__ volatile("" ::: "memory");
}

static void *allocate(void *data) {
    unsigned seed = (unsigned)(uintptr_t)data;
    while (!mprof__load_acquire(&go))
        sched_yield();
    uint64_t sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t bytes = (uint64_t)rand_r(&seed) % 100;
        deeper(rand_r(&seed) % 20, bytes);
        sum += bytes;
    }
    mprof__add_relaxed(&told, sum);
    return NULL;
}

static void threads_are_all_counted(void **state) {
    (void)state;
    pthread_t thread[THREADS];
    assert_int_equal(mprof_start(NULL), 0);
    for (int round = 0; round < 3; round++) {
        go = 0;
        for (intptr_t i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, allocate, (void *)(i + 1));
        mprof__store_release(&go, 1);
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(mprof_save(in_folder("running.data")), 0);
            check_complete(in_folder("running.data"));
            pthread_join(thread[i], NULL);
        }
    }
    assert_int_equal(mprof_stop(), 0);
    struct mprof_status s = status();
    assert_int_equal(s.allocs, 3 * THREADS * ROUNDS);
    assert_int_equal(s.bytes, told);
    assert_int_equal(s.threads, 3 * THREADS);
    assert_int_equal(s.unplaced_allocs, 0);
    assert_int_equal(s.folded_allocs, 0);
    assert_int_equal(mprof_reset(), 0);
}

static void starting_and_stopping_while_threads_run(void **state) {
    (void)state;
    pthread_t thread[THREADS];
    go = 1;
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, allocate, (void *)(i + 1));
    for (int i = 0; i < 200; i++) {
        assert_int_equal(mprof_start(NULL), 0);
        sched_yield();
        if (i % 3 == 0)
            assert_int_equal(mprof_reset(), 0);
        assert_int_equal(mprof_stop(), 0);
        if (i % 5 == 0)
            assert_int_equal(mprof_reset(), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(mprof_reset(), 0);
}

static void *allocate_once(void *data) {
    fake_alloc(1, 3);
    return data;
}

static void little_room_folds_and_counts_everything(void **state) {
    (void)state;
    mprof_set_limit(1);
    assert_int_equal(mprof_start(NULL), 0);
    for (int i = 0; i < 2900; i++)
        deeper(i, 1);
    /* A new thread and a new bin find their place all the same. */
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, allocate_once, NULL);
        pthread_join(thread, NULL);
    }
    assert_int_equal(mprof_stop(), 0);
    struct mprof_status s = status();
    assert_int_equal(s.bytes, 3000);
    assert_true(s.folded_allocs > 0);
    assert_int_equal(s.unplaced_allocs, 0);
    assert_int_equal(mprof_reset(), 0);
    mprof_set_limit(64 << 20);
}

/* The address of one that is collected may be another one's. */
static void classes_that_have_bins_are_kept(void **state) {
    (void)state;
    assert_int_equal(mprof_start(NULL), 0);
    for (uintptr_t object = 1000; object < 1010; object++) {
        fake_alloc_of(8, object);
        assert_int_equal(fake_kept, object);
    }
    fake_alloc_of(8, 1000);
    assert_int_equal(fake_kept, 1009);
    assert_int_equal(status().bytes, 88);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_reset(), 0);
}

static void interpreted_functions_are_kept(void **state) {
    (void)state;
    fake_interpreter = (uintptr_t)deeper;
    fake_object = 0x5550;
    fake_kept = 0;
    assert_int_equal(mprof_start(NULL), 0);
    deeper(3, 1);
    assert_int_equal(fake_kept, fake_object);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_reset(), 0);
    fake_interpreter = fake_object = 0;
}

static uint64_t duration(void) {
    return mprof__arena_header(&mprof__tracked()->arena)->duration;
}

static void the_time_of_all_its_parts_is_a_recordings(void **state) {
    (void)state;
    assert_int_equal(mprof_start(NULL), 0);
    usleep(20000);
    assert_int_equal(mprof_stop(), 0);
    uint64_t first = duration();
    assert_true(first >= 20000000);
    assert_int_equal(mprof_start(NULL), 0);
    assert_int_equal(mprof_stop(), 0);
    assert_true(duration() > first);
    assert_int_equal(mprof_reset(), 0);
}

/* A library may have been closed unseen meanwhile. */
static void a_recording_that_goes_on_looks_at_code_again(void **state) {
    (void)state;
    assert_int_equal(mprof_start(NULL), 0);
    uint32_t before = mprof__this_generation();
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_start(NULL), 0);
    assert_int_not_equal(mprof__this_generation(), before);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_reset(), 0);
}

static void *look_at_record(void *data) {
    fake_alloc(1, 3);
    *(struct mprof_thread *)data =
        *mprof__self->heap[MPROF_LISP_HEAP].thread->record;
    return NULL;
}

/* Records are for the first threads, and then for those that come after one
 * that has ended. */
static void a_record_that_is_taken_over_is_of_a_thread_that_runs(void **state) {
    struct mprof_thread record;
    uint32_t most = 0;
    (void)state;
    assert_int_equal(mprof_start(NULL), 0);
    for (int i = 0; i < 80; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, look_at_record, &record);
        pthread_join(thread, NULL);
        assert_int_equal(record.flags, 0);
        if (record.members > most)
            most = record.members;
    }
    assert_true(most > 10);
    assert_int_equal(status().threads, 80);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_reset(), 0);
}

static jmp_buf out;

static void jump_out(void) {
    fake_inside = NULL;
    longjmp(out, 1);
}

static void a_jump_out_of_the_hook_locks_nobody_out(void **state) {
    (void)state;
    assert_int_equal(mprof_start(NULL), 0);
    fake_inside = jump_out;
    if (setjmp(out) == 0)
        deeper(20, 1);
    assert_null(fake_inside);
    deeper(10, 10);
    pthread_t thread;
    pthread_create(&thread, NULL, allocate_once, NULL);
    pthread_join(thread, NULL);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(status().bytes, 11);
    assert_int_equal(status().unplaced_allocs, 0);
    assert_int_equal(mprof_reset(), 0);
}

static void allocate_inside(void) {
    fake_inside = NULL;
    fake_alloc(100, 0);
}

static void an_allocation_inside_of_the_hook_is_counted(void **state) {
    (void)state;
    assert_int_equal(mprof_start(NULL), 0);
    fake_inside = allocate_inside;
    deeper(5, 1);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(status().bytes, 101);
    assert_int_equal(status().unplaced_allocs, 1);
    assert_int_equal(mprof_reset(), 0);
}

static void memory_is_given_back(void **state) {
    (void)state;
    uint64_t before = 0;
    for (int i = 0; i < 20; i++) {
        if (i == 1) /* a thread's marks stay */
            before = status().memory_bytes;
        assert_int_equal(mprof_start(NULL), 0);
        deeper(100, 1);
        assert_int_equal(mprof_stop(), 0);
        assert_int_equal(mprof_reset(), 0);
    }
    assert_int_equal(status().memory_bytes, before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_from_start_to_stop),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(what_is_sampled_is_not_exact),
        cmocka_unit_test(a_child_records_nothing_into_the_parents_file),
        cmocka_unit_test(threads_are_all_counted),
        cmocka_unit_test(starting_and_stopping_while_threads_run),
        cmocka_unit_test(classes_that_have_bins_are_kept),
        cmocka_unit_test(interpreted_functions_are_kept),
        cmocka_unit_test(the_time_of_all_its_parts_is_a_recordings),
        cmocka_unit_test(a_recording_that_goes_on_looks_at_code_again),
        cmocka_unit_test(a_record_that_is_taken_over_is_of_a_thread_that_runs),
        cmocka_unit_test(little_room_folds_and_counts_everything),
        cmocka_unit_test(a_jump_out_of_the_hook_locks_nobody_out),
        cmocka_unit_test(an_allocation_inside_of_the_hook_is_counted),
        cmocka_unit_test(memory_is_given_back),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
