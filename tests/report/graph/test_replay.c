/* test_replay.c - whatever the limit, the tables are the same to the byte.
 *
 * What a data file has is recorded once more with little room, so that its
 * chains are summed up again and again.  The files are of random chains, with
 * functions of all kinds; with MPROF_REPLAY, that data file with MPROF_LIMIT.
 */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/format/bytes.h"
#include "tests/support/datafile.h"
#include "tests/support/replay.h"

static const char *const tables[] = {"--verbose\n--table=direct,graph\n",
                                     "--verbose\n--table=direct,graph\n"
                                     "--all-frames\n",
                                     "--verbose\n--table=leaks\n"
                                     "--leak-depth=1\n",
                                     "--verbose\n--table=leaks\n"};

/* The first line that differs. */
static void print_difference(const char *options, const char *x,
                             const char *y) {
    size_t at = 0, line = 0;
    for (; x[at] != '\0' && x[at] == y[at]; at++)
        if (x[at] == '\n')
            line = at + 1;
    print_error("%s%.*s\nnot\n%.*s\n", options, (int)strcspn(y + line, "\n"),
                y + line, (int)strcspn(x + line, "\n"), x + line);
}

/* The first COUNT tables; the last one needs room for short chains. */
static void compare(const char *whole, const char *small, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char *x = replay_tables(whole, tables[i]);
        char *y = replay_tables(small, tables[i]);
        if (strcmp(x, y) != 0)
            print_difference(tables[i], x, y);
        assert_true(strcmp(x, y) == 0);
        free(x);
        free(y);
    }
}

/* Functions of all kinds, some of which are one in the tables, or plumbing, or
 * parts of others. */
static const struct {
    enum mprof_function_kind kind;
    const char *name, *symbol;
    int module;
} kinds[] = {
    {MPROF_LISP, "ONE", "L1one", 0},
    {MPROF_LISP, "ONE", "L7one", 1},
    {MPROF_INTERPRETED, "ONE", NULL, -1},
    {MPROF_C, NULL, "L1one.cold", 0},
    {MPROF_ENTRY, "ONE", "Lentry", 0},
    {MPROF_LISP, "TWO", NULL, 0},
    {MPROF_LISP, "THREE", NULL, 1},
    {MPROF_LISP, "CL:EVAL", "cl_eval", 2},
    {MPROF_LISP, "SI:TPL-PRINT", NULL, 2},
    {MPROF_C, NULL, "ecl_interpret", 2},
    {MPROF_C, NULL, "ecl_cons", 2},
    {MPROF_C, NULL, "dlopen", 3},
    {MPROF_C, NULL, "qsort", 3},
    {MPROF_C, NULL, "start_thread", 3},
    {MPROF_C, NULL, "_start", 1},
    {MPROF_C, NULL, "work", 1},
    {MPROF_C, NULL, "work.part.0", 1},
    {MPROF_C, NULL, "work.part.0.cold", 1},
    {MPROF_C, NULL, "rest.constprop.0", 1},
    {MPROF_INTERPRETED, "(LAMBDA)", "f.lsp:3:9", -1},
    {MPROF_INTERPRETED, "(LAMBDA)", "f.lsp:3:9", -1},
    {MPROF_INTERPRETED, "(LAMBDA)", NULL, -1},
    {MPROF_INTERPRETED, NULL, NULL, -1},
    {MPROF_LISP, "(LAMBDA (X))", NULL, 1},
    {MPROF_TOPLEVEL, NULL, NULL, -1},
    {MPROF_UNKNOWN, NULL, NULL, -1},
};

enum {
    KINDS = sizeof kinds / sizeof *kinds,
    SITES = 3,
    NODES = 40000,
    C_NODES = 4000
};

struct source {
    struct datafile file;
    mprof_ref call[KINDS][SITES]; /* SITEs, or the FUNCTION of what has none */
};

static void make_functions(struct source *s) {
    static const char *const paths[] = {"/nowhere/a.fas", "/nowhere/program",
                                        "/nowhere/libecl.so.21.2",
                                        "/nowhere/libc.so.6"};
    struct datafile *d = &s->file;
    mprof_ref modules[4];
    for (int i = 0; i < 4; i++)
        modules[i] = datafile_module(d, paths[i], &i, sizeof i);
    for (unsigned k = 0; k < KINDS; k++) {
        mprof_ref module = kinds[k].module < 0 ? 0 : modules[kinds[k].module];
        mprof_ref f =
            datafile_function(d, kinds[k].kind, module, 0x1000 * (k + 1),
                              kinds[k].name, kinds[k].symbol);
        for (unsigned i = 0; i < SITES; i++)
            s->call[k][i] =
                module == 0 ? f
                            : datafile_site(d, f, module, 0x1000 * (k + 1) + i);
    }
}

/* Those of few kinds make chains with much recursion. */
static mprof_ref draw_call(const struct source *s, unsigned *kind) {
    *kind = (unsigned)rand() % (rand() % 2 ? KINDS : 6);
    return s->call[*kind][(unsigned)rand() % SITES];
}

static void make_thread(struct source *s, mprof_ref thread, bool c) {
    struct datafile *d = &s->file;
    static mprof_ref nodes[NODES], count;
    static unsigned kind[NODES];
    mprof_ref most = c ? C_NODES : NODES;
    count = 0;
    nodes[count++] = datafile_node(d, thread, 0, 0);
    while (count < most) {
        unsigned recent = count < 40 ? count : 40;
        mprof_ref parent =
            nodes[rand() % 9 ? count - 1 - (unsigned)rand() % recent
                             : (unsigned)rand() % count];
        mprof_ref call = draw_call(s, &kind[count]);
        mprof_ref node = nodes[count++] =
            datafile_node(d, thread, parent, call);
        /* One for each class. */
        for (unsigned class_ = 0; class_ < MPROF_CLASSES; class_++) {
            uint64_t n = 1 + (uint64_t)rand() % 9;
            struct mprof_count some = {n, n * ((uint64_t)rand() % 100)};
            struct mprof_count freed = {c ? some.allocs / 3 : 0,
                                        c ? some.bytes / 3 : 0};
            const struct mprof_record *record = datafile_record(d, call);
            if (rand() % 3 == 0)
                datafile_counter(d, node,
                                 c && record->type == MPROF_SITE ? call : 0,
                                 class_, some, freed);
        }
    }
}

static void write_file(struct source *s, const char *name) {
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    datafile_close(&s->file);
    assert_int_equal(fwrite(s->file.data, 1, s->file.size, file), s->file.size);
    assert_int_equal(fclose(file), 0);
}

static void small_files_have_the_same_tables(void **state) {
    (void)state;
    static const unsigned limits[] = {3u << 20, 4u << 20, 64u << 20};
    char whole[] = "/tmp/mprof-whole-XXXXXX",
         small[] = "/tmp/mprof-small-XXXXXX";
    close(mkstemp(whole));
    close(mkstemp(small));
    srand(1988);
    for (unsigned round = 0; round < 3; round++) {
        struct source s;
        datafile_start(&s.file);
        datafile_header(&s.file)->heaps = 3;
        make_functions(&s);
        make_thread(&s, datafile_thread(&s.file, 1, NULL), false);
        make_thread(&s, datafile_c_thread(&s.file, 1, NULL), true);
        write_file(&s, whole);
        datafile_free(&s.file);
        uint64_t emptied = replay(whole, small, limits[round]);
        print_message("%lu bytes: emptied %lu times\n",
                      (unsigned long)limits[round], (unsigned long)emptied);
        assert_int_equal(emptied > 2, limits[round] < 64u << 20);
        compare(whole, small, 3);
    }
    unlink(whole);
    unlink(small);
}

static void a_real_file_has_the_same_tables(void **state) {
    (void)state;
    const char *whole = getenv("MPROF_REPLAY"), *limit = getenv("MPROF_LIMIT");
    char small[] = "/tmp/mprof-small-XXXXXX";
    uint64_t bytes = 8 << 20;
    if (whole == NULL)
        return;
    if (limit != NULL)
        assert_true(mprof__read_bytes(limit, &bytes));
    close(mkstemp(small));
    uint64_t emptied = replay(whole, small, bytes);
    print_message("%s: emptied %lu times\n", whole, (unsigned long)emptied);
    compare(whole, small, sizeof tables / sizeof *tables);
    unlink(small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_files_have_the_same_tables),
        cmocka_unit_test(a_real_file_has_the_same_tables),
    };
    return check_result(cmocka_run_group_tests(tests, NULL, NULL));
}
