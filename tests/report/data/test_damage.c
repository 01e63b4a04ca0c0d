/* test_damage.c - whatever happens to a data file, the answer is an error or
 * the right tables, and never a crash. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/datafile.h"
#include "report/tables/tables.h"

/* A chain in a spill, and totals of others. */
static void make_spill(struct datafile *d, mprof_ref thread, mprof_ref f,
                       mprof_ref g, mprof_ref short_) {
    const unsigned both = MPROF_SHOWN_FRAMES | MPROF_ALL_FRAMES;
    const struct mprof_count some = {3, 90};
    mprof_ref root = datafile_spill_node(d, thread, 0, 0);
    mprof_ref node = datafile_spill_node(
        d, thread, datafile_spill_node(d, thread, root, f), g);
    datafile_spill_counter(d, node, short_, 1, some);
    for (unsigned kind = 0; kind < MPROF_TOTAL_KINDS; kind++) {
        bool is_short = kind == MPROF_SHORT;
        if (is_short && short_ == 0)
            continue;
        datafile_total(
            d, thread,
            (struct mprof_total){.caller = kind == MPROF_ARC ? MPROF_TOP : 0,
                                 .function = is_short ? short_ : f,
                                 .kind = (uint8_t)kind,
                                 .views = both,
                                 .class_ = 1,
                                 .depth = {1, 2},
                                 .counts = {{2, 60}, {1, 30}}});
    }
    struct mprof_thread *record = datafile_record(d, thread);
    record->emptied = record->spilled = 5;
}

/* Two threads of C, where one frees what the other has allocated. */
static void make_c_heap(struct datafile *d, mprof_ref module,
                        mprof_ref function) {
    const struct mprof_count none = {0, 0}, one = {1, 300}, two = {2, 600};
    mprof_ref thread = datafile_c_thread(d, 7, NULL);
    mprof_ref node =
        datafile_node(d, thread, datafile_node(d, thread, 0, 0), function);
    mprof_ref site = datafile_site(d, function, module, 9);
    mprof_ref other = datafile_c_thread(d, 8, NULL);
    datafile_edge(d, node, site);
    mprof_ref counter = datafile_counter(d, node, site, MPROF_LARGE, two, none);
    datafile_freed(d, other, counter, one);
    make_spill(d, thread, function, function, counter);
    datafile_size(d, thread, 300, two, none);
    datafile_size(d, thread, 300, none, one);
    datafile_header(d)->unknown_frees = 1;
}

/* A file with every kind of record, as small as can be. */
static void make_small(struct datafile *d) {
    datafile_start(d);
    mprof_ref module = datafile_module(d, "/x.so", "\1\2", 2);
    mprof_ref thread = datafile_thread(d, 7, "main");
    mprof_ref root = datafile_node(d, thread, 0, 0);
    mprof_ref f = datafile_lisp(d, "F");
    mprof_ref g = datafile_function(d, MPROF_C, module, 8, NULL, "g.cold");
    mprof_ref forms = datafile_function(d, MPROF_TOPLEVEL, 0, 0, NULL, NULL);
    mprof_ref a =
        datafile_node(d, thread, datafile_node(d, thread, root, forms), f);
    mprof_ref b = datafile_node(d, thread, a, g);
    mprof_ref call = datafile_site(d, f, 0, 0x4321);
    mprof_ref c = datafile_node(d, thread, b, call);
    datafile_count(d, a, MPROF_CONS, 2, 32);
    datafile_count(d, b, MPROF_STRUCT, 1, 40);
    datafile_count(d, c, MPROF_OTHER, 1, 7);
    datafile_bin(d, thread, MPROF_STRUCT, "structure", "POINT",
                 (struct mprof_count){1, 24}, (struct mprof_count){1, 16});
    datafile_edge(d, b, datafile_site(d, g, module, 0x1234));
    datafile_counter(d, b, 0, MPROF_CONS, (struct mprof_count){1, 8},
                     (struct mprof_count){0, 0});
    make_spill(d, thread, f, g, 0);
    make_c_heap(d, module, g);
    mprof_ref program = datafile_string(d, "p");
    datafile_header(d)->program = program;
}

/* All that the command prints of DATA, or NULL if it is refused. */
static char *everything(const void *data, size_t size) {
    struct report__pool pool = {0};
    const char *error = NULL;
    char *text = NULL;
    size_t length;
    struct report__profile *p = report__parse(&pool, "x", data, size, &error);

    if (p) {
        FILE *out = open_memstream(&text, &length);
        struct report__functions *names =
            report__name_functions(&pool, p, NULL);
        const struct report__leak_options leaks = {
            .verbosity = MPROF_VERBOSE, .offsets = true, .inlines = true};
        report__print_header(out, p, MPROF_VERBOSE, &pool);
        report__print_bins(out, p, MPROF_ALL_THREADS, MPROF_VERBOSE, &pool);
        report__print_sizes(out, p, MPROF_ALL_THREADS, NULL, MPROF_VERBOSE,
                            &pool);
        report__print_leaks(out, p, names, MPROF_ALL_THREADS, &leaks, &pool);
        for (unsigned heap = 0; heap < MPROF_HEAPS; heap++) {
            struct report__graph *g = report__graph_build(
                &pool, p, names, heap, MPROF_ALL_THREADS, false);
            report__print_direct(out, g, MPROF_VERBOSE, &pool);
            report__print_graph(out, g, MPROF_VERBOSE, &pool);
        }
        report__print_sexp(out, p, names, false, &pool);
        fclose(out);
    } else {
        assert_non_null(error);
        assert_null(strchr(error, '\n'));
    }
    report__pool_free(&pool);
    return text;
}

/* An exact copy on the heap, so that reading past its end is noticed. */
static char *everything_exactly(const unsigned char *data, size_t size) {
    unsigned char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    char *text = everything(copy, size);
    free(copy);
    return text;
}

/* Flip each bit in turn, in the records and the first of the header.  Returns
 * how many of the files were accepted. */
static unsigned flip_every_bit(struct datafile *d, const char *right) {
    unsigned accepted = 0;

    for (size_t i = 0; i < d->size; i++) {
        /* The zeros behind the header are checked by one bit each. */
        int step =
            i >= sizeof(struct mprof_header) && i < MPROF_HEADER_BYTES ? 8 : 1;
        for (int bit = 0; bit < 8; bit += step) {
            d->data[i] ^= (unsigned char)(1u << bit);
            char *text = everything_exactly(d->data, d->size);
            d->data[i] ^= (unsigned char)(1u << bit);
            accepted += text != NULL;
            if (text && right)
                assert_string_equal(text, right);
            free(text);
        }
    }
    return accepted;
}

static void a_closed_file_with_a_flipped_bit_is_refused(void **state) {
    struct datafile d;
    (void)state;
    make_small(&d);
    datafile_close(&d);
    char *right = everything(d.data, d.size);
    assert_non_null(right);
    assert_int_equal(flip_every_bit(&d, right), 0);
    free(right);
    datafile_free(&d);
}

static void an_open_file_with_a_flipped_bit_is_no_danger(void **state) {
    struct datafile d;
    (void)state;
    make_small(&d);
    flip_every_bit(&d, NULL);
    datafile_free(&d);
}

static void a_cut_file_is_refused(void **state) {
    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        struct datafile d;
        make_small(&d);
        if (closed)
            datafile_close(&d);
        for (size_t size = 0; size < d.size; size++)
            assert_null(everything_exactly(d.data, size));
        datafile_free(&d);
    }
}

/* More than one byte: garbage in the records of an open file. */
static void garbage_is_no_danger(void **state) {
    struct datafile good, bad;
    (void)state;
    make_small(&good);
    make_small(&bad);
    srand(1);
    for (int round = 0; round < 20000; round++) {
        memcpy(bad.data, good.data, good.size);
        for (int i = rand() % 6; i >= 0; i--) {
            size_t at = MPROF_HEADER_BYTES +
                        (size_t)rand() % (good.size - MPROF_HEADER_BYTES);
            size_t from = MPROF_HEADER_BYTES +
                          (size_t)rand() % (good.size - MPROF_HEADER_BYTES);
            bad.data[at / 4 * 4] = good.data[from / 4 * 4];
        }
        free(everything_exactly(bad.data, bad.size));
    }
    datafile_free(&good);
    datafile_free(&bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_file_is_refused),
        cmocka_unit_test(a_closed_file_with_a_flipped_bit_is_refused),
        cmocka_unit_test(an_open_file_with_a_flipped_bit_is_no_danger),
        cmocka_unit_test(garbage_is_no_danger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
