/* The two C functions of one compiled Lisp function, told by their code. */
#include "tests/support/check.h"

#include "monitor/ecl/entries.h"

int one_body(int n), other_body(int n);
int calls_none(int n), calls_one(int n), calls_one_twice(int n),
    calls_two(int n);

#define FUNCTION                                                               \
    __attribute__((noinline, noclone, visibility("hidden"),                    \
                   optimize("no-optimize-sibling-calls,no-ipa-icf,"            \
                            "no-ipa-pure-const,no-ipa-ra")))

/* Nothing is known of what they do. */
static volatile int said;

FUNCTION int one_body(int n) {
    return said + n;
}

FUNCTION int other_body(int n) {
    return said - n;
}

FUNCTION int calls_none(int n) {
    return said = n;
}

FUNCTION int calls_one(int n) {
    said = n;
    return one_body(n) + 1;
}

FUNCTION int calls_one_twice(int n) {
    said = one_body(n) + 1;
    return one_body(n) + 2;
}

FUNCTION int calls_two(int n) {
    said = one_body(n) + 1;
    return other_body(n) + 2;
}

static void check(int (*entry)(int), int (*body)(int)) {
    assert_int_equal(mprof__body_by_code((uintptr_t)entry), (uintptr_t)body);
}

static void an_entry_calls_its_body(void **state) {
    (void)state;
    check(calls_one, one_body);
    check(calls_one_twice, one_body);
}

static void what_calls_several_is_none(void **state) {
    (void)state;
    check(calls_two, calls_two);
    check(calls_none, calls_none);
    check(one_body, one_body);
}

static void what_is_no_function_is_none(void **state) {
    static int number;
    uintptr_t within = (uintptr_t)calls_one + 1;
    (void)state;
    assert_int_equal(mprof__body_by_code(within), within);
    assert_int_equal(mprof__body_by_code((uintptr_t)&number),
                     (uintptr_t)&number);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_calls_its_body),
        cmocka_unit_test(what_calls_several_is_none),
        cmocka_unit_test(what_is_no_function_is_none),
    };
    said = calls_one(1) + calls_one_twice(1) + calls_two(1) + calls_none(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
