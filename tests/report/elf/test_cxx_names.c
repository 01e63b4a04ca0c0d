/* test_cxx_names.c - names of C++ functions. */
#include "tests/support/check.h"
#include "report/elf/cxx_names.h"

static void cxx_names_are_written_as_in_the_program(void **state) {
    static const char *const names[][2] = {
        {"_Z1fi", "f(int)"},
        {"_ZN3zoo6AnimalC1Ev", "zoo::Animal::Animal()"},
        {"_ZN3zoo6AnimalD0Ev", "zoo::Animal::~Animal()"},
        {"_Znwm", "operator new(unsigned long)"},
        {"_ZNSt6vectorIiSaIiEE9push_backERKi",
         "std::vector<int, std::allocator<int> >::push_back(int const&)"},
        {"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const"},
        {"_ZN12_GLOBAL__N_11gEv", "(anonymous namespace)::g()"},
        {"_ZL4spinPKc", "spin(char const*)"},
        {"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
         "core::fmt::Write::write_fmt"},
        {"_RNvNtCs1234_7mycrate5store4grow", "mycrate::store::grow"},
        {"_ZN5alloc7raw_vec20RawVecInner$LT$A$GT$11finish_"
         "grow17habc9c6a887144742"
         "E.llvm.653764653784623383862",
         "alloc::raw_vec::RawVecInner<A>::finish_grow"},
        {"_ZN29_$LT$a..B$u20$as$u20$c..D$GT$4name17h762b720006566782E",
         "<a::B as c::D>::name"},
        {"_D3foo3barFZv", "foo.bar()"},
        {"_D", NULL},
        {"_R", NULL},
        {"main", NULL},
        {"f", NULL},
        {"i", NULL},
        {"", NULL},
        {"_Z", NULL},
        {"_Zebra", NULL},
        {"_ZN3zoo", NULL},
        {"__Znwm", NULL},
    };
    struct report__pool pool = {0};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *name = report__demangle(&pool, names[i][0]);
        if (names[i][1])
            assert_string_equal(name, names[i][1]);
        else
            assert_null(name);
    }
    report__pool_free(&pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cxx_names_are_written_as_in_the_program),
    };
    return check_result(cmocka_run_group_tests(tests, NULL, NULL));
}
