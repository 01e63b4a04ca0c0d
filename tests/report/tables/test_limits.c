/* test_limits.c - mprof check: what limits are held against. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/golden.h"

static const char data_name[] = "test_limits.data";

enum { EXCEEDED = 3 };

/* main calls f of one file, that calls g, and g calls f of another file, where
 * 100 objects of 10 bytes are made, of which 60 are freed; main makes 5. */
static struct { mprof_ref thread, root, outer, g, inner; } node;

static void make(struct datafile *d) {
    datafile_start(d);
    mprof_ref one = datafile_module(d, "/nowhere/one", "1", 1);
    mprof_ref two = datafile_module(d, "/nowhere/two", "2", 1);
    node.thread = datafile_c_thread(d, 1, "main");
    node.root = datafile_node(d, node.thread, 0, 0);
    mprof_ref main_ =
        datafile_node(d, node.thread, node.root,
                      datafile_function(d, MPROF_C, one, 16, NULL, "main"));
    node.outer =
        datafile_node(d, node.thread, main_,
                      datafile_function(d, MPROF_C, one, 32, NULL, "f"));
    node.g = datafile_node(d, node.thread, node.outer,
                           datafile_function(d, MPROF_C, one, 48, NULL, "g"));
    node.inner =
        datafile_node(d, node.thread, node.g,
                      datafile_function(d, MPROF_C, two, 32, NULL, "f"));
    datafile_objects(d, node.inner, 10, 100, 60);
    datafile_objects(d, main_, 8, 5, 0);
}

static void save(struct datafile *d) {
    datafile_close(d);
    golden_save(d, data_name);
    datafile_free(d);
}

static void expect(const char *limit, int status, const char *text) {
    char *out, *err;

    assert_int_equal(RUN(&out, &err, "check", "--max", limit, data_name),
                     status);
    assert_string_equal(err, "");
    if (!strstr(out, text))
        fail_msg("%s: not \"%s\" but %s", limit, text, out);
    free(out);
    free(err);
}

/* What goes through both has each allocation once. */
static void functions_of_one_name_are_one(void **state) {
    struct datafile d;
    (void)state;
    make(&d);
    save(&d);
    expect("f:bytes=1000", 0, "within budget\n");
    expect("f:bytes=999", EXCEEDED,
           "      1,000          999   100.1%  f:bytes\n"
           "      1,000 by || > main > f > g > f\n");
    expect("f:allocs=99", EXCEEDED, "        100           99   101.0%");
    expect("f:self-bytes=999", EXCEEDED, "      1,000 ");
    expect("f:kept=399", EXCEEDED, "        400          399   100.2%");
    expect("f:self-kept=399", EXCEEDED, "        400 ");
    expect("g:self-kept=0", 0, "within budget\n");
    expect("g:kept=0", EXCEEDED, "        400            0           g:kept\n");
    expect("kept=440", 0, "within budget\n");
    expect("kept=439", EXCEEDED, "        400 by || > main > f > g > f\n");
}

static void what_is_not_known_is_told(void **state) {
    struct datafile d;
    struct mprof_thread *thread;
    (void)state;
    make(&d);
    datafile_header(&d)->unplaced_allocs = 1;
    datafile_header(&d)->unplaced_bytes = 1234;
    thread = datafile_record(&d, node.thread);
    thread->folded_allocs = 2;
    thread->folded_bytes = 5678;
    save(&d);
    expect("f:bytes=1000", 0, "note: 1,234 bytes are in no number");
    expect("f:bytes=1000", 0, "functions may have up to 5,678 bytes more");
    char *out, *err;
    assert_int_equal(RUN(&out, &err, "check", "--max-bytes=1g", data_name), 0);
    assert_null(strstr(out, "5,678"));
    free(out);
    free(err);
    make(&d);
    golden_save(&d, data_name);
    datafile_free(&d);
    expect("f:bytes=1000", 0, "note: the program still runs, or ended");
}

/* Of a chain that was summed up only the short end has what was freed. */
static void summed_up_chains_are_told(void **state) {
    struct datafile d;
    (void)state;
    make(&d);
    mprof_ref f = datafile_function(&d, MPROF_C, 0, 64, NULL, "h");
    mprof_ref small = datafile_node(&d, node.thread, node.root, f);
    mprof_ref short_ =
        datafile_counter(&d, small, 0, 0, (struct mprof_count){0, 0},
                         (struct mprof_count){1, 4});
    mprof_ref spilt = datafile_spill_node(
        &d, node.thread, datafile_spill_node(&d, node.thread, 0, 0), f);
    datafile_spill_counter(&d, spilt, short_, 0, (struct mprof_count){3, 12});
    datafile_size(&d, node.thread, 4, (struct mprof_count){3, 12},
                  (struct mprof_count){1, 4});
    save(&d);
    expect("h:bytes=12", 0, "within budget\n");
    expect("h:self-kept=8", 0, "within budget\n");
    expect("h:kept=7", EXCEEDED, "          8            7 ");
    expect("h:kept=7", EXCEEDED,
           "note: the tree of chains was full: of 12 bytes it is not known");
}

static void a_name_may_have_anything_in_it(void **state) {
    static const char name[] = "a:bytes=1 =#\n\x1b[31m\xff'";
    struct datafile d;
    (void)state;
    datafile_start(&d);
    mprof_ref thread = datafile_thread(&d, 1, "main");
    mprof_ref root = datafile_node(&d, thread, 0, 0);
    datafile_count(&d, datafile_node(&d, thread, root, datafile_lisp(&d, name)),
                   MPROF_OTHER, 7, 70);
    save(&d);
    expect("a:bytes=1 =#\\n?[31m?':allocs=6", EXCEEDED,
           "  a:bytes=1 =#\\n?[31m?':allocs\n"
           "          7 by || > a:bytes=1 =#\\n?[31m?'\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_one_name_are_one),
        cmocka_unit_test(what_is_not_known_is_told),
        cmocka_unit_test(summed_up_chains_are_told),
        cmocka_unit_test(a_name_may_have_anything_in_it),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(data_name);
    return check_result(failed);
}
