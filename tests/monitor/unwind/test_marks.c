/* test_marks.c - the marks of a thread, set in a stack that is made up. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/base/table.h"
#include "monitor/unwind/marks.h"

enum { SLOTS = 64, COUNT = 5 };

static uintptr_t stack[SLOTS]; /* grows downwards, as a real one */
static struct mprof__marks marks;

/* Marks at every tenth word, the outermost first. */
static void begin(void) {
    mprof__unmap(marks.mark, marks.room * sizeof *marks.mark);
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
    (void)state;
    begin();
    for (int i = 0; i < COUNT; i++) {
        assert_true(mprof__is_mark(at(i)));
        assert_int_equal(mprof__marked_address(at(i)), before(i));
    }
    for (int i = 0; i < COUNT; i++) {
        uintptr_t sp = marks.mark[i].sp;
        assert_int_equal(mprof__marks_find(&marks, at(i), sp), i);
        assert_int_equal(mprof__marks_find(&marks, at(i), sp + 16), -1);
        assert_int_equal(mprof__marks_find(&marks, at(i) + 1, sp), -1);
    }
}

/* Whatever is known of it: a frame may come back that has one. */
static void a_mark_leads_to_its_address_for_good(void **state) {
    uintptr_t words[COUNT];
    (void)state;
    begin();
    for (int i = 0; i < COUNT; i++)
        words[i] = at(i);
    mprof__marks_drop(&marks, 0);
    for (int i = 0; i < COUNT; i++)
        stack[SLOTS - 10 * (i + 1)] = 5000 + (uintptr_t)i;
    for (int i = 0; i < COUNT; i++) {
        uintptr_t slot = (uintptr_t)&stack[SLOTS - 10 * (i + 1)];
        mprof__marks_set(&marks, slot, slot + 8);
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(mprof__marked_address(words[i]), before(i));
        assert_int_equal(mprof__marked_address(at(i)), 5000 + i);
    }
}

/* ... and is not taken for a later one at the same place. */
static void marks_at_one_place_differ(void **state) {
    uintptr_t slot = (uintptr_t)&stack[SLOTS - 10], words[4];
    (void)state;
    begin();
    mprof__marks_drop(&marks, 0);
    for (int i = 0; i < 4; i++) {
        stack[SLOTS - 10] = before(0);
        assert_int_equal(mprof__marks_set(&marks, slot, slot + 8), 0);
        words[i] = at(0);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(words[i], words[j]);
        mprof__marks_drop(&marks, 0);
    }
    /* A mark is not marked. */
    assert_int_equal(mprof__marks_set(&marks, slot, slot + 8), -1);
}

static void there_may_be_many_marks(void **state) {
    enum { MANY = 10000 };
    static uintptr_t deep[MANY];
    (void)state;
    begin();
    mprof__marks_drop(&marks, 0);
    for (int i = 0; i < MANY; i++) {
        uintptr_t slot = (uintptr_t)&deep[MANY - 1 - i];
        deep[MANY - 1 - i] = 4711; /* of a recursion */
        assert_int_equal(mprof__marks_set(&marks, slot, slot + 8), i);
    }
    mprof__marks_check(&marks);
    mprof__marks_lift(&marks);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(deep[i], 4711);
}

/* Nothing of the stack is asked for then. */
static void marks_that_are_dropped_are_no_more_known(void **state) {
    (void)state;
    begin();
    uint32_t serial = marks.mark[2].serial;
    mprof__marks_drop(&marks, 2);
    assert_int_equal(marks.count, 2);
    assert_false(mprof__marks_has(&marks, 2, serial));
    assert_int_equal(mprof__marks_find(&marks, at(2), marks.mark[2].sp), -1);
    mprof__marks_lift(&marks);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(mprof__is_mark(at(i)), i >= 2);
}

/* A page that the program has made inaccessible, or not to be written. */
static void stacks_that_are_gone_are_left_alone(void **state) {
    enum { WORDS = 512 };
    static const int protections[] = {PROT_NONE, PROT_READ};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        uintptr_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(page, MAP_FAILED);
        begin();
        mprof__marks_drop(&marks, 0);
        page[WORDS - 2] = 77;
        uintptr_t slot = (uintptr_t)&page[WORDS - 2];
        assert_int_equal(mprof__marks_set(&marks, slot, slot + 8), 0);
        mprotect(page, 4096, protections[i]);
        mprof__marks_lift(&marks);
        mprotect(page, 4096, PROT_READ);
        assert_true(mprof__is_mark(page[WORDS - 2]));
        munmap(page, 4096);
    }
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
    stack[SLOTS - 20] = 77;
    mprof__marks_thin(&marks);
    assert_int_equal(at(1), 77);
    assert_int_equal(at(3), before(3));
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
    return none_is_left() && me == (pid_t)syscall(SYS_gettid);
}

static void marks_are_lifted_in_a_child_too(void **state) {
    int result;
    (void)state;
    begin();
    marks.thread = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(restores_in_child() ? 0 : 1);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

static void swap_two(void) {
    struct mprof__mark mark = marks.mark[1];
    marks.mark[1] = marks.mark[2];
    marks.mark[2] = mark;
    mprof__marks_check(&marks);
}

static void repeat_a_serial(void) {
    marks.mark[3].serial = marks.mark[2].serial;
    mprof__marks_check(&marks);
}

static void set_further_out(void) {
    uintptr_t slot = (uintptr_t)&stack[SLOTS - 12];
    mprof__marks_set(&marks, slot, slot + 8);
    mprof__marks_check(&marks);
}

static void have_more_than_there_are(void) {
    marks.count = marks.room + 1;
    mprof__marks_check(&marks);
}

static void broken_marks_are_noticed(void **state) {
    (void)state;
    begin();
    assert_true(check_aborts(swap_two));
    assert_true(check_aborts(repeat_a_serial));
    assert_true(check_aborts(set_further_out));
    assert_true(check_aborts(have_more_than_there_are));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark_stands_for_the_address),
        cmocka_unit_test(a_mark_leads_to_its_address_for_good),
        cmocka_unit_test(marks_at_one_place_differ),
        cmocka_unit_test(there_may_be_many_marks),
        cmocka_unit_test(marks_that_are_dropped_are_no_more_known),
        cmocka_unit_test(stacks_that_are_gone_are_left_alone),
        cmocka_unit_test(every_other_mark_stays_when_thinned),
        cmocka_unit_test(what_the_program_wrote_since_stays),
        cmocka_unit_test(marks_of_a_thread_that_ends_are_lifted),
        cmocka_unit_test(marks_are_lifted_in_a_child_too),
        cmocka_unit_test(broken_marks_are_noticed),
    };
    return check_result(cmocka_run_group_tests(tests, NULL, NULL));
}
