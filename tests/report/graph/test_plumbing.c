/* test_plumbing.c - which functions the graph leaves out. */
#include "tests/support/graph.h"

/* What plumbing allocates is its caller's. */
static void plumbing_is_left_out(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref own = datafile_module(d, "/home/libown.so", NULL, 0);
    mprof_ref ecl = datafile_module(d, "/lib/libecl.so.21.2", NULL, 0);
    mprof_ref functions[] = {
        datafile_lisp(d, "SI:TOP-LEVEL"),
        datafile_lisp(d, "CL:LOAD"),
        datafile_function(d, MPROF_TOPLEVEL, 0, 0, NULL, NULL),
        datafile_lisp(d, "FOO"),
        datafile_lisp(d, "CL:FUNCALL"),
        datafile_lisp(d, "(FLET X :IN MPROF::CALL-WITH-PROFILING)"),
        datafile_function(d, MPROF_C, own, 8, NULL, "ecl_cons"),
        datafile_function(d, MPROF_C, ecl, 8, NULL, "ecl_cons"),
    };
    datafile_count(d, chain(d, functions, 8), MPROF_CONS, 1, 16);
    datafile_count(d, chain(d, functions, 1), MPROF_CONS, 1, 32);
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(report__bytes(&vertex(f, "ecl_cons")->self), 16);
    assert_int_equal(arc_bytes(f, "FOO", "ecl_cons"), 16);
    assert_int_equal(arc_bytes(f, "<top level>", "FOO"), 16);
    assert_int_equal(report__bytes(&vertex(f, "<top level>")->self), 32);
    assert_int_equal(report__bytes(&f->graph->total), 48);
    assert_int_equal(f->graph->arc_count, 2);
    build(f, MPROF_ALL_THREADS, true);
    assert_int_equal(f->graph->arc_count, 7);
}

/* Beside the function that Lisp calls, others of ECL do its work. */
static void c_functions_have_lisp_names(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref own = datafile_module(d, "/home/own.fas", NULL, 0);
    mprof_ref ecl = datafile_module(d, "/lib/libecl.so.21.2", NULL, 0);
    mprof_ref functions[] = {
        datafile_lisp(d, "FOO"),
        datafile_function(d, MPROF_C, own, 8, NULL, "init_fas_CODE"),
        datafile_function(d, MPROF_C, ecl, 8, NULL, "ecl_init_module"),
        datafile_function(d, MPROF_C, own, 16, NULL, "_eclg3b8Z_upZnhn51"),
        datafile_lisp(d, "CL:MAKE-HASH-TABLE"),
        datafile_function(d, MPROF_C, ecl, 16, NULL, "cl__make_hash_table"),
        datafile_function(d, MPROF_C, own, 24, NULL, "cl__make_hash_table"),
        datafile_function(d, MPROF_C, own, 32, NULL, "_eclair_small"),
    };
    datafile_count(d, chain(d, functions, 6), MPROF_OTHER, 1, 16);
    datafile_count(d, chain(d, functions, 8), MPROF_OTHER, 1, 32);
    f->runtime = "ECL 21.2.1";
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(arc_bytes(f, "FOO", "<load of own.fas>"), 48);
    assert_int_equal(arc_bytes(f, "<load of own.fas>", "CL:MAKE-HASH-TABLE"),
                     48);
    assert_int_equal(report__bytes(&vertex(f, "CL:MAKE-HASH-TABLE")->self), 16);
    assert_int_equal(arc_bytes(f, "CL:MAKE-HASH-TABLE", "cl__make_hash_table"),
                     32);
    assert_int_equal(report__bytes(&vertex(f, "_eclair_small")->self), 32);
    assert_int_equal(f->graph->arc_count, 4);
    assert_int_equal(f->names->list[find(f, "CL:MAKE-HASH-TABLE")].kind,
                     MPROF_LISP);
    f->runtime = "";
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(arc_bytes(f, "init_fas_CODE", "_eclg3b8Z_upZnhn51"), 48);
}

/* What starts a program, and operator new, are nobody's callers. */
static void plumbing_of_c_is_left_out(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref own = datafile_module(d, "/home/own", NULL, 0);
    mprof_ref libc = datafile_module(d, "/lib/libc.so.6", NULL, 0);
    mprof_ref cxx = datafile_module(d, "/lib/libstdc++.so.6", NULL, 0);
    mprof_ref functions[] = {
        datafile_function(d, MPROF_C, own, 8, NULL, "_start"),
        datafile_function(d, MPROF_C, libc, 8, NULL, "__libc_start_main"),
        datafile_function(d, MPROF_C, libc, 16, NULL, NULL),
        datafile_function(d, MPROF_C, own, 16, NULL, "main"),
        datafile_function(d, MPROF_C, own, 24, NULL, "_ZN3Box3addEi"),
        datafile_function(d, MPROF_C, cxx, 8, NULL, "_Znam"),
        datafile_function(d, MPROF_C, cxx, 16, NULL, "_Znwm"),
    };
    mprof_ref thread = datafile_c_thread(d, 1, "own");
    mprof_ref node = datafile_node(d, thread, 0, 0);
    for (size_t i = 0; i < 7; i++)
        node = datafile_node(d, thread, node, functions[i]);
    datafile_objects(d, node, 24, 3, 2);
    build_heap(f, MPROF_C_HEAP, MPROF_ALL_THREADS, false);
    assert_int_equal(f->graph->arc_count, 1);
    assert_int_equal(arc_bytes(f, "main", "Box::add(int)"), 72);
    assert_int_equal(report__bytes(&vertex(f, "Box::add(int)")->self), 72);
    assert_int_equal(report__bytes(&vertex(f, "Box::add(int)")->freed), 48);
    assert_int_equal(report__bytes(&f->graph->freed), 48);
    build_heap(f, MPROF_C_HEAP, MPROF_ALL_THREADS, true);
    assert_int_equal(f->graph->arc_count, 6);
    assert_int_equal(
        report__bytes(&vertex(f, "operator new(unsigned long)")->self), 72);
}

/* A program's own operator new is a function like others. */
static void a_programs_own_functions_are_shown(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref own = datafile_module(d, "/home/own", NULL, 0);
    mprof_ref functions[] = {
        datafile_function(d, MPROF_C, own, 8, NULL, "start_thread"),
        datafile_function(d, MPROF_C, own, 16, NULL, "_Znwm")};
    mprof_ref thread = datafile_c_thread(d, 1, "own");
    mprof_ref node = datafile_node(d, thread, 0, 0);
    for (size_t i = 0; i < 2; i++)
        node = datafile_node(d, thread, node, functions[i]);
    datafile_objects(d, node, 8, 1, 0);
    build_heap(f, MPROF_C_HEAP, MPROF_ALL_THREADS, false);
    assert_int_equal(
        arc_bytes(f, "start_thread", "operator new(unsigned long)"), 8);
}

/* In Lisp dlopen() is a part of LOAD. */
static void loading_is_shown_in_c_only(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref libc = datafile_module(d, "/lib/libc.so.6", NULL, 0);
    mprof_ref loader = datafile_module(d, "/lib/ld-linux.so.2", NULL, 0);
    mprof_ref functions[] = {
        datafile_lisp(d, "FOO"),
        datafile_function(d, MPROF_C, libc, 8, NULL, "dlopen"),
        datafile_function(d, MPROF_C, libc, 16, NULL, "dlopen_doit"),
        datafile_function(d, MPROF_C, loader, 8, NULL, "openaux")};
    datafile_count(d, chain(d, functions, 4), MPROF_CONS, 1, 16);
    mprof_ref thread = datafile_c_thread(d, 1, "main");
    mprof_ref node = datafile_node(d, thread, 0, 0);
    for (size_t i = 0; i < 4; i++)
        node = datafile_node(d, thread, node, functions[i]);
    datafile_objects(d, node, 50, 1, 0);
    build_heap(f, MPROF_LISP_HEAP, MPROF_ALL_THREADS, false);
    assert_int_equal(report__bytes(&vertex(f, "FOO")->self), 16);
    build_heap(f, MPROF_C_HEAP, MPROF_ALL_THREADS, false);
    assert_int_equal(report__bytes(&vertex(f, "FOO")->self), 0);
    assert_int_equal(report__bytes(&vertex(f, "dlopen")->self), 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(plumbing_is_left_out),
        TEST(plumbing_of_c_is_left_out),
        TEST(c_functions_have_lisp_names),
        TEST(a_programs_own_functions_are_shown),
        TEST(loading_is_shown_in_c_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
