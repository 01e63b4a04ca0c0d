/* The data file while it grows: whose it stays, and who finds room in it. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/fake.h"
#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/base/table.h"
#include "monitor/record/thread.h"

enum { LIMIT = 8 << 20, MUCH = 300 * 1024 }; /* more than it grows by */

static char path[] = "/tmp/mprof-test-XXXXXX";

static int set_up(void **state) {
    (void)state;
    int fd = mkstemp(path);
    mprof__threads_initialize();
    return fd < 0 || close(fd) != 0 || unlink(path) != 0;
}

static int tear_down(void **state) {
    (void)state;
    return unlink(path);
}

static bool is_locked(void) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_OFD_GETLK, &lock), 0);
    close(fd);
    return lock.l_type != F_UNLCK;
}

static void grow(struct mprof__arena *arena) {
    void *record = mprof__arena_record(arena, MPROF_STRING, MUCH);
    assert_non_null(record);
    mprof__arena_publish(arena, record);
}

/* A program may close all descriptors; what is mapped keeps the lock. */
static void a_file_that_was_closed_stays_locked(void **state) {
    (void)state;
    struct mprof__arena arena;
    assert_int_equal(mprof__arena_open(&arena, path, LIMIT), 0);
    assert_true(is_locked());
    close(arena.fd);
    assert_true(is_locked());
    grow(&arena);
    assert_true(is_locked());
    grow(&arena);
    assert_true(is_locked());
    mprof__arena_close(&arena);
    assert_false(is_locked());
}

static struct mprof__session *session;
static pthread_barrier_t ready;

static void *ask_for_room(void *got) {
    assert_non_null(mprof__enter());
    struct mprof__thread *thread = mprof__thread_self(session, MPROF_LISP_HEAP);
    assert_non_null(thread);
    struct mprof__blocks blocks = thread->trees.tree.node_blocks;
    blocks.last = NULL;
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&ready);
    *(void **)got = mprof__block_next(&blocks, MPROF__FOR_CHAINS);
    mprof__leave(mprof__self);
    return NULL;
}

/* What there was room for before the lock has none behind it. */
static void what_another_thread_took_is_not_given_twice(void **state) {
    (void)state;
    pthread_t thread;
    int error;
    void *got = &got;
    pthread_barrier_init(&ready, NULL, 2);
    session = mprof__session_new(NULL, LIMIT, 1, &error);
    assert_non_null(session);
    pthread_create(&thread, NULL, ask_for_room, &got);
    pthread_barrier_wait(&ready);
    pthread_mutex_lock(&session->arena.lock);
    pthread_barrier_wait(&ready);
    usleep(50 * 1000); /* it waits for the lock by then */
    mprof__add_relaxed(&mprof__mapped, LIMIT);
    pthread_mutex_unlock(&session->arena.lock);
    pthread_join(thread, NULL);
    mprof__sub_relaxed(&mprof__mapped, LIMIT);
    assert_null(got);
    mprof__session_free(session);
    pthread_barrier_destroy(&ready);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_that_was_closed_stays_locked,
                                        set_up, tear_down),
        cmocka_unit_test(what_another_thread_took_is_not_given_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
