/* test_tables.c - the tables, letter by letter. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/golden.h"
#include "report/command/command.h"

static const char data_name[] = "test_tables.data";

static void check(struct datafile *d, const char *name) {
    char *out, *err;
    datafile_close(d);
    golden_save(d, data_name);
    assert_int_equal(RUN(&out, &err, "--verbose", data_name), 0);
    assert_string_equal(err, "");
    golden_check(out, name);
    free(out);
    free(err);
    datafile_free(d);
}

static void producer_and_consumer(void **state) {
    struct datafile d;
    (void)state;
    golden_widgets(&d);
    check(&d, "widgets");
}

static void check_types(const char *name, const char *option) {
    char *out, *err;
    assert_int_equal(RUN(&out, &err, "--table=types", option, data_name), 0);
    assert_string_equal(err, "");
    golden_check(out, name);
    free(out);
    free(err);
}

/* In two threads, of one function what it made in both; by a chain that was
 * summed up; and of a type that is not known. */
static void types_have_their_functions(void **state) {
    struct datafile d;
    (void)state;
    datafile_start(&d);
    mprof_ref f = datafile_lisp(&d, "F"), g = datafile_lisp(&d, "G");
    const struct mprof_count none = {0, 0};
    for (uint32_t i = 1; i < 3; i++) {
        mprof_ref thread = datafile_thread(&d, i, "main");
        mprof_ref root = datafile_node(&d, thread, 0, 0);
        mprof_ref in_f = datafile_node(&d, thread, root, f);
        mprof_ref in_g = datafile_node(&d, thread, in_f, g);
        mprof_ref table = datafile_bin(&d, thread, MPROF_OTHER, "hash-table",
                                       NULL, (struct mprof_count){i + 1, 200},
                                       (struct mprof_count){i, 1000});
        mprof_ref point =
            datafile_bin(&d, thread, MPROF_STRUCT, "structure", "P:POINT",
                         (struct mprof_count){10, 320}, none);
        datafile_count(&d, in_f, table, i, 100);
        datafile_count(&d, in_f, table | MPROF_STORAGE, i, 1000);
        datafile_count(&d, in_g, table, 1, 100);
        datafile_count(&d, in_g, point, 10, 320);
        datafile_count(&d, in_g, MPROF_CONS, 5, 80);
        datafile_total(
            &d, thread,
            (struct mprof_total){.caller = point,
                                 .function = f,
                                 .kind = MPROF_SELF,
                                 .views = MPROF_SHOWN_FRAMES | MPROF_ALL_FRAMES,
                                 .class_ = MPROF_STRUCT,
                                 .counts = {{4, 128}, {4, 128}}});
    }
    datafile_close(&d);
    golden_save(&d, data_name);
    check_types("types", "--verbose");
    check_types("types-of-one", "--type=point");
    datafile_free(&d);
}

static void cycles_are_listed_twice(void **state) {
    struct datafile d;
    (void)state;
    datafile_start(&d);
    mprof_ref thread = datafile_thread(&d, 1, "main");
    mprof_ref node = datafile_node(&d, thread, 0, 0);
    mprof_ref F = datafile_lisp(&d, "F"), G = datafile_lisp(&d, "G");
    const mprof_ref functions[] = {datafile_lisp(&d, "MAIN"), F, G, F, G};
    for (size_t i = 0; i < 5; i++)
        node = datafile_node(&d, thread, node, functions[i]);
    datafile_count(&d, node, MPROF_OTHER, 1, 10);
    node = datafile_node(&d, thread, node, datafile_lisp(&d, "H"));
    datafile_count(&d, node, MPROF_CONS, 2, 30);
    check(&d, "cycle");
}

/* F calls G and G calls F, but never in one chain. */
static void a_cycle_without_recursion_has_exact_totals(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    datafile_start(&d);
    mprof_ref thread = datafile_thread(&d, 1, "main");
    mprof_ref root = datafile_node(&d, thread, 0, 0);
    mprof_ref f = datafile_lisp(&d, "F"), g = datafile_lisp(&d, "G");
    mprof_ref in_f = datafile_node(&d, thread, root, f);
    mprof_ref in_g = datafile_node(&d, thread, root, g);
    datafile_count(&d, datafile_node(&d, thread, in_f, g), MPROF_CONS, 1, 16);
    datafile_count(&d, datafile_node(&d, thread, in_g, f), MPROF_CONS, 2, 32);
    golden_save(&d, data_name);
    assert_int_equal(RUN(&out, &err, "--verbose", data_name), 0);
    assert_non_null(strstr(out, "\n(total N) after a name: "));
    assert_non_null(strstr(out, "(total 48)"));
    free(out);
    free(err);
    datafile_free(&d);
}

/* F calls itself, and G in turn. */
static void calls_of_itself_are_no_rows(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    datafile_start(&d);
    mprof_ref thread = datafile_thread(&d, 1, "main");
    mprof_ref node = datafile_node(&d, thread, 0, 0);
    mprof_ref f = datafile_lisp(&d, "F"), g = datafile_lisp(&d, "G");
    const mprof_ref chain[] = {f, f, g, f};
    for (size_t i = 0; i < 4; i++)
        node = datafile_node(&d, thread, node, chain[i]);
    datafile_count(&d, node, MPROF_CONS, 1, 16);
    golden_save(&d, data_name);
    assert_int_equal(RUN(&out, &err, "--table=graph", data_name), 0);
    assert_non_null(strstr(out, "F [1] calls G [2]\n"));
    assert_null(strstr(out, "F [1] calls F"));
    /* Twice in the group of G, and not in its own */
    const char *row = strstr(out, "F <cycle 1> [1]\n");
    assert_non_null(row);
    row = strstr(row + 1, "F <cycle 1> [1]\n");
    assert_non_null(row);
    assert_null(strstr(row + 1, "F <cycle 1> [1]\n"));
    free(out);
    free(err);
    assert_int_equal(RUN(&out, &err, "--sexp", data_name), 0);
    assert_non_null(strstr(out, " :cycle 1)"));
    assert_null(strstr(out, " :cycle 0)"));
    free(out);
    free(err);
    datafile_free(&d);
}

/* HUB calls each of 30 functions, which calls HUB. */
static void a_large_cycle_is_cut_short(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    datafile_start(&d);
    mprof_ref thread = datafile_thread(&d, 1, "main");
    mprof_ref root = datafile_node(&d, thread, 0, 0);
    mprof_ref hub = datafile_lisp(&d, "HUB");
    mprof_ref outer = datafile_node(&d, thread, root, hub);
    for (int i = 0; i < 30; i++) {
        char name[] = "SPOKE-00";
        name[6] += (char)(i / 10);
        name[7] += (char)(i % 10);
        mprof_ref spoke =
            datafile_node(&d, thread, outer, datafile_lisp(&d, name));
        datafile_count(&d, datafile_node(&d, thread, spoke, hub), MPROF_CONS, 1,
                       16 * (uint64_t)(i + 1));
    }
    golden_save(&d, data_name);
    assert_int_equal(RUN(&out, &err, "--table=graph", data_name), 0);
    assert_non_null(strstr(out, " 20 other calls among them\n"));
    free(out);
    free(err);
    check(&d, "hub");
}

/* Every class, several types and classes of Lisp, dots, blanks and stars, and
 * numbers of sixteen digits. */
static void large_numbers_line_up(void **state) {
    const uint64_t much = 1000000000000000;
    const struct mprof_count none = {0, 0};
    struct datafile d;
    (void)state;
    datafile_start(&d);
    mprof_ref thread = datafile_thread(&d, 1, "main");
    mprof_ref root = datafile_node(&d, thread, 0, 0);
    mprof_ref big = datafile_node(&d, thread, root, datafile_lisp(&d, "BIG"));
    mprof_ref small = datafile_node(
        &d, thread, big, datafile_lisp(&d, "(METHOD AREA (CIRCLE))"));
    datafile_count(&d, big, MPROF_CONS, much, 16 * much);
    datafile_count(&d, big, MPROF_FLOAT, 3, 48);
    datafile_count(&d, small, MPROF_STRUCT, much / 10, much);
    datafile_count(&d, small, MPROF_OTHER, 1, 8);
    datafile_bin(&d, thread, MPROF_CONS, "cons", NULL,
                 (struct mprof_count){much, 16 * much}, none);
    datafile_bin(&d, thread, MPROF_FLOAT, "double-float", NULL,
                 (struct mprof_count){3, 48}, none);
    datafile_bin(&d, thread, MPROF_STRUCT, "structure", "POINT",
                 (struct mprof_count){1, 24}, (struct mprof_count){1, 16});
    datafile_bin(&d, thread, MPROF_STRUCT, "structure", "NODE",
                 (struct mprof_count){much / 10 - 2, much - 40}, none);
    datafile_bin(&d, thread, MPROF_OTHER, "bignum", NULL,
                 (struct mprof_count){1, 8}, none);
    check(&d, "large");
}

static void percents_in_two_columns(void **state) {
    (void)state;
    assert_string_equal(report__percent(0, 7).text, "  ");
    assert_string_equal(report__percent(0, 0).text, "  ");
    assert_string_equal(report__percent(1, 101).text, " .");
    assert_string_equal(report__percent(1, 100).text, " 1");
    assert_string_equal(report__percent(199, 10000).text, " 1");
    assert_string_equal(report__percent(999999, 1000000).text, "99");
    assert_string_equal(report__percent(5, 5).text, "**");
    assert_string_equal(report__percent(UINT64_MAX - 1, UINT64_MAX).text, "99");
    assert_string_equal(report__fraction(0, 5).text, "  (0)");
    assert_string_equal(report__fraction(1, 500).text, "  (.)");
    assert_string_equal(report__fraction(99, 100).text, " (99)");
    assert_string_equal(report__fraction(5, 5).text, "(100)");
    assert_string_equal(report__tenths(1023876, 2040000).text, "50.2");
    assert_string_equal(report__tenths(99999, 100000).text, "99.9");
    assert_string_equal(report__tenths(3, 3).text, "100.0");
    assert_string_equal(report__grouped(1234567).text, "1,234,567");
    assert_string_equal(report__grouped(123456).text, "123,456");
    assert_string_equal(report__grouped(UINT64_MAX).text,
                        "18,446,744,073,709,551,615");
}

/* 0.5% unless --terse or --verbose. */
static void small_functions_are_left_out(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    datafile_start(&d);
    mprof_ref thread = datafile_thread(&d, 1, "main");
    mprof_ref root = datafile_node(&d, thread, 0, 0);
    const struct {
        const char *name;
        uint64_t bytes;
    } functions[] = {
        {"LARGE", 9886}, {"MIDDLE", 60}, {"EDGE", 50}, {"TINY", 4}};
    for (int i = 0; i < 4; i++)
        datafile_count(&d,
                       datafile_node(&d, thread, root,
                                     datafile_lisp(&d, functions[i].name)),
                       MPROF_CONS, 1, functions[i].bytes);
    datafile_close(&d);
    golden_save(&d, data_name);
    assert_int_equal(RUN(&out, &err, "-table", "direct", data_name), 0);
    assert_non_null(strstr(out, "EDGE\n1 function below 0.5% left out: 4 "));
    free(out);
    free(err);
    assert_int_equal(RUN(&out, &err, "-terse", "--table=direct", data_name), 0);
    assert_null(strstr(out, "MIDDLE"));
    assert_non_null(strstr(out, "\n3 functions below 1% left out: 114 "));
    assert_null(strstr(out, "call graph"));
    free(out);
    free(err);
    assert_int_equal(RUN(&out, &err, "-verbose", "--table=direct", data_name),
                     0);
    assert_non_null(strstr(out, "TINY\n"));
    assert_null(strstr(out, "left out"));
    free(out);
    free(err);
    datafile_free(&d);
}

static void an_open_file_says_so(void **state) {
    struct mprof__process self = mprof__process_self(), parent = self;
    parent.pid = (uint32_t)getppid();
    parent.forked = mprof__process_start(parent.pid);
    static const char still_runs[] = " is still running: ",
                      ended[] = " ended without closing the file (killed, ",
                      elsewhere[] = " of another container still runs, or ";
    struct {
        struct mprof__process process;
        const char *text;
    } cases[] = {{parent, still_runs},
                 {parent, ended},     /* another with that number */
                 {parent, elsewhere}, /* or in another container */
                 {parent, ended},     /* or in another boot */
                 {parent, ended}};
    cases[1].process.forked++;
    cases[2].process.pids++;
    cases[3].process.boot++;
    cases[4].process.pid = 0x7ffffffe;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct datafile d;
        char *out, *err;
        golden_widgets(&d);
        datafile_header(&d)->pid = cases[i].process.pid;
        datafile_header(&d)->boot = cases[i].process.boot;
        datafile_header(&d)->pids = cases[i].process.pids;
        datafile_header(&d)->forked = cases[i].process.forked;
        golden_save(&d, data_name);
        assert_int_equal(RUN(&out, &err, data_name), 0);
        assert_non_null(strstr(out, cases[i].text));
        free(out);
        free(err);
        datafile_close(&d);
        golden_save(&d, data_name);
        datafile_free(&d);
    }
}

static void leak_tables_are_explained(void **state) {
    char *out, *err;
    (void)state;
    assert_int_equal(RUN(&out, &err, "-leaktable", data_name), 0);
    assert_non_null(strstr(out, "There is no table 'leaks'"));
    free(out);
    free(err);
    assert_int_equal(RUN(&out, &err, "-noleaktable", data_name), 0);
    assert_null(strstr(out, "leak table"));
    free(out);
    free(err);
    assert_int_equal(
        RUN(&out, &err, "-noleaktable", "--table=leaks,bins", data_name), 0);
    assert_null(strstr(out, "leak table"));
    free(out);
    free(err);
}

static void one_set_of_tables_a_thread(void **state) {
    char *out, *err;
    (void)state;
    assert_int_equal(RUN(&out, &err, "--threads", data_name), 0);
    assert_non_null(strstr(out, "\n==== Thread SI:TOP-LEVEL (100) ====\n"));
    free(out);
    free(err);
}

static void threads_that_allocated_nothing_are_left_out(void **state) {
    static const char name[] = "test_threads.data";
    struct datafile d;
    char *out, *err;
    (void)state;
    datafile_start(&d);
    mprof_ref thread = datafile_thread(&d, 1, "one");
    datafile_node(&d, datafile_thread(&d, 2, "other"), 0, 0);
    mprof_ref root = datafile_node(&d, thread, 0, 0);
    datafile_count(&d, datafile_node(&d, thread, root, datafile_lisp(&d, "F")),
                   MPROF_CONS, 1, 16);
    golden_save(&d, name);
    assert_int_equal(RUN(&out, &err, "--threads", name), 0);
    unlink(name);
    assert_non_null(strstr(out, "\n==== Thread one (1) ====\n"));
    assert_null(strstr(out, "Thread other"));
    free(out);
    free(err);
    datafile_free(&d);
}

static int clean_up(void **state) {
    (void)state;
    unlink(data_name);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percents_in_two_columns),
        cmocka_unit_test(producer_and_consumer),
        cmocka_unit_test(types_have_their_functions),
        cmocka_unit_test(cycles_are_listed_twice),
        cmocka_unit_test(a_cycle_without_recursion_has_exact_totals),
        cmocka_unit_test(calls_of_itself_are_no_rows),
        cmocka_unit_test(a_large_cycle_is_cut_short),
        cmocka_unit_test(large_numbers_line_up),
        cmocka_unit_test(small_functions_are_left_out),
        cmocka_unit_test(an_open_file_says_so),
        cmocka_unit_test(leak_tables_are_explained),
        cmocka_unit_test(one_set_of_tables_a_thread),
        cmocka_unit_test(threads_that_allocated_nothing_are_left_out),
    };
    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
