/* test_command.c - wrong options, and where output goes. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/golden.h"
#include "report/command/command.h"
#include "report/command/report.h"

static const char data_name[] = "test_command.data";

static int clean_up(void **state) {
    (void)state;
    unlink(data_name);
    return 0;
}

static void wrong_usage_is_one_line(void **state) {
    static const struct {
        const char *argument, *error;
        int status;
    } cases[] = {
        {"--foo", "mprof: unknown option '--foo'; see: mprof report --help\n",
         2},
        {"--table=leek",
         "mprof: there is no table 'leek'; choose bins, leaks, lost, peak, "
         "temporary, alive, kept-by, equal, paths, tree, types, direct or "
         "graph\n",
         2},
        {"--heap=pile", "mprof: there is no heap 'pile'; choose lisp or c\n",
         2},
        {"--depth=-1", "mprof: '-1' is not a number of functions\n", 2},
        {"--leak-depth=5000000000",
         "mprof: '5000000000' is not a number of functions\n", 2},
        {"--output", "mprof: option '--output' needs a value\n", 2},
        {"--terse=1", "mprof: option '--terse' takes no value\n", 2},
        {"no.data", "mprof: cannot open no.data: No such file or directory\n",
         1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *out, *err;
        assert_int_equal(RUN(&out, &err, cases[i].argument), cases[i].status);
        assert_string_equal(err, cases[i].error);
        assert_string_equal(out, "");
        free(out);
        free(err);
    }
}

/* Behind "--" there are files only. */
static void two_dashes_end_the_options(void **state) {
    char *out, *err;
    (void)state;
    assert_int_equal(RUN(&out, &err, "--", "--"), 1);
    assert_string_equal(err,
                        "mprof: cannot open --: No such file or directory\n");
    free(out);
    free(err);
}

static void output_appears_whole(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    golden_widgets(&d);
    datafile_close(&d);
    golden_save(&d, data_name);
    datafile_free(&d);
    assert_int_equal(
        RUN(&out, &err, "--verbose", "--output=tables.txt", data_name), 0);
    assert_string_equal(out, "");
    free(out);
    free(err);
    char *text = golden_read("tables.txt");
    assert_non_null(text);
    golden_check(text, "widgets");
    free(text);
    unlink("tables.txt");

    assert_int_equal(RUN(&out, &err, "--output=/dev/full", data_name), 1);
    assert_string_equal(
        err, "mprof: cannot write /dev/full: No space left on device\n");
    free(out);
    free(err);
    assert_int_equal(RUN(&out, &err, "--output=/nonexistent/x", data_name), 1);
    assert_string_equal(err, "mprof: cannot write /nonexistent/x: No such "
                             "file or directory\n");
    free(out);
    free(err);
}

/* Whether they come by one --table or by several. */
static void tables_add_up(void **state) {
    char *one, *several, *err;
    (void)state;
    assert_int_equal(RUN(&one, &err, "--table=direct,bins", data_name), 0);
    free(err);
    assert_int_equal(
        RUN(&several, &err, "--table=bins", "--table=direct", data_name), 0);
    free(err);
    assert_non_null(strstr(one, "Allocation bins"));
    assert_string_equal(one, several);
    free(one);
    free(several);
}

static void lisp_gets_a_string(void **state) {
    char *text;
    (void)state;
    text = mprof_report_string("--sexp\ntest_command.data");
    assert_non_null(text);
    assert_memory_equal(text, "0(:mprof 1\n", 11);
    assert_non_null(
        strstr(text, ":name \"MAKE-WIDGET\" :kind :lisp :self (0 0 0 0 10000 "
                     "2040000 0 0) :total (0 0 0 0 10000 2040000 0 0) "
                     ":cycle nil)"));
    mprof_report_free(text);
    text = mprof_report_string("no.data");
    assert_string_equal(text,
                        "1cannot open no.data: No such file or directory");
    mprof_report_free(text);
    text = mprof_report_string(NULL); /* of mprof.data, if there is one */
    assert_non_null(text);
    mprof_report_free(text);
    text = mprof_report_string("--version");
    assert_string_equal(text, "0mprof " MPROF_PACKAGE_VERSION "\n");
    mprof_report_free(text);
    mprof_report_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_usage_is_one_line),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(output_appears_whole),
        cmocka_unit_test(tables_add_up),
        cmocka_unit_test(lisp_gets_a_string),
    };
    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
