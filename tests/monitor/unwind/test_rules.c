/* Where rules hold, where they lead nowhere, and for how long. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "monitor/base/self.h"
#include "monitor/record/find_counter.h"
#include "monitor/names/sites.h"
#include "monitor/record/thread.h"
#include "monitor/unwind/arch.h"
#include "monitor/unwind/cfi.h"
#include "monitor/unwind/generation.h"
#include "monitor/unwind/marks.h"
#include "monitor/unwind/reach.h"

/* Two instructions that something lies behind which is no function's. */
extern const char short_one[], short_one_end[];
__asm__(".text\n"
        ".p2align 4\n"
        ".type short_one, %function\n"
        "short_one: .cfi_startproc\n"
        "    nop\n"
        "    ret\n"
        "    .cfi_endproc\n"
        "short_one_end: .size short_one, . - short_one\n"
        "    .p2align 4\n");

static void a_rule_holds_up_to_the_end_of_its_function(void **state) {
    struct mprof__unwind unwind;
    (void)state;
    assert_true(mprof__cfi_find((uintptr_t)short_one, &unwind));
    assert_int_equal(unwind.function, (uintptr_t)short_one);
    assert_true(mprof__cfi_find((uintptr_t)short_one_end - 1, &unwind));
    assert_int_equal(unwind.function, (uintptr_t)short_one);
    assert_false(mprof__cfi_find((uintptr_t)short_one_end, &unwind));
}

static struct mprof__session *session;

static void begin_session(void) {
    int error;
    mprof__threads_initialize();
    session = mprof__session_new(NULL, 16 << 20, 1, &error);
    assert_non_null(session);
    assert_non_null(mprof__enter());
}

static void end_session(void) {
    mprof__leave(mprof__self);
    mprof__session_free(session);
}

/* What does not return is the last thing that a function calls; but what a
 * signal struck is the instruction itself. */
static void a_return_address_is_of_the_call_before_it(void **state) {
    (void)state;
    begin_session();
    const struct mprof__site *site =
        mprof__site_of(&session->names, (uintptr_t)short_one_end, false);
    assert_true(site->has_rule);
    const struct mprof_function *f =
        mprof__arena_at(&session->arena, site->function);
    assert_int_equal(site->unwind.function, (uintptr_t)short_one);
    assert_int_not_equal(f->kind, MPROF_UNKNOWN);
    site = mprof__site_of(&session->names, (uintptr_t)short_one_end, true);
    assert_false(site->has_rule);
    end_session();
}

/* Where no code is, there is one of which ODD tells. */
static struct mprof__site odd = {.has_rule = true};

static const struct mprof__site *site_or_odd(void *context, uintptr_t pc,
                                             bool exact) {
    return pc < 4096 ? &odd : mprof__site_of(context, pc, exact);
}

enum { WORD = sizeof(uintptr_t) };

/* A rule by the stack pointer, and the way that is. */
struct way_of_rule {
    int32_t cfa, ra, bp; /* bp: 0 if it is not saved */
    enum mprof__way way;
};

static void check_ways(const struct way_of_rule *list, size_t n) {
    struct mprof__chain chain = {.first = NULL};
    struct mprof_thread record = {.heap = 0};
    begin_session();
    mprof__leave(mprof__self);
    mprof__chain_begin(&chain, site_or_odd, &session->names, &record);
    mprof__walk(&chain, MPROF__FRAME());
    mprof__walk_done(&chain);
    for (size_t i = 0; i < n; i++) {
        odd.unwind.rule = (struct mprof__rule){.cfa_base = MPROF__SP,
                                               .cfa_offset = list[i].cfa,
                                               .ra_base = MPROF__CFA,
                                               .ra_offset = list[i].ra,
                                               .bp_saved = list[i].bp != 0,
                                               .bp_base = MPROF__CFA,
                                               .bp_offset = list[i].bp};
        const struct mprof__known_site *known =
            mprof__known_site(&chain.known, 16 + 16 * i);
        assert_non_null(known);
        assert_int_equal(known->way, list[i].way);
    }
    mprof__chain_free(&chain);
    mprof__session_free(session);
}

/* The simple way says in 16 bits where things are; another one says all. */
static void what_is_far_from_the_cfa_is_found_by_rule(void **state) {
    const struct way_of_rule list[] = {
        {2 * WORD, -WORD, -2 * WORD, MPROF__BY_SP},
        {2 * WORD, -32768 * WORD, -32768 * WORD, MPROF__BY_SP},
        {2 * WORD, -32769 * WORD, -2 * WORD, MPROF__BY_RULE},
        {2 * WORD, -65537 * WORD, -2 * WORD, MPROF__BY_RULE},
        {2 * WORD, -WORD, -32769 * WORD, MPROF__BY_RULE},
        {2 * WORD, -WORD, -65538 * WORD, MPROF__BY_RULE},
        {2 * WORD, -WORD - 4, -2 * WORD, MPROF__BY_RULE},
        {2 * WORD, -WORD, -2 * WORD - 4, MPROF__BY_RULE}};
    (void)state;
    odd.ref = 0;
    check_ways(list, sizeof list / sizeof *list);
}

/* What is plain needs no other look. */
static void a_plain_frame_has_all_that_is_saved(void **state) {
    const struct way_of_rule list[] = {
        {2 * WORD, -WORD, -2 * WORD, MPROF__PLAINLY},
        {WORD, -WORD, 0, MPROF__PLAINLY},
        {32767 * WORD, -WORD, -32767 * WORD, MPROF__PLAINLY},
        {32768 * WORD, -WORD, 0, MPROF__BY_SP},
        {65537 * WORD, -WORD, 0, MPROF__BY_SP},
        {2 * WORD + 4, -WORD, 0, MPROF__BY_SP},
        {-WORD, -WORD, 0, MPROF__BY_SP},
        {0, -WORD, 0, MPROF__BY_SP},
        {2 * WORD, -3 * WORD, 0, MPROF__BY_SP},
        {2 * WORD, 0, 0, MPROF__BY_SP},
        {2 * WORD, WORD, 0, MPROF__BY_SP},
        {2 * WORD, -WORD, -3 * WORD, MPROF__BY_SP},
        {2 * WORD, -WORD, WORD, MPROF__BY_SP}};
    const struct way_of_rule interprets = {2 * WORD, -WORD, 0, MPROF__BY_SP};
    (void)state;
    odd.ref = 1;
    check_ways(list, sizeof list / sizeof *list);
    odd.interpreter = true;
    check_ways(&interprets, 1);
    odd.interpreter = false;
}

/* Others may look at code while this one closes a library. */
static void nothing_holds_while_a_library_is_closed(void **state) {
    (void)state;
    uint32_t before = mprof__code_generation();
    assert_int_equal(mprof__this_generation(), before);
    assert_int_equal(mprof__holds_for(before), before);
    mprof__modules_close();
    uint32_t meanwhile = mprof__this_generation();
    assert_int_not_equal(meanwhile, before);
    assert_int_equal(mprof__code_generation(), 0);
    assert_int_equal(mprof__holds_for(before), 0);
    assert_int_equal(mprof__holds_for(meanwhile), 0);
    mprof__modules_closed();
    uint32_t after = mprof__code_generation();
    assert_true(after != before && after != meanwhile && after != 0);
    assert_int_equal(mprof__holds_for(meanwhile), meanwhile);
}

static void pages_that_are_not_there_are_not_read(void **state) {
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct mprof__reach reach = {0, 0};
    char *at = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    assert_int_equal(munmap(at, page), 0);
    assert_int_equal(munmap(at + 3 * page, page), 0);
    uintptr_t first = (uintptr_t)at + page;
    assert_true(mprof__reaches(&reach, first + page - 8));
    assert_false(mprof__reaches(&reach, first - 8));
    assert_true(mprof__reaches(&reach, first + page));
    assert_true(mprof__reaches(&reach, first + 2 * page - 8));
    assert_false(mprof__reaches(&reach, first + 2 * page));
    assert_false(mprof__reaches(&reach, first + 4));
    munmap(at + page, 2 * page);
}

/* What a coroutine's first function returns to is the start of one. */
static void a_stack_begins_within_a_function_of_the_c_library(void **state) {
    struct mprof__unwind unwind;
    (void)state;
    mprof__marks_initialize();
    assert_true(mprof__cfi_find((uintptr_t)clone + 1, &unwind));
    assert_true(mprof__marks_begins(&unwind, unwind.function + 1));
    assert_false(mprof__marks_begins(&unwind, unwind.function));
    assert_true(mprof__cfi_find((uintptr_t)short_one, &unwind));
    assert_false(mprof__marks_begins(&unwind, unwind.function + 1));
}

/* Those of a thread that has ended mean nothing to the next one. */
static void marks_that_are_taken_over_are_new(void **state) {
    enum mprof_unmarked reason;
    uintptr_t stack[8] = {0};
    (void)state;
    struct mprof__marks *marks =
        mprof__marks_take((uintptr_t)(stack + 8), &reason);
    if (marks == NULL)
        leave_out("there can be no marks");
    int number =
        mprof__marks_set(marks, (uintptr_t)(stack + 4), (uintptr_t)(stack + 5));
    assert_int_equal(number, 0);
    uint32_t serial = marks->mark[0].serial;
    assert_true(mprof__marks_has(marks, 0, serial));
    mprof__marks_give(marks);
    assert_ptr_equal(mprof__marks_take((uintptr_t)(stack + 8), &reason), marks);
    assert_false(mprof__marks_has(marks, 0, serial));
    mprof__marks_give(marks);
}

#ifdef __x86_64__

/* Where the first call of FUNCTION leads, which calls another library. */
static uintptr_t stub_of(uintptr_t function) {
    for (uintptr_t at = function; at < function + 64; at++)
        if (mprof__call_target(at) != 0 &&
            mprof__is_stub(mprof__call_target(at)))
            return mprof__call_target(at);
    return 0;
}

static void __attribute__((noinline)) yield(void) {
    sched_yield();
    __asm__ volatile("" ::: "memory");
}

/* Eleven bytes on, it has pushed the number of the function. */
static void a_stub_pushes_one_word(void **state) {
    struct mprof__unwind unwind;
    (void)state;
    uintptr_t stub = stub_of((uintptr_t)yield);
    if (stub == 0 || stub % 16 != 0 || !mprof__cfi_find(stub + 15, &unwind) ||
        unwind.rule.cfa_offset != 16)
        return; /* functions are bound at once here */
    for (uintptr_t i = 0; i < 16; i++) {
        assert_true(mprof__cfi_find(stub + i, &unwind));
        assert_int_equal(unwind.rule.cfa_base, MPROF__SP);
        assert_int_equal(unwind.rule.cfa_offset, i < 11 ? 8 : 16);
    }
}

static struct mprof_thread record;
static struct mprof__chain chain;

void walk_here(void);
void __attribute__((noinline, optimize("no-omit-frame-pointer")))
walk_here(void) {
    struct mprof__self *me = mprof__enter();
    mprof__walk(&chain, MPROF__FRAME());
    mprof__leave(me);
    __asm__ volatile("" ::: "memory");
}

/* Each instruction has a row of its own, by all ways to advance. */
extern const char in_rows[], in_rows_later[];
__asm__(".text\n"
        "in_rows: .cfi_startproc\n"
        "    nop\n"
        "    .cfi_def_cfa_offset 16\n"
        "    nop\n"
        "    .cfi_remember_state\n"
        "    .cfi_def_cfa_offset 24\n"
        "    nop\n"
        "    .cfi_restore_state\n"
        "    nop\n"
        "    .cfi_def_cfa_offset 300\n"
        "    nop\n"
        "    .skip 100, 0x90\n"
        "in_rows_later: .cfi_def_cfa_offset 40\n"
        "    nop\n"
        "    .cfi_endproc\n");

static void each_row_begins_at_its_instruction(void **state) {
    const int32_t offsets[] = {8, 16, 24, 16, 300};
    struct mprof__unwind unwind;
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        assert_true(mprof__cfi_find((uintptr_t)in_rows + i, &unwind));
        assert_int_equal(unwind.rule.cfa_offset, offsets[i]);
    }
    assert_true(mprof__cfi_find((uintptr_t)in_rows_later - 1, &unwind));
    assert_int_equal(unwind.rule.cfa_offset, 300);
    assert_true(mprof__cfi_find((uintptr_t)in_rows_later, &unwind));
    assert_int_equal(unwind.rule.cfa_offset, 40);
}

/* Two functions whose rules are wrong call one whose frame has zeros, and the
 * place of one.  By the first one's, the stack pointer of its caller is further
 * in; by the other's, it is its own, and the frame pointer leads to another.
 * Who believed them would find an address to go on with. */
void shrinks(void), stays(void);
extern const char after_shrinks[], after_stays[];
uintptr_t own_place[2], no_place;
__asm__(".text\n"
        ".type with_zeros, @function\n"
        "with_zeros: .cfi_startproc\n"
        "    subq $72, %rsp\n"
        "    .cfi_adjust_cfa_offset 72\n"
        "    movq $0, 64(%rsp)\n"
        "    leaq no_place(%rip), %rax\n"
        "    movq %rax, 56(%rsp)\n"
        "    movq $0, 48(%rsp)\n"
        "    movq $0, 40(%rsp)\n"
        "    call walk_here\n"
        "    addq $72, %rsp\n"
        "    .cfi_adjust_cfa_offset -72\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size with_zeros, . - with_zeros\n"
        ".type shrinks, @function\n"
        "shrinks: .cfi_startproc\n"
        "    subq $8, %rsp\n"
        "    .cfi_def_cfa_offset -16\n"
        "    call with_zeros\n"
        "after_shrinks:\n"
        "    addq $8, %rsp\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size shrinks, . - shrinks\n"
        ".type stays, @function\n"
        "stays: .cfi_startproc\n"
        "    pushq %rbp\n"
        "    leaq own_place(%rip), %rbp\n"
        "    movq %rsp, (%rbp)\n"
        "    .cfi_escape 0x0f, 3, 0x76, 0, 0x06\n"
        "    .cfi_offset %rbp, -24\n"
        "    call with_zeros\n"
        "after_stays:\n"
        "    popq %rbp\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size stays, . - stays\n");

/* The chain ends with the frame at PC, the first of two that are known. */
static void check_cut_at(const char *pc) {
    assert_true(chain.cut);
    assert_int_equal(chain.count, 2);
    assert_int_equal(chain.frames[0].pc, (uintptr_t)pc);
}

static void no_frame_is_further_in_than_what_it_called(void **state) {
    (void)state;
    begin_session();
    mprof__leave(mprof__self);
    mprof__chain_begin(&chain, mprof__site_of, &session->names, &record);
    shrinks();
    check_cut_at(after_shrinks);
    stays();
    check_cut_at(after_stays);
    mprof__chain_free(&chain);
    mprof__session_free(session);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_holds_up_to_the_end_of_its_function),
        cmocka_unit_test(a_return_address_is_of_the_call_before_it),
        cmocka_unit_test(what_is_far_from_the_cfa_is_found_by_rule),
        cmocka_unit_test(a_plain_frame_has_all_that_is_saved),
        cmocka_unit_test(nothing_holds_while_a_library_is_closed),
        cmocka_unit_test(pages_that_are_not_there_are_not_read),
        cmocka_unit_test(a_stack_begins_within_a_function_of_the_c_library),
        cmocka_unit_test(marks_that_are_taken_over_are_new),
#ifdef __x86_64__
        cmocka_unit_test(a_stub_pushes_one_word),
        cmocka_unit_test(each_row_begins_at_its_instruction),
        cmocka_unit_test(no_frame_is_further_in_than_what_it_called),
#endif
    };
    return check_result(cmocka_run_group_tests(tests, NULL, NULL));
}
