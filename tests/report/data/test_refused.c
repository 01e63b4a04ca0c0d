/* test_refused.c - what is no good data file is refused, with a sentence. */
#include "tests/support/parsed.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void refuses_other_files(void **state) {
    struct fixture *f = *state;
    datafile_header(&f->file)->version = 13;
    refuses(f, "x.data: has data format version 13, this mprof reads "
               "versions 7 to 12; that which recorded it can read it");
    datafile_header(&f->file)->byte_order = 0x04030201;
    refuses(f, "x.data: written on a machine with another byte order");
    f->file.data[0] = 'X';
    refuses(f, "x.data: not an mprof data file");
    assert_null(parse_bytes(&f->pool, "e", "", 0, &f->error));
    assert_string_equal(f->error, "e: an empty file, not an mprof data file");
}

static void says_where_it_is_damaged(void **state) {
    struct fixture *f = *state;
    mprof_ref string = datafile_string(&f->file, "x");
    mprof_ref thread = datafile_thread(&f->file, 1, NULL);
    mprof_ref root = datafile_node(&f->file, thread, 0, 0);
    struct mprof_node *node = datafile_record(&f->file, root);
    struct mprof_block *block = datafile_block(&f->file, root);
    block->thread = string;
    refuses(f, "x.data: damaged at byte 4272: a ref leads to a string, not "
               "to a thread");
    block->thread = 0;
    refuses(f, "x.data: damaged at byte 4272: a ref is missing");
    block->thread = thread + 1;
    refuses(f, "x.data: damaged at byte 4272: a ref leads to no record");
    block->thread = thread;
    block->count = 2;
    refuses(f, "x.data: damaged at byte 4276: there is no room for so many");
    block->count = 1;
    node->parent = root;
    node->call = string;
    refuses(f, "x.data: damaged at byte 4280: a ref leads forwards");
    block->head.bytes = 1 << 30;
    refuses(f, "x.data: damaged at byte 4264: a record goes past the end of "
               "the data");
    f->file.size -= 8;
    refuses(f, "x.data: damaged at byte 4296: the file ends before its data");
}

static void all_sizes_are_multiples_of_eight(void **state) {
    struct fixture *f = *state;
    mprof_ref string = datafile_string(&f->file, "eight bytes more");
    datafile_thread(&f->file, 1, NULL);
    struct mprof_header *header = datafile_header(&f->file);
    struct mprof_record *record = datafile_record(&f->file, string);
    header->used -= 4;
    refuses(f, "x.data: damaged at byte 24: impossible number of bytes in use");
    header->used += 4;
    record->bytes -= 4;
    refuses(f, "x.data: damaged at byte 4096: a record has the wrong size");
}

static void what_belongs_together_is_of_one_thread(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    const struct mprof_count some = {1, 8}, none = {0, 0};
    mprof_ref thread = datafile_c_thread(d, 1, NULL),
              other = datafile_c_thread(d, 2, NULL);
    mprof_ref function = datafile_lisp(d, "F");
    mprof_ref site = datafile_site(d, function, 0, 9);
    mprof_ref root = datafile_node(d, thread, 0, 0);
    mprof_ref others = datafile_node(d, other, 0, 0);
    mprof_ref node = datafile_node(d, thread, root, function);
    mprof_ref edge = datafile_edge(d, node, site);
    mprof_ref counter = datafile_counter(d, node, site, 0, some, none);
    assert_non_null(parse(f));
    struct mprof_node *of = datafile_record(d, node);
    of->parent = others;
    refuses_for(f, "a node is in another thread than its parent");
    of->parent = root;
    datafile_block(d, edge)->thread = other;
    refuses_for(f, "a call site of another thread's node");
    datafile_block(d, edge)->thread = thread;
    struct mprof_c_counter *of_node = datafile_record(d, counter);
    of_node->thread = other;
    refuses_for(f, "a counter of another thread's node");
    of_node->thread = thread;
    assert_non_null(parse(f));
    ((struct mprof_node *)datafile_record(d, root))->call = function;
    refuses_for(f, "the root of a thread has a function");
}

static void modules_and_heaps_are_possible(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    const struct mprof_count none = {0, 0};
    mprof_ref module = datafile_module(d, "/x.so", "", 0);
    mprof_ref thread = datafile_thread(d, 1, NULL);
    mprof_ref bin =
        datafile_bin(d, thread, MPROF_CONS, "cons", NULL, none, none);
    mprof_ref of_c = datafile_c_thread(d, 2, NULL);
    assert_non_null(parse(f));
    struct mprof_module *m = datafile_record(d, module);
    m->start = m->end + 1;
    refuses_for(f, "a module ends before it starts");
    m->start = m->end;
    ((struct mprof_bin *)datafile_record(d, bin))->thread = of_c;
    refuses_for(f, "a ref leads forwards");
    ((struct mprof_bin *)datafile_record(d, bin))->thread = thread;
    ((struct mprof_thread *)datafile_record(d, thread))->heap = MPROF_C_HEAP;
    refuses_for(f, "a thread of the wrong heap");
    datafile_header(d)->heaps = 1 << MPROF_LISP_HEAP;
    refuses_for(f, "a thread of a heap that is not recorded");
}

/* The function was made while the file was copied: its node is as the caller's,
 * with what was allocated there. */
static void a_function_may_be_missing(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref function = datafile_lisp(d, "f");
    mprof_ref thread = datafile_thread(d, 1, NULL);
    mprof_ref root = datafile_node(d, thread, 0, 0);
    mprof_ref caller = datafile_node(d, thread, root, function);
    mprof_ref node = datafile_node(d, thread, caller, 1u << 20);
    datafile_count(d, caller, MPROF_CONS, 1, 16);
    datafile_count(d, node, MPROF_CONS, 2, 48);
    struct report__profile *p = parse(f);
    assert_non_null(p);
    assert_int_equal(p->nodes[2].function, p->nodes[1].function);
    assert_int_equal(p->nodes[2].parent, 0);
    assert_int_equal(p->nodes[2].thread, 0);
    assert_int_equal(of_node(p, 1, MPROF_CONS, false).bytes, 16);
    assert_int_equal(of_node(p, 2, MPROF_CONS, false).bytes, 48);
    datafile_close(d);
    refuses_for(f, "a ref leads to no record");
}

/* Nobody asks where a function called whose chain is in a spill. */
static void nodes_of_spills_have_no_call_sites(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref function = datafile_lisp(d, "f");
    mprof_ref site = datafile_site(d, function, 0, 1);
    mprof_ref thread = datafile_thread(d, 1, NULL);
    mprof_ref root = datafile_spill_node(d, thread, 0, 0);
    datafile_spill_node(d, thread, root, site);
    struct report__profile *p = parse(f);
    assert_non_null(p);
    assert_int_equal(p->node_count, 2);
    assert_int_equal(p->nodes[1].function, 0);
    assert_int_equal(p->nodes[1].site, MPROF_NONE);
}

static void a_counter_is_of_one_node_and_there(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    const struct mprof_count some = {1, 8}, none = {0, 0};
    mprof_ref thread = datafile_thread(d, 1, NULL);
    mprof_ref root = datafile_node(d, thread, 0, 0);
    mprof_ref node = datafile_node(d, thread, root, datafile_lisp(d, "F"));
    mprof_ref counter = datafile_counter(d, node, 0, MPROF_CONS, some, none);
    assert_int_equal(parse(f)->counter_count, 1);
    ((struct mprof_node *)datafile_record(d, root))->counter = counter;
    refuses_for(f, "a counter belongs to two nodes");
    ((struct mprof_node *)datafile_record(d, root))->counter = 0;
    /* It is there when the block counts it. */
    datafile_block(d, counter)->count = 0;
    assert_int_equal(parse(f)->counter_count, 0);
    datafile_close(d);
    refuses_for(f, "a ref leads to what is not there");
}

static void checks_the_sum(void **state) {
    struct fixture *f = *state;
    mprof_ref string = datafile_string(&f->file, "abc");
    datafile_close(&f->file);
    ((struct mprof_string *)datafile_record(&f->file, string))->text[0]++;
    refuses(f, "x.data: damaged at byte 32: the check sum is wrong");
}

static void no_path_is_longer_than_paths_are(void **state) {
    struct fixture *f = *state;
    char path[PATH_MAX + 1];
    memset(path, 'x', sizeof path);
    path[PATH_MAX - 1] = '\0';
    datafile_module(&f->file, path, NULL, 0);
    size_t good = f->file.size;
    datafile_close(&f->file);
    assert_non_null(parse(f));
    path[PATH_MAX - 1] = 'x';
    path[PATH_MAX] = '\0';
    f->file.size = good;
    datafile_module(&f->file, path, NULL, 0);
    datafile_close(&f->file);
    assert_null(
        parse_bytes(&f->pool, "x.data", f->file.data, f->file.size, &f->error));
    assert_non_null(strstr(f->error, "the path of a module is too long"));
}

static void a_part_of_the_bytes_is_possible(void **state) {
    struct fixture *f = *state;
    static const uint32_t good[] = {0, 2, 512, 1 << 20};
    static const uint32_t bad[] = {1, (1 << 20) + 1, UINT32_MAX};
    datafile_thread(&f->file, 5, "one");
    datafile_header(&f->file)->heaps = 1 << MPROF_LISP_HEAP;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        datafile_header(&f->file)->sampling = good[i];
        struct report__profile *p = parse(f);
        assert_non_null(p);
        assert_int_equal(p->sampling, good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        datafile_header(&f->file)->sampling = bad[i];
        assert_null(parse(f));
        assert_non_null(strstr(f->error, "no such part of the bytes"));
    }
    /* The C heap is not sampled. */
    datafile_header(&f->file)->sampling = 512;
    datafile_header(&f->file)->heaps = 3;
    assert_null(parse(f));
}

static void says_why_a_file_cannot_be_read(void **state) {
    struct fixture *f = *state;
    assert_null(report__read(&f->pool, "/nonexistent/x", &f->error));
    assert_string_equal(f->error, "cannot open /nonexistent/x: No such file "
                                  "or directory");
    assert_null(report__read(&f->pool, "/dev/null", &f->error));
    assert_string_equal(f->error, "cannot read /dev/null: not a regular file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(refuses_other_files),
        TEST(says_where_it_is_damaged),
        TEST(all_sizes_are_multiples_of_eight),
        TEST(what_belongs_together_is_of_one_thread),
        TEST(modules_and_heaps_are_possible),
        TEST(a_function_may_be_missing),
        TEST(nodes_of_spills_have_no_call_sites),
        TEST(a_counter_is_of_one_node_and_there),
        TEST(checks_the_sum),
        TEST(no_path_is_longer_than_paths_are),
        TEST(a_part_of_the_bytes_is_possible),
        TEST(says_why_a_file_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
