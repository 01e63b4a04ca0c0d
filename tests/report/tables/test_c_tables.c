/* test_c_tables.c - the tables of the C heap, and the files of the command
 * line. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* self.h */
#endif
#include "tests/support/check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/golden.h"
#include "report/command/command.h"
#include "tests/support/self.h"

static const char data_name[] = "test_c_tables.data";

/* In place of report/elf/types.c: what has debug information is not known here.
 */

static bool types_are_missing;

struct report__types *report__types_read(struct report__pool *pool,
                                         const struct report__profile *profile,
                                         const char *program, bool system) {
    (void)profile;
    (void)program;
    (void)system;
    return report__alloc(pool, 1, 1);
}

const char *const *report__types_of_size(const struct report__types *types,
                                         uint64_t size, uint32_t *count) {
    static const char *const widget[] = {"widget"};
    static const char *const many[] = {"struct node", "point",
                                       "a_name_of_twenty_six_chars", "last"};
    (void)types;
    *count = types_are_missing ? 0 : size == 204 ? 1 : size == 16 ? 4 : 0;
    return size == 204 ? widget : many;
}

const char *report__types_missing(const struct report__types *types) {
    (void)types;
    return types_are_missing ? "no types: it is a test" : NULL;
}

static void check(struct datafile *d, const char *name) {
    char *out, *err;
    datafile_close(d);
    golden_save(d, data_name);
    assert_int_equal(RUN(&out, &err, "--normal", data_name), 0);
    assert_string_equal(err, "");
    golden_check(out, name);
    free(out);
    free(err);
    datafile_free(d);
}

static mprof_ref c_function(struct datafile *d, const char *symbol) {
    return datafile_function(d, MPROF_C, 0, d->size, NULL, symbol);
}

static void name_program(struct datafile *d, const char *path) {
    mprof_ref program = datafile_string(d, path);
    datafile_header(d)->program = program;
}

/* Figures 2 to 5 of the paper. */
static void make_figures(struct datafile *d) {
    datafile_start(d);
    mprof_ref thread = datafile_c_thread(d, 100, "a.out");
    mprof_ref root = datafile_node(d, thread, 0, 0);
    mprof_ref widget = c_function(d, "make_widget");
    mprof_ref main_ = datafile_node(d, thread, root, c_function(d, "main"));
    mprof_ref red =
        datafile_node(d, thread, main_, c_function(d, "make_red_widget"));
    mprof_ref blue =
        datafile_node(d, thread, main_, c_function(d, "make_blue_widget"));
    datafile_objects(d, datafile_node(d, thread, red, widget), 204, 5019, 0);
    datafile_objects(d, datafile_node(d, thread, blue, widget), 204, 4981,
                     4981);
    name_program(d, "/home/zorn/a.out");
    datafile_header(d)->start_time = 584193600u * (uint64_t)1000000000;
}

static void the_figures_of_the_paper(void **state) {
    struct datafile d;
    (void)state;
    make_figures(&d);
    check(&d, "figures");
}

/* All size classes, both sides of their limits, objects without bytes, several
 * types of a size, numbers of sixteen digits, and all that can get lost. */
static void all_sizes_line_up(void **state) {
    const uint64_t much = 1000000000000000;
    struct datafile d;
    (void)state;
    datafile_start(&d);
    mprof_ref thread = datafile_c_thread(&d, 1, "main");
    mprof_ref root = datafile_node(&d, thread, 0, 0);
    mprof_ref main_ = datafile_node(&d, thread, root, c_function(&d, "main"));
    mprof_ref node =
        datafile_node(&d, thread, main_, c_function(&d, "_ZN3Box3addEi"));
    datafile_objects(&d, main_, 0, 3, 1);
    datafile_objects(&d, node, 16, much, much);
    datafile_objects(&d, node, 32, much, much - 1);
    datafile_objects(&d, main_, 33, much / 4, much / 8);
    datafile_objects(&d, main_, 256, 7, 0);
    datafile_objects(&d, node, 1024, much / 50, 0);
    datafile_objects(&d, node, 1025, 2, 0);
    datafile_objects(&d, main_, 2049, much / 100, much / 100 - 1);
    struct mprof_header *h = datafile_header(&d);
    h->parent = 12;
    h->unplaced_allocs = 1;
    h->unplaced_bytes = 2;
    h->failed_allocs = 1;
    h->unknown_frees = 2000;
    h->unplaced_frees = 3;
    h->unplaced_freed_bytes = 400;
    h->untracked_allocs = 5;
    h->untracked_bytes = 600;
    check(&d, "sizes");
}

/* A hundred bytes of a million count if nothing else was kept. */
static void what_is_kept_is_shown(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    datafile_start(&d);
    mprof_ref thread = datafile_c_thread(&d, 1, "main");
    mprof_ref root = datafile_node(&d, thread, 0, 0);
    mprof_ref frees = datafile_node(&d, thread, root, c_function(&d, "frees"));
    mprof_ref keeps = datafile_node(&d, thread, root, c_function(&d, "keeps"));
    datafile_objects(&d, frees, 1000, 1000, 1000);
    datafile_objects(&d, frees, 90, 1, 1);
    datafile_objects(&d, keeps, 100, 1, 0);
    datafile_close(&d);
    golden_save(&d, data_name);
    datafile_free(&d);
    assert_int_equal(
        RUN(&out, &err, "--terse", "--table=bins,direct", data_name), 0);
    assert_non_null(strstr(out, "\n    100        1         100   (.)"));
    assert_null(strstr(out, "\n     90 "));
    assert_non_null(strstr(out, "\n1 size below 1% left out: 90 bytes in all"));
    assert_non_null(strstr(out, "  keeps\n"));
    free(out);
    free(err);
}

static void both_heaps(struct datafile *d) {
    datafile_start(d);
    mprof_ref thread = datafile_thread(d, 7, "main");
    mprof_ref function = datafile_lisp(d, "FOO");
    mprof_ref root = datafile_node(d, thread, 0, 0);
    datafile_count(d, datafile_node(d, thread, root, function), MPROF_CONS, 2,
                   32);
    thread = datafile_c_thread(d, 7, "main");
    root = datafile_node(d, thread, 0, 0);
    datafile_objects(d, datafile_node(d, thread, root, function), 100, 3, 1);
    thread = datafile_c_thread(d, 8, "worker");
    struct mprof_thread *worker = datafile_record(d, thread);
    worker->members = 5;
    root = datafile_node(d, thread, 0, 0);
    datafile_objects(d, datafile_node(d, thread, root, function), 16, 2, 2);
    datafile_close(d);
    golden_save(d, data_name);
    datafile_free(d);
}

static void two_heaps_have_headings(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    both_heaps(&d);
    assert_int_equal(RUN(&out, &err, "--table=direct", data_name), 0);
    assert_non_null(strstr(out, "\nLisp heap: 2 allocations, 32 bytes: "));
    assert_non_null(strstr(out, "\nC heap: 5 allocations, 332 bytes; 3 frees, "
                                "132 bytes freed; 200 bytes kept in 2 "
                                "objects\nC heap: peak 200 bytes in 2 objects "
                                "after 0.000 s\n6 threads;"));
    const char *lisp = strstr(out, "\n======== Lisp heap ========\n\nDirect");
    assert_non_null(lisp);
    assert_non_null(strstr(lisp, "c--f--s--o"));
    assert_non_null(strstr(lisp, "\n======== C heap ========\n\nDirect"));
    free(out);
    free(err);
    assert_int_equal(RUN(&out, &err, "--heap=c", "--table=direct", data_name),
                     0);
    assert_null(strstr(out, "========"));
    assert_null(strstr(out, "c--f--s--o"));
    free(out);
    free(err);
    assert_int_equal(RUN(&out, &err, "--heap=lisp", "--threads", data_name), 0);
    assert_non_null(strstr(out, "\n==== Thread main (7) ====\n"));
    assert_null(strstr(out, "worker"));
    assert_null(strstr(out, "Memory leaks"));
    free(out);
    free(err);
}

/* Where there are very many threads, they share a record. */
static void threads_that_share_a_record(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    both_heaps(&d);
    assert_int_equal(
        RUN(&out, &err, "--threads", "--heap=c", "--table=bins", data_name), 0);
    assert_non_null(strstr(out, "\n==== Thread main (7) ====\n"));
    assert_non_null(
        strstr(out, "\n==== Thread worker (8, the last of 5) ====\n"));
    free(out);
    free(err);
}

static void a_heap_that_is_not_there(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    make_figures(&d);
    datafile_close(&d);
    golden_save(&d, data_name);
    datafile_free(&d);
    assert_int_equal(RUN(&out, &err, "--heap=lisp", data_name), 1);
    assert_string_equal(err, "mprof: test_c_tables.data: the Lisp heap was not "
                             "recorded\n");
    free(out);
    free(err);
}

static void leak_tables_can_be_chosen(void **state) {
    static const struct {
        const char *options[2];
        bool bins, leaks;
    } cases[] = {{{"-normal", "-leaktable"}, true, true},
                 {{"-terse", "-noleaktable"}, true, false},
                 {{"-offsets", "--table=bins"}, true, true},
                 {{"--table=leaks", "--leak-depth=1"}, false, true},
                 {{"--table=leaks,bins", "-noleaktable"}, true, false},
                 {{"--table=bins", "--inlines"}, true, false}};
    struct datafile d;
    (void)state;
    make_figures(&d);
    datafile_close(&d);
    golden_save(&d, data_name);
    datafile_free(&d);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *out, *err;
        assert_int_equal(RUN(&out, &err, cases[i].options[0],
                             cases[i].options[1], data_name),
                         0);
        assert_true((strstr(out, "Allocation bins") != NULL) == cases[i].bins);
        assert_true((strstr(out, "Memory leaks") != NULL) == cases[i].leaks);
        free(out);
        free(err);
    }
}

static void why_there_are_no_types(void **state) {
    char *out, *err;
    (void)state;
    types_are_missing = true;
    assert_int_equal(RUN(&out, &err, "--table=bins", data_name), 0);
    types_are_missing = false;
    assert_non_null(strstr(out, "\nNo types: it is a test.\n"));
    assert_null(strstr(out, "widget\n"));
    free(out);
    free(err);
}

static void the_c_heap_as_an_expression(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    both_heaps(&d);
    assert_int_equal(RUN(&out, &err, "--sexp", data_name), 0);
    golden_check(out, "c-heap");
    free(out);
    free(err);
}

/* A data file of the test program itself, without its first byte if CHANGED. */
static void save_self(bool changed, char *path, size_t size) {
    struct datafile d;
    struct report__module self =
        self_module((uintptr_t)self_module, path, size);

    if (self.build_id_bytes == 0)
        self.build_id_bytes = 4;
    self.build_id[0] ^= changed;
    datafile_start(&d);
    mprof_ref module =
        datafile_module(&d, path, self.build_id, self.build_id_bytes);
    mprof_ref function = datafile_function(
        &d, MPROF_C, module, (uint64_t)(uintptr_t)save_self - self.bias, NULL,
        NULL);
    mprof_ref thread = datafile_c_thread(&d, 1, "self");
    mprof_ref root = datafile_node(&d, thread, 0, 0);
    datafile_objects(&d, datafile_node(&d, thread, root, function), 24, 1, 0);
    name_program(&d, path);
    datafile_close(&d);
    golden_save(&d, data_name);
    datafile_free(&d);
}

/* The linker may have given this program no build id: then it is another. */
static bool has_build_id(void) {
    char path[PATH_MAX];
    return self_module((uintptr_t)self_module, path, sizeof path)
               .build_id_bytes > 0;
}

static void the_program_may_be_named(void **state) {
    char *out, *err, path[PATH_MAX];
    (void)state;
    if (!has_build_id())
        leave_out("no build id");
    save_self(false, path, sizeof path);
    assert_int_equal(RUN(&out, &err, "--table=direct", path, data_name), 0);
    assert_non_null(strstr(out, "  save_self\n"));
    free(out);
    free(err);
    /* Alone, it is the program, and the data has its usual name. */
    unlink("mprof.data");
    assert_int_equal(rename(data_name, "mprof.data"), 0);
    assert_int_equal(RUN(&out, &err, "--table=direct", path), 0);
    assert_non_null(strstr(out, "  save_self\n"));
    free(out);
    free(err);
    unlink("mprof.data");
}

static void another_program_is_refused(void **state) {
    char *out, *err, path[PATH_MAX], message[2 * PATH_MAX];
    (void)state;
    save_self(true, path, sizeof path);
    assert_int_equal(RUN(&out, &err, path, data_name), 1);
    snprintf(message, sizeof message,
             "mprof: %s is not the program that test_c_tables.data was "
             "recorded with\n",
             path);
    assert_string_equal(err, message);
    assert_string_equal(out, "");
    free(out);
    free(err);
    FILE *text = fopen("test_c_tables.text", "w");
    assert_non_null(text);
    fclose(text);
    assert_int_equal(RUN(&out, &err, "test_c_tables.text", data_name), 1);
    assert_string_equal(err, "mprof: test_c_tables.text is not a program\n");
    unlink("test_c_tables.text");
    free(out);
    free(err);
    assert_int_equal(RUN(&out, &err, "./none", data_name), 1);
    assert_string_equal(
        err, "mprof: cannot open ./none: No such file or directory\n");
    free(out);
    free(err);
    assert_int_equal(RUN(&out, &err, "./a", "b", "c"), 1);
    assert_string_equal(err,
                        "mprof: cannot open ./a: No such file or directory\n");
    free(out);
    free(err);
}

static void a_program_that_is_gone_or_changed(void **state) {
    char *out, *err, path[PATH_MAX];
    (void)state;
    save_self(true, path, sizeof path);
    assert_int_equal(RUN(&out, &err, "--table=direct", data_name), 0);
    assert_non_null(strstr(
        out, " was changed since the recording: its functions have no "));
    assert_null(strstr(out, "  save_self\n"));
    free(out);
    free(err);
}

static int clean_up(void **state) {
    (void)state;
    unlink(data_name);
    return 0;
}

/* In an open file, of two threads, one of which has lost chains. */
static void sizes_are_of_a_thread_and_not_negative(void **state) {
    struct datafile d;
    char *out, *err;
    (void)state;
    datafile_start(&d);
    mprof_ref one = datafile_c_thread(&d, 1, "one");
    mprof_ref other = datafile_c_thread(&d, 2, "other");
    datafile_objects(&d, datafile_node(&d, one, 0, 0), 10, 3, 0);
    datafile_objects(&d, datafile_node(&d, other, 0, 0), 20, 4, 0);
    datafile_size(&d, other, 30, (struct mprof_count){1, 30},
                  (struct mprof_count){2, 60});
    ((struct mprof_thread *)datafile_record(&d, one))->folded_allocs = 2;
    golden_save(&d, data_name);
    assert_int_equal(
        RUN(&out, &err, "--threads", "--table=bins", "--verbose", data_name),
        0);
    assert_non_null(strstr(out, " 2 allocations folded, "));
    const char *second = strstr(out, "==== Thread other");
    assert_non_null(second);
    assert_non_null(strstr(out, "\n     10        3          30"));
    assert_null(strstr(second, "\n     10 "));
    assert_true(strstr(out, "\n     20 ") > second);
    assert_non_null(strstr(second, "\n     30        1          30  (27)"
                                   "        1           0\n"));
    free(out);
    free(err);
    datafile_free(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_of_a_thread_and_not_negative),
        cmocka_unit_test(the_figures_of_the_paper),
        cmocka_unit_test(all_sizes_line_up),
        cmocka_unit_test(what_is_kept_is_shown),
        cmocka_unit_test(two_heaps_have_headings),
        cmocka_unit_test(threads_that_share_a_record),
        cmocka_unit_test(a_heap_that_is_not_there),
        cmocka_unit_test(leak_tables_can_be_chosen),
        cmocka_unit_test(why_there_are_no_types),
        cmocka_unit_test(the_c_heap_as_an_expression),
        cmocka_unit_test(the_program_may_be_named),
        cmocka_unit_test(another_program_is_refused),
        cmocka_unit_test(a_program_that_is_gone_or_changed),
    };
    setenv("TZ", "UTC", 1);
    return check_result(cmocka_run_group_tests(tests, NULL, clean_up));
}
