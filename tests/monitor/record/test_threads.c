/* A thread that goes on where another one stopped, which has ended. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <pthread.h>

#include "tests/support/fake.h"
#include "monitor/base/self.h"
#include "monitor/include/mprof.h"
#include "monitor/record/find_counter.h"
#include "monitor/record/thread.h"
#include "monitor/unwind/arch.h"

/* More threads than have records of their own. */
enum { THREADS = 80, DEPTH = 60, TURNS = 2000 };

static void __attribute__((noinline)) deeper(int depth) {
    if (depth > 0)
        deeper(depth - 1);
    else
        for (int i = 0; i < TURNS; i++)
            fake_alloc(1, 0);
    __asm__ volatile("" ::: "memory");
}

static int taken_over, with_marks;

/* What another thread knew of its stack means nothing on this one. */
static void begin_anew(void) {
    struct mprof__self *me = mprof__enter();
    assert_non_null(me);
    struct mprof__thread *thread =
        mprof__thread_self(mprof__tracked(), MPROF_LISP_HEAP);
    assert_non_null(thread);
    taken_over += thread->record->members > 1;
    assert_int_equal(thread->memo.generation, 0);
    assert_int_equal(thread->chain.generation, 0);
    assert_ptr_equal(thread->chain.marks, me->marks);
    mprof__leave(me);
}

static void *live(void *data) {
    begin_anew();
    deeper(DEPTH);
    struct mprof__thread *thread = mprof__self->heap[MPROF_LISP_HEAP].thread;
    assert_int_not_equal(thread->memo.generation, 0);
    with_marks += mprof__self->marks != NULL;
    return data;
}

static void who_takes_over_begins_anew(void **state) {
    (void)state;
    assert_int_equal(mprof_start(NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, live, NULL);
        pthread_join(thread, NULL);
    }
    assert_true(taken_over > 0);
    assert_int_equal(with_marks, THREADS);
    assert_int_equal(mprof_stop(), 0);
    struct mprof_status s;
    assert_int_equal(mprof_status(&s), 0);
    assert_int_equal(s.allocs, THREADS * TURNS);
    assert_int_equal(s.threads, THREADS);
    assert_int_equal(mprof_reset(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_takes_over_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
