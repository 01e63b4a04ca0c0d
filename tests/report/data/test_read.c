/* test_read.c - good files are read as they were written, and others refused
 * with a sentence. */
#include "tests/support/parsed.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void reads_an_empty_file(void **state) {
    struct fixture *f = *state;
    datafile_close(&f->file);
    struct report__profile *p = parse(f);
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
    datafile_edge(d, node, datafile_site(d, function, module, 0x7f0012345678));
    mprof_ref site = datafile_site(d, function, 0, 0x5678);
    mprof_ref inner = datafile_node(d, thread, node, site);
    datafile_counter(d, inner, 0, MPROF_CONS, (struct mprof_count){1, 16},
                     (struct mprof_count){0, 0});
    datafile_close(d);

    struct report__profile *p = parse(f);
    assert_non_null(p);
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
    assert_int_equal(p->threads[0].heap, MPROF_LISP_HEAP);
    assert_int_equal(p->threads[0].members, 1);
    assert_string_equal(p->threads[0].name, "worker");
    assert_int_equal(p->node_count, 3);
    assert_int_equal(p->nodes[0].parent, MPROF_NONE);
    assert_int_equal(p->nodes[1].parent, 0);
    assert_int_equal(p->nodes[1].function, 0);
    assert_int_equal(of_node(p, 1, MPROF_FLOAT, false).bytes, 48);
    assert_int_equal(p->nodes[2].parent, 1);
    assert_int_equal(p->nodes[2].function, 0);
    assert_int_equal(of_node(p, 2, MPROF_CONS, false).bytes, 16);
    assert_int_equal(p->counter_count, 2);
    assert_int_equal(p->counters[0].site, MPROF_NONE);
    assert_int_equal(p->counters[1].site, 1);
    assert_int_equal(p->counters[1].node, 2);
    assert_int_equal(p->counters[1].class_, MPROF_CONS);
    assert_string_equal(p->bins[0].type, "structure");
    assert_string_equal(p->bins[0].name, "POINT");
    assert_int_equal(p->bins[0].storage.bytes, 32);
    assert_int_equal(p->nodes[1].site, MPROF_NONE);
    assert_int_equal(p->nodes[2].site, 1);
    assert_int_equal(p->sites[1].return_address, 0x5678);
    assert_int_equal(p->sites[0].module, 0);
    assert_int_equal(p->sites[0].return_address, 0x7f0012345678);
}

/* In old files a node may have called from several sites. */
static void a_node_with_edges_calls_from_nowhere(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    const struct mprof_count some = {1, 8}, none = {0, 0};
    mprof_ref thread = datafile_c_thread(d, 1, NULL);
    mprof_ref function = datafile_lisp(d, "F");
    mprof_ref site = datafile_site(d, function, 0, 1);
    mprof_ref other = datafile_site(d, function, 0, 2);
    mprof_ref root = datafile_node(d, thread, 0, 0);
    mprof_ref node = datafile_node(d, thread, root, site);
    datafile_counter(d, node, site, 0, some, none);
    struct report__profile *p = parse(f);
    assert_non_null(p);
    assert_int_equal(p->nodes[1].site, 0);
    assert_int_equal(p->counters[0].site, 0);
    datafile_edge(d, node, other);
    p = parse(f);
    assert_non_null(p);
    assert_int_equal(p->nodes[1].site, MPROF_NONE);
    assert_int_equal(p->counters[0].site, MPROF_NONE);
}

static void reads_the_records_of_c(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref thread = datafile_c_thread(d, 78, NULL);
    mprof_ref root = datafile_node(d, thread, 0, 0);
    datafile_objects(d, root, 100, 7, 5);
    datafile_objects(d, root, 5000, 2, 0);
    datafile_close(d);

    struct report__profile *p = parse(f);
    assert_non_null(p);
    assert_int_equal(p->heaps, 1u << MPROF_C_HEAP);
    assert_int_equal(p->threads[0].heap, MPROF_C_HEAP);
    assert_int_equal(of_node(p, 0, MPROF_MEDIUM, false).bytes, 700);
    assert_int_equal(of_node(p, 0, MPROF_EXTRA, false).allocs, 2);
    assert_int_equal(of_node(p, 0, MPROF_MEDIUM, true).allocs, 5);
    assert_int_equal(p->counters[0].lived->freed.bytes, 500);
    assert_int_equal(p->size_count, 2);
    assert_int_equal(p->sizes[0].thread, 0);
    assert_int_equal(p->sizes[0].size, 100);
    assert_int_equal(p->sizes[0].freed.bytes, 500);
    assert_int_equal(p->sizes[1].size, MPROF_LARGEST_BIN + 1);
}

static void reads_the_header(void **state) {
    struct fixture *f = *state;
    mprof_ref program = datafile_string(&f->file, "/bin/program");
    struct mprof_header *h = datafile_header(&f->file);
    h->program = program;
    h->duration = 5;
    h->heaps = 3;
    h->parent = 12;
    h->failed_allocs = 1;
    h->unknown_frees = 2;
    h->unplaced_frees = 3;
    h->unplaced_freed_bytes = 4;
    h->untracked_allocs = 5;
    h->untracked_bytes = 6;

    struct report__profile *p = parse(f);
    assert_non_null(p);
    assert_string_equal(p->program, "/bin/program");
    assert_int_equal(p->duration, 5);
    assert_int_equal(p->heaps, 3);
    assert_int_equal(p->parent, 12);
    assert_int_equal(p->failed_allocs, 1);
    assert_int_equal(p->unknown_frees, 2);
    assert_int_equal(p->unplaced_frees, 3);
    assert_int_equal(p->unplaced_freed_bytes, 4);
    assert_int_equal(p->untracked_allocs, 5);
    assert_int_equal(p->untracked_bytes, 6);
}

static void reads_an_open_file_up_to_its_end(void **state) {
    struct fixture *f = *state;
    datafile_thread(&f->file, 1, "main");
    uint64_t used = datafile_header(&f->file)->used;
    datafile_thread(&f->file, 2, "half written");
    datafile_header(&f->file)->used = used;
    struct report__profile *p = parse(f);
    assert_non_null(p);
    assert_true(p->open);
    assert_int_equal(p->thread_count, 1);
}

static void a_name_may_come_later(void **state) {
    struct fixture *f = *state;
    mprof_ref thread = datafile_thread(&f->file, 1, NULL);
    mprof_ref name = datafile_string(&f->file, "later");
    ((struct mprof_thread *)datafile_record(&f->file, thread))->name = name;
    struct report__profile *p = parse(f);
    assert_non_null(p);
    assert_string_equal(p->threads[0].name, "later");
}

static void broken_text_is_mended(void **state) {
    struct fixture *f = *state;
    datafile_thread(&f->file, 1, "caf\xc3\xa9 \xc3(\xff");
    struct report__profile *p = parse(f);
    assert_non_null(p);
    assert_string_equal(p->threads[0].name, "caf\xc3\xa9 ?(?");
}

/* Behind a block there is something else. */
static void what_is_behind_a_block_is_none_of_it(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    const struct mprof_count none = {0, 0};
    mprof_ref strings[20];
    mprof_ref thread = datafile_thread(d, 1, NULL);
    mprof_ref node = datafile_node(d, thread, 0, 0);
    mprof_ref counter = datafile_counter(d, node, 0, MPROF_CONS, none, none);
    for (int i = 0; i < 20; i++)
        strings[i] = datafile_string(d, "");
    struct mprof_node *of = datafile_record(d, node);
    for (int i = 0; i < 20; i++) {
        of->counter = strings[i];
        refuses_for(f, "a ref leads to a string, not to counters");
    }
    /* Nor what is in the middle of a thing, here all zeros. */
    of->counter = counter + 1;
    refuses_for(f, "a ref leads to no record");
    of->counter = counter;
    assert_non_null(parse(f));
}

static void a_spill_that_was_emptied_counts_no_more(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    const struct mprof_count some = {1, 8};
    mprof_ref thread = datafile_thread(d, 1, NULL);
    datafile_node(d, thread, 0, 0);
    mprof_ref node = datafile_spill_node(d, thread, 0, 0);
    datafile_spill_counter(d, node, 0, MPROF_CONS, some);
    struct mprof_thread *record = datafile_record(d, thread);
    record->emptied = record->spilled = 3;
    assert_int_equal(parse(f)->counter_count, 1);
    record->emptied = 4;
    assert_int_equal(parse(f)->counter_count, 0);
}

/* Of 10 objects of THREAD, 100 bytes in all, it freed 3, which had 40, and
 * another one 2, which had 20: the FREED of that. */
static mprof_ref free_by_another(struct datafile *d, mprof_ref thread) {
    const struct mprof_count many = {10, 100}, some = {3, 40}, few = {2, 20};
    mprof_ref other = datafile_c_thread(d, 2, NULL);
    mprof_ref node = datafile_node(d, thread, 0, 0);
    mprof_ref counter = datafile_counter(d, node, 0, MPROF_CONS, many, some);
    return datafile_freed(d, other, counter, few);
}

static void what_is_freed_is_added_up(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref thread = datafile_c_thread(d, 1, NULL);
    mprof_ref freed = free_by_another(d, thread);
    struct report__profile *p = parse(f);
    assert_non_null(p);
    assert_int_equal(p->counters[0].lived->freed.allocs, 5);
    assert_int_equal(p->counters[0].lived->freed.bytes, 60);
    /* A free may be in an open file before the allocation is. */
    struct mprof_freed *record = datafile_record(d, freed);
    record->freed = (struct mprof_count){9, 90};
    p = parse(f);
    assert_int_equal(p->counters[0].lived->freed.allocs, 10);
    assert_int_equal(p->counters[0].lived->freed.bytes, 100);
    datafile_close(d);
    refuses_for(f, "more is freed than was allocated");
}

/* Where nothing was freed since the peak, all had been freed before. */
static void what_others_freed_lived_at_the_peak_or_not(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref thread = datafile_c_thread(d, 1, NULL);
    mprof_ref freed = free_by_another(d, thread);
    ((struct mprof_thread *)datafile_record(d, thread))->peak = 61;
    struct report__profile *p = parse(f);
    assert_non_null(p);
    assert_int_equal(p->at_peak.allocs, 5);
    assert_int_equal(p->at_peak.bytes, 40);
    struct mprof_freed *record = datafile_record(d, freed);
    record->stamp = 61;
    record->at_peak = (struct mprof_count){1, 10};
    p = parse(f);
    assert_int_equal(p->at_peak.allocs, 6);
    assert_int_equal(p->at_peak.bytes, 50);
}

/* It is opened once. */
static void modules_of_one_file_are_one(void **state) {
    struct fixture *f = *state;
    datafile_module(&f->file, "/x/a", "id1", 3);
    datafile_module(&f->file, "/x/b", "id1", 3);
    datafile_module(&f->file, "/x/a", "id2", 3);
    datafile_module(&f->file, "/x/a", "id1", 3);
    datafile_module(&f->file, "/x/b", NULL, 0);
    datafile_module(&f->file, NULL, NULL, 0);
    datafile_module(&f->file, "/x/b", NULL, 0);
    datafile_close(&f->file);
    struct report__profile *p = parse(f);
    static const uint32_t files[] = {0, 1, 2, 0, 4, 5, 4};
    assert_int_equal(p->module_count, 7);
    for (int i = 0; i < 7; i++)
        assert_int_equal(p->modules[i].file, files[i]);
}

/* Whatever refers to a string has the same copy of it. */
static void a_string_is_copied_once(void **state) {
    struct fixture *f = *state;
    mprof_ref a = datafile_function(&f->file, MPROF_C, 0, 1, "name", NULL);
    mprof_ref b = datafile_function(&f->file, MPROF_C, 0, 2, "other", NULL);
    ((struct mprof_function *)datafile_record(&f->file, b))->name =
        ((struct mprof_function *)datafile_record(&f->file, a))->name;
    datafile_close(&f->file);
    struct report__profile *p = parse(f);
    assert_string_equal(p->functions[1].name, "name");
    assert_ptr_equal(p->functions[0].name, p->functions[1].name);
}

static void a_function_may_have_a_source(void **state) {
    struct fixture *f = *state;
    char path[PATH_MAX + 1];
    memset(path, 'x', sizeof path);
    path[PATH_MAX] = '\0';
    mprof_ref with = datafile_lisp(&f->file, "F");
    datafile_lisp(&f->file, "G");
    mprof_ref source = datafile_source(&f->file, with, "/x.lsp", 7);
    struct report__profile *p = parse(f);
    assert_non_null(p);
    assert_string_equal(p->functions[0].file, "/x.lsp");
    assert_int_equal(p->functions[0].position, 7);
    assert_null(p->functions[1].file);
    struct mprof_source *record = datafile_record(&f->file, source);
    const struct mprof_source good = *record;
    record->position = MPROF_NO_POSITION;
    assert_non_null(parse(f));
    record->position--;
    assert_null(parse(f));
    assert_non_null(strstr(f->error, "no such place in a file"));
    *record = good;
    record->file = 0;
    assert_null(parse(f));
    record->file = with;
    assert_null(parse(f));
    *record = good;
    record->function = 0;
    assert_null(parse(f));
    record->function = source;
    assert_null(parse(f));
    *record = good;
    datafile_source(&f->file, with, path, 7);
    assert_null(parse(f));
    assert_non_null(strstr(f->error, "the path of a source file is too long"));
}

static void symbols_may_be_copies(void **state) {
    struct fixture *f = *state;
    mprof_ref function =
        datafile_function(&f->file, MPROF_C, 0, 16, NULL, "read_it");
    struct report__profile *p = parse(f);
    assert_string_equal(p->functions[0].symbol, "read_it");
    struct mprof_function *record = datafile_record(&f->file, function);
    record->copied = 1;
    p = parse(f);
    assert_null(p->functions[0].symbol);
    assert_string_equal(p->functions[0].copied, "read_it");
    record->copied = 2;
    assert_null(parse(f));
    assert_non_null(strstr(f->error, "neither a copy nor not"));
    record->copied = 1;
    datafile_header(&f->file)->version = MPROF_UNCOPIED_VERSION;
    assert_null(parse(f));
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
    struct report__profile *p = report__read(&f->pool, path, &f->error);
    close(fd);
    unlink(path);
    assert_non_null(p);
    assert_string_equal(p->threads[0].name, "disk");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(reads_an_empty_file),
        TEST(reads_every_record),
        TEST(a_node_with_edges_calls_from_nowhere),
        TEST(reads_the_records_of_c),
        TEST(reads_the_header),
        TEST(reads_an_open_file_up_to_its_end),
        TEST(a_name_may_come_later),
        TEST(broken_text_is_mended),
        TEST(what_is_behind_a_block_is_none_of_it),
        TEST(a_spill_that_was_emptied_counts_no_more),
        TEST(what_is_freed_is_added_up),
        TEST(what_others_freed_lived_at_the_peak_or_not),
        TEST(modules_of_one_file_are_one),
        TEST(a_string_is_copied_once),
        TEST(a_function_may_have_a_source),
        TEST(symbols_may_be_copies),
        TEST(reads_from_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
