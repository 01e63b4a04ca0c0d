/* The threads of the process: who waits for whom, and what a child takes over.
 */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"

enum { WHILE = 50 * 1000 }; /* microseconds that a thread stays inside */

static int inside, left; /* atomic */

static void await(int *flag) {
    while (!mprof__load_acquire(flag))
        sched_yield();
}

/* Long enough for somebody who does not wait. */
static void stay_inside(void) {
    struct mprof__self *me = mprof__enter();
    mprof__store_release(&inside, 1);
    usleep(WHILE);
    mprof__store_release(&left, 1);
    mprof__leave(me);
}

static void *stay(void *data) {
    stay_inside();
    return data;
}

static pthread_key_t key;

/* Once more in each round of destructors, until the thread has no state of its
 * own any more. */
static void late(void *data) {
    struct mprof__self *me = mprof__enter();
    bool shared = me->shared;
    mprof__leave(me);
    if (shared)
        stay_inside();
    else
        pthread_setspecific(key, data);
}

static void *end_late(void *data) {
    mprof__leave(mprof__enter());
    pthread_setspecific(key, data);
    return NULL;
}

/* It is left when all threads are. */
static void check_leaving(void *(*body)(void *)) {
    pthread_t thread;
    inside = left = 0;
    pthread_create(&thread, NULL, body, &key);
    await(&inside);
    assert_true(mprof__threads_wait());
    assert_true(mprof__load_acquire(&left));
    pthread_join(thread, NULL);
}

static void who_stops_waits_for_all_that_are_inside(void **state) {
    (void)state;
    check_leaving(stay);
}

static void who_stops_waits_for_threads_that_are_nearly_gone(void **state) {
    (void)state;
#ifdef __SANITIZE_THREAD__
    leave_out("ThreadSanitizer ends a thread before the last round");
#endif
    check_leaving(end_late);
}

static struct mprof__self *holder;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int forked;

static void *hold(void *data) {
    holder = mprof__enter();
    mprof__lock(&held);
    mprof__store_release(&inside, 1);
    await(&forked);
    mprof__unlock(&held);
    mprof__leave(holder);
    return data;
}

/* What a new thread of the child takes over is not what the old one held: when
 * it ends it would give that back. */
static int look_in_child(void) {
    mprof__selves_forked();
    return holder->held_count == 0 && holder->stack == 0 && holder->dead &&
                   holder->marks == NULL && !mprof__self->dead
               ? 0
               : 1;
}

static void a_child_has_no_other_threads(void **state) {
    (void)state;
    pthread_t thread;
    int status = -1;
    inside = forked = 0;
    mprof__leave(mprof__enter());
    pthread_create(&thread, NULL, hold, NULL);
    await(&inside);
    pid_t child = fork();
    if (child == 0)
        _exit(look_in_child());
    mprof__store_release(&forked, 1);
    pthread_join(thread, NULL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void nothing(struct mprof__self *me) {
    (void)me;
}

/* A jump left the hook: malloc() enters again where free() had been called, but
 * nothing that the hook calls. */
static void who_jumped_enters_again(void **state) {
    uintptr_t stack = mprof__stack();
    struct mprof__self *me = mprof__enter_slowly(stack);
    (void)state;
    assert_non_null(me);
    assert_null(mprof__enter_slowly(stack - 64));
    assert_ptr_equal(mprof__enter_slowly(stack - 48), me);
    assert_ptr_equal(mprof__enter_slowly(stack), me);
    mprof__leave(me);
    assert_int_equal(me->stack, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_stops_waits_for_all_that_are_inside),
        cmocka_unit_test(who_stops_waits_for_threads_that_are_nearly_gone),
        cmocka_unit_test(a_child_has_no_other_threads),
        cmocka_unit_test(who_jumped_enters_again),
    };
    pthread_key_create(&key, late);
    mprof__selves_initialize(nothing);
    return check_result(cmocka_run_group_tests(tests, NULL, NULL));
}
