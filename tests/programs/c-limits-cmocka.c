/* c-limits-cmocka.c - tests of cmocka with limits on what is allocated: one passes,
 * one fails; both are skipped where nothing is recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <mprof_test.h>

static void *volatile kept;

static void failed(const char *message) {
    fail_msg("%s", message);
}

static void skipped(const char *message) {
    (void)message;
    skip();
}

static void allocates_nothing(void **state) {
    (void)state;
    MPROF_ASSERT_NO_ALLOC {
        kept = NULL;
    }
}

static void allocates(void **state) {
    (void)state;
    MPROF_ASSERT_MAX(100, 1) {
        kept = malloc(101);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocates_nothing),
                                       cmocka_unit_test(allocates)};
    mprof_test_on_failure = failed;
    mprof_test_on_skip = skipped;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
