/* test_marks.c - the marks of a thread, set in a stack that is made up. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/unwind/marks.h"

enum { SLOTS = 64, COUNT = 5 };

static uintptr_t stack[SLOTS]; /* grows downwards, as a real one */
static struct mprof__marks marks;

/* Marks at every tenth word, the outermost first. */
static void begin(void) {
    memset(&marks, 0, sizeof marks);
    marks.base = (uintptr_t)&stack[SLOTS];
    for (unsigned i = 0; i < SLOTS; i++)
        stack[i] = 1000 + i;
    for (int i = 0; i < COUNT; i++) {
        uintptr_t slot = (uintptr_t)&stack[SLOTS - 10 * (i + 1)];
        assert_int_equal(mprof__marks_set(&marks, slot, slot + 8), i);
    }
    mprof__marks_check(&marks);
}

static uintptr_t at(int mark) {
    return stack[SLOTS - 10 * (mark + 1)];
}

/* What stood there before there was a mark. */
static uintptr_t before(int mark) {
    return 1000 + SLOTS - 10 * ((uintptr_t)mark + 1);
}

static void a_mark_stands_for_the_address(void **state) {
    struct mprof__marks *owner;
    (void)state;
    begin();
    for (int i = 0; i < COUNT; i++) {
        assert_true(mprof__is_mark(at(i)));
        assert_int_equal(marks.mark[i].ra, before(i));
    }
    mprof__marks[0] = &marks;
    uintptr_t sp = marks.mark[2].sp;
    assert_ptr_equal(mprof__marks_find(at(2), sp, &owner), &marks.mark[2]);
    assert_null(mprof__marks_find(at(2), sp + 16, &owner));
    mprof__marks[0] = NULL;
}

static void marks_that_are_dropped_leave_no_trace(void **state) {
    (void)state;
    begin();
    mprof__marks_drop(&marks, 2);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(mprof__is_mark(at(i)), i < 2);
    for (int i = 2; i < COUNT; i++)
        assert_int_equal(at(i), before(i));
    mprof__marks_lift(&marks);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(at(i), before(i));
}

static void every_other_mark_stays_when_thinned(void **state) {
    (void)state;
    begin();
    uint32_t was = marks.last_serial;
    mprof__marks_thin(&marks);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(mprof__is_mark(at(i)), i % 2 == 0);
    assert_false(mprof__marks_has(&marks, 0, 1));
    assert_true(mprof__marks_has(&marks, 0, was + 1));
}

static void what_the_program_wrote_since_stays(void **state) {
    (void)state;
    begin();
    stack[SLOTS - 10] = 77;
    mprof__marks_lift(&marks);
    assert_int_equal(at(0), 77);
    assert_int_equal(at(1), before(1));
    begin();
    stack[SLOTS - 10 * COUNT] = 77;
    mprof__marks_drop(&marks, 2);
    assert_int_equal(at(COUNT - 1), 77);
    begin();
    stack[SLOTS - 20] = 77;
    mprof__marks_thin(&marks);
    assert_int_equal(at(1), 77);
    assert_int_equal(at(3), before(3));
    /* Its frame has returned: the word is another's by now. */
    begin();
    marks.mark[2].sp |= 1;
    mprof__marks_lift(&marks);
    assert_true(mprof__is_mark(at(2)));
}

static bool none_is_left(void) {
    for (int i = 0; i < COUNT; i++)
        if (at(i) != before(i))
            return false;
    return true;
}

/* They may be on another thread's stack, which goes on without this one. */
static void marks_of_a_thread_that_ends_are_lifted(void **state) {
    (void)state;
    begin();
    marks.thread = (pid_t)syscall(SYS_gettid);
    mprof__marks_give(&marks);
    assert_true(none_is_left());
    assert_int_equal(marks.thread, 0);
}

/* The thread has another number there, and marks its frames again. */
static bool restores_in_child(void) {
    mprof__marks_forked(&marks);
    pid_t me = marks.thread;
    if (!none_is_left() || mprof__marks[1]->thread != 0)
        return false;
    begin();
    marks.thread = me;
    mprof__marks_restore();
    return none_is_left();
}

static void marks_are_lifted_in_a_child_too(void **state) {
    static struct mprof__marks others;
    int result;
    (void)state;
    begin();
    marks.thread = (pid_t)syscall(SYS_gettid);
    others = marks;
    mprof__marks[0] = &marks;
    mprof__marks[1] = &others;
    pid_t child = fork();
    if (child == 0)
        _exit(restores_in_child() ? 0 : 1);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    mprof__marks[0] = mprof__marks[1] = NULL;
}

static void swap_two(void) {
    struct mprof__mark mark = marks.mark[1];
    marks.mark[1] = marks.mark[2];
    marks.mark[2] = mark;
    mprof__marks_check(&marks);
}

static void repeat_a_serial(void) {
    marks.serial[3] = marks.serial[2];
    mprof__marks_check(&marks);
}

static void set_further_out(void) {
    uintptr_t slot = (uintptr_t)&stack[SLOTS - 12];
    mprof__marks_set(&marks, slot, slot + 8);
    mprof__marks_check(&marks);
}

static void have_half_a_mark(void) {
    marks.used -= 8;
    mprof__marks_check(&marks);
}

static void broken_marks_are_noticed(void **state) {
    (void)state;
    begin();
    assert_true(check_aborts(swap_two));
    assert_true(check_aborts(repeat_a_serial));
    assert_true(check_aborts(set_further_out));
    assert_true(check_aborts(have_half_a_mark));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark_stands_for_the_address),
        cmocka_unit_test(marks_that_are_dropped_leave_no_trace),
        cmocka_unit_test(every_other_mark_stays_when_thinned),
        cmocka_unit_test(what_the_program_wrote_since_stays),
        cmocka_unit_test(marks_of_a_thread_that_ends_are_lifted),
        cmocka_unit_test(marks_are_lifted_in_a_child_too),
        cmocka_unit_test(broken_marks_are_noticed),
    };
    return check_result(cmocka_run_group_tests(tests, NULL, NULL));
}
