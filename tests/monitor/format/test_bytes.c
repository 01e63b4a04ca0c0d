/* test_bytes.c - numbers of bytes, check sums and endings of names. */
#include "tests/support/check.h"

#include "monitor/format/bytes.h"
#include "monitor/format/crc.h"
#include "monitor/format/naming.h"

static void numbers_of_bytes(void **state) {
    static const struct {
        const char *text;
        uint64_t bytes; /* 0: it is none */
    } cases[] = {{"1", 1},
                 {"2k", 2048},
                 {"3M", 3 << 20},
                 {"4g", (uint64_t)4 << 30},
                 {"18446744073709551615", UINT64_MAX},
                 {"17179869183g", UINT64_MAX >> 30 << 30},
                 {"17179869184g", 0},
                 {"18446744073709551616", 0},
                 {"18446744073709551615k", 0},
                 {"0", 0},
                 {"", 0},
                 {"k", 0},
                 {"1kk", 0},
                 {"1x", 0},
                 {"-1", 0},
                 {" 1", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 0;
        assert_int_equal(mprof__read_bytes(cases[i].text, &bytes),
                         cases[i].bytes != 0);
        assert_int_equal(bytes, cases[i].bytes);
    }
}

static void check_sums(void **state) {
    (void)state;
    assert_int_equal(mprof__crc32(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(mprof__crc32(mprof__crc32(0, "1234", 4), "56789", 5),
                     0xcbf43926);
    assert_int_equal(mprof__crc32(0, "", 0), 0);
}

static void endings_are_the_compilers(void **state) {
    (void)state;
    assert_int_equal(mprof__base_length("f"), 1);
    assert_int_equal(mprof__base_length("f.cold"), 1);
    assert_int_equal(mprof__base_length("f.part.0.cold"), 1);
    assert_int_equal(mprof__base_length("f.constprop.3"), 1);
    assert_int_equal(mprof__base_length("f.own.isra.1"), 5);
    assert_int_equal(mprof__base_length("f.own"), 5);
    assert_int_equal(mprof__base_length(".cold"), 5);
    assert_true(mprof__is_anonymous("(LAMBDA)"));
    assert_true(mprof__is_anonymous("(LAMBDA :IN F)"));
    assert_false(mprof__is_anonymous("(LAMBDAS)"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_bytes),
        cmocka_unit_test(check_sums),
        cmocka_unit_test(endings_are_the_compilers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
