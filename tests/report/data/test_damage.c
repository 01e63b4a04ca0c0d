/* test_damage.c - whatever happens to a data file, the answer is an error or
 * the right tables, and never a crash. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/datafile.h"
#include "tests/support/parse.h"
#include "tests/support/small.h"
#include "report/graph/inlining.h"
#include "report/tables/tables.h"

/* All that the command prints of DATA, or NULL if it is refused. */
static char *everything(const void *data, size_t size) {
    struct report__pool pool = {0};
    const char *error = NULL;
    char *text = NULL;
    size_t length;
    struct report__profile *p = parse_bytes(&pool, "x", data, size, &error);

    if (p) {
        FILE *out = open_memstream(&text, &length);
        struct report__functions *names =
            report__name_functions(&pool, p, NULL);
        report__find_inlining(&pool, p, names, false);
        report__print_header(out, p, MPROF_VERBOSE, &pool);
        for (unsigned i = 0; i < MPROF_HEAPS * MPROF_TABLES; i++) {
            struct report__context context = {.out = out,
                                              .pool = &pool,
                                              .profile = p,
                                              .part = p,
                                              .names = names,
                                              .heap = i % MPROF_HEAPS,
                                              .thread = MPROF_ALL_THREADS,
                                              .choice.verbosity = MPROF_VERBOSE,
                                              .offsets = true};
            const struct report__table *table =
                &report__tables[i / MPROF_HEAPS];
            if (table->heaps >> context.heap & 1)
                table->print(&context);
        }
        report__print_sexp(&(struct report__context){.out = out,
                                                     .pool = &pool,
                                                     .profile = p,
                                                     .part = p,
                                                     .names = names});
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

/* MPROF_DAMAGE_EVERY: of so many damages one is tried, 1 unless set. */
static int every(void) {
    const char *number = getenv("MPROF_DAMAGE_EVERY");
    int n = number == NULL ? 1 : atoi(number);
    assert_true(n > 0);
    return n;
}

/* Flip each bit in turn, in the records and the first of the header.  Returns
 * how many of the files were accepted. */
static unsigned flip_every_bit(struct datafile *d, const char *right) {
    unsigned accepted = 0, tried = 0, n = (unsigned)every();

    for (size_t i = 0; i < d->size; i++) {
        /* The zeros behind the header are checked by one bit each. */
        int step =
            i >= sizeof(struct mprof_header) && i < MPROF_HEADER_BYTES ? 8 : 1;
        for (int bit = 0; bit < 8; bit += step) {
            if (tried++ % n != 0)
                continue;
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
    small_file(&d);
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
    small_file(&d);
    flip_every_bit(&d, NULL);
    datafile_free(&d);
}

static void a_cut_file_is_refused(void **state) {
    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        struct datafile d;
        small_file(&d);
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
    small_file(&good);
    small_file(&bad);
    srand(1);
    for (int round = 20000 / every(); round > 0; round--) {
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
