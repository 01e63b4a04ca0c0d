/* test_read.c - good files are read as they were written, and others refused
 * with a sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../report/profile.h"
#include "datafile.h"

struct fixture {
    struct datafile file;
    struct mprof__pool pool;
    const char *error;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    datafile_start(&f->file);
    *state = f;
    return f ? 0 : -1;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    mprof__pool_free(&f->pool);
    datafile_free(&f->file);
    free(f);
    return 0;
}

static struct mprof__profile *parse(struct fixture *f) {
    return mprof__parse(&f->pool, "x.data", f->file.data, f->file.size,
                        &f->error);
}

static void refuses(struct fixture *f, const char *error) {
    assert_null(parse(f));
    assert_string_equal(f->error, error);
}

static void reads_an_empty_file(void **state) {
    struct fixture *f = *state;
    datafile_close(&f->file);
    struct mprof__profile *p = parse(f);
    assert_non_null(p);
    assert_false(p->open);
    assert_int_equal(p->node_count, 0);
    assert_string_equal(p->program, "");
}

static void reads_every_record(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref module = datafile_module(d, "/lib/x.so", "\1\2\3", 3);
    mprof_ref function =
        datafile_function(d, MPROF_C, module, 0x1234, NULL, "make");
    mprof_ref thread = datafile_thread(d, 77, "worker");
    mprof_ref root = datafile_node(d, thread, 0, 0);
    mprof_ref node = datafile_node(d, thread, root, function);
    datafile_count(d, node, MPROF_FLOAT, 3, 48);
    datafile_bin(d, thread, MPROF_STRUCT, "structure", "POINT",
                 (struct mprof_count){2, 64}, (struct mprof_count){2, 32});
    datafile_edge(d, node, module, 0x7f0012345678);
    mprof_ref program = datafile_string(d, "/bin/program");
    datafile_header(d)->program = program;
    datafile_header(d)->duration = 5;
    datafile_close(d);

    struct mprof__profile *p = parse(f);
    assert_non_null(p);
    assert_string_equal(p->program, "/bin/program");
    assert_int_equal(p->duration, 5);
    assert_int_equal(p->module_count, 1);
    assert_string_equal(p->modules[0].path, "/lib/x.so");
    assert_int_equal(p->modules[0].build_id_bytes, 3);
    assert_int_equal(p->modules[0].build_id[2], 3);
    assert_int_equal(p->function_count, 1);
    assert_int_equal(p->functions[0].address, 0x1234);
    assert_int_equal(p->functions[0].module, 0);
    assert_null(p->functions[0].name);
    assert_string_equal(p->functions[0].symbol, "make");
    assert_int_equal(p->threads[0].tid, 77);
    assert_string_equal(p->threads[0].name, "worker");
    assert_int_equal(p->node_count, 2);
    assert_int_equal(p->nodes[0].parent, MPROF_NONE);
    assert_int_equal(p->nodes[1].parent, 0);
    assert_int_equal(p->nodes[1].function, 0);
    assert_int_equal(p->nodes[1].own.by_class[MPROF_FLOAT].bytes, 48);
    assert_string_equal(p->bins[0].type, "structure");
    assert_string_equal(p->bins[0].name, "POINT");
    assert_int_equal(p->bins[0].storage.bytes, 32);
    assert_int_equal(p->edges[0].node, 1);
    assert_int_equal(p->edges[0].return_address, 0x7f0012345678);
}

static void reads_an_open_file_up_to_its_end(void **state) {
    struct fixture *f = *state;
    datafile_thread(&f->file, 1, "main");
    uint64_t used = datafile_header(&f->file)->used;
    datafile_thread(&f->file, 2, "half written");
    datafile_header(&f->file)->used = used;
    struct mprof__profile *p = parse(f);
    assert_non_null(p);
    assert_true(p->open);
    assert_int_equal(p->thread_count, 1);
}

static void a_name_may_come_later(void **state) {
    struct fixture *f = *state;
    mprof_ref thread = datafile_thread(&f->file, 1, NULL);
    mprof_ref name = datafile_string(&f->file, "later");
    ((struct mprof_thread *)datafile_record(&f->file, thread))->name = name;
    struct mprof__profile *p = parse(f);
    assert_non_null(p);
    assert_string_equal(p->threads[0].name, "later");
}

static void broken_text_is_mended(void **state) {
    struct fixture *f = *state;
    datafile_thread(&f->file, 1, "caf\xc3\xa9 \xc3(\xff");
    struct mprof__profile *p = parse(f);
    assert_non_null(p);
    assert_string_equal(p->threads[0].name, "caf\xc3\xa9 ?(?");
}

static void refuses_other_files(void **state) {
    struct fixture *f = *state;
    datafile_header(&f->file)->version = 7;
    refuses(f, "x.data: has data format version 7, this mprof reads "
               "version 1");
    datafile_header(&f->file)->byte_order = 0x04030201;
    refuses(f, "x.data: written on a machine with another byte order");
    f->file.data[0] = 'X';
    refuses(f, "x.data: not an mprof data file");
    assert_null(mprof__parse(&f->pool, "e", "", 0, &f->error));
    assert_string_equal(f->error, "e: an empty file, not an mprof data file");
}

static void says_where_it_is_damaged(void **state) {
    struct fixture *f = *state;
    mprof_ref string = datafile_string(&f->file, "x");
    mprof_ref thread = datafile_thread(&f->file, 1, NULL);
    mprof_ref root = datafile_node(&f->file, thread, 0, 0);
    struct mprof_node *node = datafile_record(&f->file, root);
    node->thread = string;
    refuses(f, "x.data: damaged at byte 4176: a ref leads to a string, not "
               "to a thread");
    node->thread = 0;
    refuses(f, "x.data: damaged at byte 4176: a ref is missing");
    node->thread = thread + 1;
    refuses(f, "x.data: damaged at byte 4176: a ref leads to no record");
    node->thread = thread;
    node->parent = root;
    node->function = string;
    refuses(f, "x.data: damaged at byte 4180: a ref leads forwards");
    node->head.bytes = 1 << 30;
    refuses(f, "x.data: damaged at byte 4168: a record goes past the end of "
               "the data");
    f->file.size -= 8;
    refuses(f, "x.data: damaged at byte 4248: the file ends before its data");
}

static void checks_the_sum(void **state) {
    struct fixture *f = *state;
    mprof_ref string = datafile_string(&f->file, "abc");
    datafile_close(&f->file);
    ((struct mprof_string *)datafile_record(&f->file, string))->text[0]++;
    refuses(f, "x.data: damaged at byte 32: the check sum is wrong");
}

static void says_why_a_file_cannot_be_read(void **state) {
    struct fixture *f = *state;
    assert_null(mprof__read(&f->pool, "/nonexistent/x", &f->error));
    assert_string_equal(f->error, "cannot open /nonexistent/x: No such file "
                                  "or directory");
    assert_null(mprof__read(&f->pool, "/dev/null", &f->error));
    assert_string_equal(f->error, "cannot read /dev/null: not a regular file");
}

static void reads_from_disk(void **state) {
    struct fixture *f = *state;
    char path[] = "test_read.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    datafile_thread(&f->file, 5, "disk");
    /* While it is open the file is longer than its data. */
    assert_int_equal(write(fd, f->file.data, f->file.size), f->file.size);
    assert_int_equal(ftruncate(fd, 1 << 20), 0);
    struct mprof__profile *p = mprof__read(&f->pool, path, &f->error);
    close(fd);
    unlink(path);
    assert_non_null(p);
    assert_string_equal(p->threads[0].name, "disk");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(reads_an_empty_file),
        TEST(reads_every_record),
        TEST(reads_an_open_file_up_to_its_end),
        TEST(a_name_may_come_later),
        TEST(broken_text_is_mended),
        TEST(refuses_other_files),
        TEST(says_where_it_is_damaged),
        TEST(checks_the_sum),
        TEST(says_why_a_file_cannot_be_read),
        TEST(reads_from_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
