/* test_bytes.c - numbers of bytes, check sums and endings of names. */
#include "tests/support/check.h"

#include <stdlib.h>

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

/* Bit by bit. */
static uint32_t plain_crc(uint32_t crc, const unsigned char *p, size_t size) {
    crc = ~crc;
    for (size_t i = 0; i < 8 * size; i++) {
        uint32_t bit = (crc ^ (uint32_t)p[i / 8] >> i % 8) & 1;
        crc = crc >> 1 ^ (bit ? 0xedb88320 : 0);
    }
    return ~crc;
}

/* Of any length, from any place on. */
static void check_sums_are_those_of_each_bit(void **state) {
    unsigned char data[1100];
    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(random() >> 7);
    for (size_t size = 0; size < 1000; size++) {
        const unsigned char *from = data + random() % 100;
        uint32_t crc = (uint32_t)random();
        assert_int_equal(mprof__crc32(crc, from, size),
                         plain_crc(crc, from, size));
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
        cmocka_unit_test(check_sums_are_those_of_each_bit),
        cmocka_unit_test(endings_are_the_compilers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
