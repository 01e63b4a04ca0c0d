/* The walk against the C library's own unwinder, on code that is hard. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "tests/support/fake.h"
#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/record/find_counter.h"
#include "monitor/names/sites.h"
#include "monitor/record/thread.h"

static struct mprof__session *session;
static struct mprof_thread record;
static struct mprof__chain chain, fresh;

enum { MOST = 20000 };
static void *expected[MOST];
static int expected_count;

/* The C library's unwinder sees the barrier, as a frame of its own. */
static void leave_out_barriers(void) {
    int kept = 0;
    for (int i = 0; i < expected_count; i++)
        if (!mprof__in_barrier((uintptr_t)expected[i]))
            expected[kept++] = expected[i];
    expected_count = kept;
}

/* Walk from here, both ways.  backtrace() has this function itself first, and
 * maybe a sanitizer's own before. */
static void __attribute__((noinline, optimize("no-omit-frame-pointer")))
walk_both(void) {
    struct mprof__self *me = mprof__enter();
    assert_non_null(me);
    mprof__walk(&chain, MPROF__FRAME());
    mprof__walk_done(&chain);
    mprof__leave(me);
    expected_count = backtrace(expected, MOST);
    leave_out_barriers();
    __asm__ volatile("" ::: "memory");
}

static void check_same(void) {
    int own = 0;
    assert_false(chain.cut);
    while (own < 3 &&
           (uintptr_t)expected[own] != chain.frames[chain.count - 1].pc)
        own++;
    assert_int_equal(chain.count, expected_count - own);
    for (int i = own; i < expected_count; i++)
        assert_ptr_equal(chain.frames[chain.count - 1 - (size_t)(i - own)].pc,
                         expected[i]);
}

static int set_up(void **state) {
    (void)state;
    int error;
    mprof__threads_initialize();
    mprof__marks_initialize();
    session = mprof__session_new(NULL, 64 << 20, 1, &error);
    mprof__chain_begin(&chain, mprof__site_of, &session->names, &record);
    mprof__chain_begin(&fresh, mprof__site_of, &session->names, &record);
    return session == NULL;
}

static int tear_down(void **state) {
    (void)state;
    mprof__chain_free(&chain);
    mprof__session_free(session);
    return 0;
}

static void plain_calls(void **state) {
    (void)state;
    walk_both();
    check_same();
    assert_true(chain.count > 3);
}

static int compare(const void *a, const void *b) {
    walk_both();
    return *(const int *)a - *(const int *)b;
}

static void through_the_c_library_without_frame_pointers(void **state) {
    (void)state;
    int numbers[] = {3, 1, 2};
    qsort(numbers, 3, sizeof numbers[0], compare);
    check_same();
}

static int __attribute__((noinline, optimize("O0"))) recurse(int depth) {
    if (depth == 0) {
        walk_both();
        return 0;
    }
    return recurse(depth - 1) + 1;
}

static void deep_recursion_is_complete(void **state) {
    (void)state;
    assert_int_equal(recurse(10000), 10000);
    assert_true(chain.count > 10000);
    check_same();
}

static void __attribute__((noinline, optimize("O2", "omit-frame-pointer")))
aligned_frame(int n) {
    _Alignas(64) volatile char space[256];
    space[n & 255] = 1;
    walk_both();
    space[n & 255] = space[0];
}

static void realigned_stack(void **state) {
    (void)state;
    aligned_frame(3);
    check_same();
}

static void __attribute__((noinline)) variable_frame(size_t n) {
    volatile char *space = __builtin_alloca(n);
    space[0] = 1;
    walk_both();
    space[n - 1] = 2;
}

static void frame_of_variable_size(void **state) {
    (void)state;
    variable_frame(100);
    check_same();
    variable_frame(5000);
    check_same();
}

static void handler(int signal) {
    (void)signal;
    walk_both();
}

static void out_of_a_signal_handler(void **state) {
    (void)state;
    struct sigaction action = {.sa_handler = handler}, old;
    sigaction(SIGUSR1, &action, &old);
    raise(SIGUSR1);
    check_same();
    sigaction(SIGUSR1, &old, NULL);
}

static void out_of_a_handler_on_its_own_stack(void **state) {
    (void)state;
    static char space[64 * 1024];
    stack_t stack = {.ss_sp = space, .ss_size = sizeof space}, old_stack;
    sigaltstack(&stack, &old_stack);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK},
                     old;
    sigaction(SIGUSR1, &action, &old);
    raise(SIGUSR1);
    check_same();
    sigaction(SIGUSR1, &old, NULL);
    sigaltstack(&old_stack, NULL);
}

static void *in_thread(void *data) {
    walk_both();
    return data;
}

static void from_another_thread(void **state) {
    (void)state;
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
    check_same();
}

static void code_without_tables_cuts_the_chain(void **state) {
    (void)state;
    struct mprof__unwind unwind;
    int local;
    assert_false(mprof__cfi_find((uintptr_t)&local, &unwind));
    const struct mprof__site *site =
        mprof__site_of(&session->names, (uintptr_t)&local, false);
    assert_false(site->has_rule);
    const struct mprof_function *f =
        mprof__arena_at(&session->arena, site->function);
    assert_int_equal(f->kind, MPROF_UNKNOWN);
}

/* A library that took the place of the first part of another one, and is gone
 * too, leaves nothing known of the rest: a third may be there now. */
static void what_is_known_goes_with_its_module(void **state) {
    (void)state;
    uintptr_t pc = (uintptr_t)recurse + 1;
    struct mprof__self *me = mprof__enter();
    assert_non_null(me);
    const struct mprof__site *known =
        mprof__site_of(&session->names, pc, false);
    assert_ptr_equal(mprof__site_of(&session->names, pc, false), known);
    uintptr_t start = known->unwind.module_start;
    const struct mprof__slot *slot =
        mprof__table_find(&session->names.modules, start);
    assert_non_null(slot);
    const struct mprof_module *module =
        mprof__arena_at(&session->arena, (mprof_ref)slot->value);
    assert_int_equal(module->flags, 0);
    mprof__store_release(&mprof__page.sessions.current, session);
    mprof__module_unloads(start, start + 1);
    mprof__store_release(&mprof__page.sessions.current, NULL);
    assert_int_equal(module->flags, MPROF_MODULE_UNLOADED);
    assert_ptr_not_equal(mprof__site_of(&session->names, pc, false), known);
    mprof__leave(me);
}

/* Functions of different frames that call each other, each from two places. */
enum { TURNS = 200000, DEEPEST = 60 };
static int turns;
static size_t most_kept;

static void __attribute__((noinline, optimize("no-omit-frame-pointer")))
walk_twice(void) {
    const void *frame = MPROF__FRAME();
    struct mprof__self *me = mprof__enter();
    assert_non_null(me);
    mprof__walk(&chain, frame);
    mprof__walk_done(&chain);
    fresh.generation = 0;
    fresh.marks = chain.marks;
    mprof__walk(&fresh, frame);
    mprof__leave(me);
    __asm__ volatile("" ::: "memory");
    assert_false(chain.cut);
    assert_int_equal(fresh.reused, 0);
    assert_int_equal(chain.count, fresh.count);
    for (size_t i = 0; i < chain.count; i++) {
        const struct mprof__frame *a = &chain.frames[i], *b = &fresh.frames[i];
        assert_ptr_equal(a->site, b->site);
        assert_true(a->pc == b->pc && a->low == b->low && a->high == b->high);
        assert_true(a->needs_bp == b->needs_bp && a->bp_at == b->bp_at);
        assert_true(!a->needs_bp || a->bp == b->bp);
    }
    if (chain.reused > most_kept)
        most_kept = chain.reused;
}

static void call_any(int depth);

static void __attribute__((noinline, optimize("omit-frame-pointer")))
small(int depth) {
    if (rand() % 2)
        call_any(depth);
    else
        call_any(depth + 1);
    __asm__ volatile("");
}

static void __attribute__((noinline, optimize("no-omit-frame-pointer")))
with_frame_pointer(int depth) {
    volatile char space[100];
    space[0] = 1;
    if (rand() % 2)
        call_any(depth);
    call_any(depth);
    space[1] = space[0];
}

static void __attribute__((noinline)) variable(int depth) {
    volatile char *space = __builtin_alloca(16 + (size_t)(rand() % 64));
    space[0] = 1;
    call_any(depth);
    space[1] = space[0];
    if (rand() % 3 == 0)
        call_any(depth + 2);
    __asm__ volatile("");
}

static int by_qsort;
static int compare_deeper(const void *a, const void *b) {
    call_any(by_qsort);
    return *(const int *)a - *(const int *)b;
}

static void __attribute__((noinline)) through_the_library(int depth) {
    int numbers[] = {2, 1};
    by_qsort = depth;
    qsort(numbers, 2, sizeof numbers[0], compare_deeper);
    __asm__ volatile("");
}

static jmp_buf somewhere;

static void __attribute__((noinline)) call_any(int depth) {
    if (++turns > TURNS)
        longjmp(somewhere, 1);
    if (rand() % 4 == 0)
        walk_twice();
    if (depth > DEEPEST)
        return;
    switch (rand() % 8) {
    case 0:
    case 1:
        small(depth + 1);
        break;
    case 2:
    case 3:
        with_frame_pointer(depth + 1);
        break;
    case 4:
        variable(depth + 1);
        break;
    case 5:
        through_the_library(depth + 1);
        break;
    default:
        return;
    }
    __asm__ volatile("");
}

static void random_calls_agree_with_a_walk_of_their_own(void **state) {
    (void)state;
    srand(1988);
    if (setjmp(somewhere) == 0)
        for (;;)
            call_any(rand() % 10);
    assert_true(most_kept > 20);
    assert_true(record.marks > 1000);
    mprof__marks_restore();
    mprof__chain_free(&fresh);
}

/* Its own frame pointer is saved in a frame that is the same. */
static void __attribute__((noinline, optimize("no-omit-frame-pointer")))
saves_frame_pointer(void) {
    walk_twice();
    __asm__ volatile("" ::: "memory");
}

static void __attribute__((noinline)) with_room(size_t n) {
    volatile char *space = __builtin_alloca(n);
    space[0] = 1;
    saves_frame_pointer();
    space[n - 1] = 2;
}

static void __attribute__((noinline)) between(size_t n) {
    volatile char space[32];
    space[0] = 1;
    with_room(n);
    space[1] = space[0];
}

/* With one of these sizes the frames further in are where they were. */
static void the_same_frame_called_by_another(void **state) {
    (void)state;
    most_kept = 0;
    for (size_t n = 16; n < 1024; n += 16) {
        with_room(1024);
        between(n);
    }
    assert_true(most_kept > 3);
}

static void __attribute__((noinline)) walk_often(int depth) {
    if (depth > 0)
        walk_often(depth - 1);
    else
        for (int i = 0; i < 5000; i++)
            walk_both();
    __asm__ volatile("" ::: "memory");
}

static size_t marked_outside; /* of a handler */

static void deep_in_handler(int signal) {
    (void)signal;
    walk_often(10);
    for (size_t i = 0; i < chain.exact_at; i++)
        marked_outside += chain.frames[i].marked;
}

/* Call VISIT where there are many frames that stay. */
static void __attribute__((noinline))
from_deep(int depth, void (*visit)(void)) {
    if (depth > 0)
        from_deep(depth - 1, visit);
    else
        visit();
    __asm__ volatile("" ::: "memory");
}

static void strike(void) {
    raise(SIGUSR1);
}

/* The rule for the very instruction may be wrong. */
static void no_marks_outside_of_a_handler(void **state) {
    (void)state;
    struct sigaction action = {.sa_handler = deep_in_handler}, old;
    marked_outside = 0;
    sigaction(SIGUSR1, &action, &old);
    from_deep(60, strike);
    sigaction(SIGUSR1, &old, NULL);
    check_same();
    assert_int_equal(marked_outside, 0);
}

/* A thread waits on a stack of its own, while this one goes on on its stack. */
static ucontext_t here, there, waiting;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int whose;

static void take_turn(int next) {
    pthread_mutex_lock(&turn);
    whose = next;
    pthread_cond_broadcast(&turned);
    pthread_mutex_unlock(&turn);
}

static void wait_for_turn(int mine) {
    pthread_mutex_lock(&turn);
    while (whose != mine)
        pthread_cond_wait(&turned, &turn);
    pthread_mutex_unlock(&turn);
}

static void wait_elsewhere(void) {
    take_turn(1);
    wait_for_turn(2);
    setcontext(&there);
}

static void lend_stack(void) {
    swapcontext(&there, &waiting);
    if (whose == 1) {
        walk_often(10);
        swapcontext(&there, &here);
    }
}

static void *lend(void *data) {
    from_deep(60, lend_stack);
    return data;
}

static void no_marks_on_the_stack_of_another_thread(void **state) {
    (void)state;
    static char space[64 * 1024];
    pthread_t thread;
#ifdef __SANITIZE_THREAD__
    leave_out("this sanitizer knows no other stacks");
#endif
    whose = 0;
    getcontext(&waiting);
    waiting.uc_stack.ss_sp = space;
    waiting.uc_stack.ss_size = sizeof space;
    makecontext(&waiting, wait_elsewhere, 0);
    uint64_t foreign = record.unmarked[MPROF_FOREIGN_STACK];
    uint64_t before = record.marks;
    pthread_create(&thread, NULL, lend, NULL);
    wait_for_turn(1);
    swapcontext(&here, &there);
    assert_int_equal(record.marks, before);
    assert_true(record.unmarked[MPROF_FOREIGN_STACK] > foreign);
    take_turn(2);
    pthread_join(thread, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_calls),
        cmocka_unit_test(through_the_c_library_without_frame_pointers),
        cmocka_unit_test(deep_recursion_is_complete),
        cmocka_unit_test(realigned_stack),
        cmocka_unit_test(frame_of_variable_size),
        cmocka_unit_test(out_of_a_signal_handler),
        cmocka_unit_test(out_of_a_handler_on_its_own_stack),
        cmocka_unit_test(from_another_thread),
        cmocka_unit_test(code_without_tables_cuts_the_chain),
        cmocka_unit_test(what_is_known_goes_with_its_module),
        cmocka_unit_test(the_same_frame_called_by_another),
        cmocka_unit_test(no_marks_outside_of_a_handler),
        cmocka_unit_test(no_marks_on_the_stack_of_another_thread),
        cmocka_unit_test(random_calls_agree_with_a_walk_of_their_own),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
