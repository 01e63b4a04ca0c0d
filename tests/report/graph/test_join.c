/* test_join.c - two profiles as one, and names that differ from run to run. */
#include "tests/support/parsed.h"

#include <string.h>

#include "report/graph/graph.h"
#include "report/graph/join.h"
#include "report/graph/same_name.h"
#include "tests/support/small.h"

static void numbers_that_nobody_gave_go(void **state) {
    static const char *const names[][2] = {
        {"FOO", "FOO"},
        {"FOO2", "FOO2"},
        {"G", "G"},
        {"P::G12", "P::G"},
        {"G12", "G"},
        {"MAXIMA::|$g12|", "MAXIMA::|$g12|"},
        {"#:G3001", "#:G"},
        {"#:LOOP-BODY7", "#:LOOP-BODY"},
        {"#:77", "#:77"},
        {"P::G12A", "P::G12A"},
        {"P::TAG12", "P::TAG12"},
        {"(LAMBDA #2)", "(LAMBDA)"},
        {"(LAMBDA #12 :IN P::F)", "(LAMBDA :IN P::F)"},
        {"(LAMBDA :IN #:G5)", "(LAMBDA :IN #:G)"},
        {"(FLET P::G9 :IN (SETF P::X1))", "(FLET P::G :IN (SETF P::X1))"},
        {"(LAMBDA #x1)", "(LAMBDA #x1)"},
        {"", ""},
        {"1", "1"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(report__same_name(&f->pool, names[i][0]),
                            names[i][1]);
}

static void files_have_neither_folders_nor_versions(void **state) {
    static const char *const files[][2] = {
        {"/usr/lib/libx.so.1.2.3", "libx.so"},
        {"libx.so", "libx.so"},
        {"/a/ecl003Ab12yZ.fas", "ecl.fas"},
        {"/a/eclipse.fas", "eclipse.fas"},
        {"/a/b", "b"},
        {"", ""},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_string_equal(report__same_file(&f->pool, files[i][0]),
                            files[i][1]);
}

/* OLD and NEW, and both. */
struct pair {
    struct report__profile *sides[MPROF_SIDES];
    struct report__functions *names[MPROF_SIDES];
    struct report__joined joined;
};

static void join(struct fixture *f, struct pair *p) {
    for (int side = 0; side < MPROF_SIDES; side++)
        p->names[side] = report__name_functions(&f->pool, p->sides[side], NULL);
    assert_true(report__join(&f->pool,
                             (const struct report__profile *const *)p->sides,
                             p->names, &p->joined, &f->error));
}

/* The joined one of function RECORD of SIDE. */
static uint32_t joined_of(const struct pair *p, enum report__joined_side side,
                          uint32_t record) {
    return p->joined.names
        ->shown[side == MPROF_OLD
                    ? record
                    : record + p->sides[MPROF_OLD]->function_count];
}

/* The functions f, g, h of C, nameless code and two lambdas, at other places
 * each time, and in this order or backwards. */
static struct report__profile *one_of(struct fixture *f, const char *folder,
                                      const char *id, int first, int step) {
    struct datafile *d = &f->file;
    struct {
        const char *name, *symbol;
        enum mprof_function_kind kind;
    } list[] = {{NULL, "f", MPROF_C},           {NULL, "g", MPROF_C},
                {NULL, "h.cold", MPROF_C},      {NULL, NULL, MPROF_C},
                {"(LAMBDA)", NULL, MPROF_LISP}, {"(LAMBDA)", NULL, MPROF_LISP}};
    char path[64];

    datafile_free(d);
    datafile_start(d);
    snprintf(path, sizeof path, "%s/x.so.1", folder);
    mprof_ref module = datafile_module(d, path, id, 2);
    for (int i = first; i >= 0 && i < 6; i += step)
        datafile_function(d, list[i].kind, module, 64 + 16 * (uint64_t)i,
                          list[i].name, list[i].symbol);
    struct report__profile *p = parse(f);
    assert_non_null(p);
    assert_int_equal(p->function_count, 6);
    return p;
}

static void functions_have_one_number_in_both(void **state) {
    struct fixture *f = *state;
    for (int same = 0; same < 2; same++) {
        struct pair p;
        p.sides[MPROF_OLD] = one_of(f, "/old", "aa", 0, 1);
        p.sides[MPROF_NEW] = one_of(f, "/new", same ? "aa" : "bb", 5, -1);
        join(f, &p);
        for (uint32_t i = 0; i < 6; i++)
            assert_int_equal(joined_of(&p, MPROF_OLD, i),
                             joined_of(&p, MPROF_NEW, 5 - i));
        assert_int_equal(joined_of(&p, MPROF_OLD, 4),
                         joined_of(&p, MPROF_OLD, 5));
        /* top level, f, g, h, the nameless one, the lambdas */
        assert_int_equal(p.joined.names->count, 6);
        assert_string_equal(
            p.joined.names->list[joined_of(&p, MPROF_OLD, 3)].name,
            same ? "x.so.1+0x70" : "x.so.1+?");
        assert_string_equal(
            p.joined.names->list[joined_of(&p, MPROF_OLD, 4)].name,
            "(LAMBDA :IN x.so.1)");
    }
}

/* Another file's function of that name is another one. */
static void files_tell_functions_apart(void **state) {
    struct fixture *f = *state;
    struct pair p;
    for (int side = 0; side < MPROF_SIDES; side++) {
        datafile_free(&f->file);
        datafile_start(&f->file);
        datafile_function(
            &f->file, MPROF_C,
            datafile_module(&f->file, side ? "/a/y.so" : "/a/x.so", NULL, 0),
            16, NULL, "f");
        p.sides[side] = parse(f);
    }
    join(f, &p);
    assert_int_not_equal(joined_of(&p, MPROF_OLD, 0),
                         joined_of(&p, MPROF_NEW, 0));
}

/* The graph of SIDE of P in HEAP is that of the profile alone. */
static void check_graph(struct fixture *f, const struct pair *p,
                        enum report__joined_side side, enum mprof_heap heap) {
    const struct report__graph *own =
        report__graph_build(&f->pool, p->sides[side], p->names[side], heap,
                            MPROF_ALL_THREADS, true);
    const struct report__graph *joined = report__graph_build(
        &f->pool,
        report__one_side(&f->pool, &p->joined, p->joined.profile, side),
        p->joined.names, heap, MPROF_ALL_THREADS, true);

    assert_true(report__bytes(&own->total) > 0);
    assert_memory_equal(&own->total, &joined->total, sizeof own->total);
    assert_memory_equal(&own->freed, &joined->freed, sizeof own->freed);
    for (uint32_t i = 0; i < p->sides[side]->function_count; i++) {
        const struct report__vertex *v =
            &own->vertices[p->names[side]->shown[i]];
        const struct report__vertex *w =
            &joined->vertices[joined_of(p, side, i)];
        assert_memory_equal(&v->self, &w->self, sizeof v->self);
        assert_memory_equal(&v->total, &w->total, sizeof v->total);
        assert_memory_equal(&v->freed, &w->freed, sizeof v->freed);
        assert_int_equal(v->depth, w->depth);
    }
}

/* The nodes of SIDE, from number FIRST on, call where they called. */
static void check_sites(const struct pair *p, enum report__joined_side side,
                        uint32_t first) {
    const struct report__profile *own = p->sides[side];
    const struct report__profile *joined = p->joined.profile;
    uint32_t count = 0;
    for (uint32_t i = 0; i < own->node_count; i++) {
        const struct report__node *node = &joined->nodes[first + i];
        if (own->nodes[i].site == MPROF_NONE) {
            assert_int_equal(node->site, MPROF_NONE);
            continue;
        }
        const struct report__site *site = &joined->sites[node->site];
        assert_int_equal(site->function, node->function);
        assert_int_equal(site->return_address,
                         own->sites[own->nodes[i].site].return_address);
        if (site->module != MPROF_NONE)
            assert_int_equal(joined->functions[site->function].module,
                             site->module);
        count++;
    }
    assert_true(count > 0);
}

static void sides_have_what_they_had(void **state) {
    struct fixture *f = *state;
    struct pair p;
    for (int side = 0; side < MPROF_SIDES; side++) {
        datafile_free(&f->file);
        small_file(&f->file);
        if (side == MPROF_NEW) {
            mprof_ref thread = datafile_thread(&f->file, 9, "new");
            mprof_ref node = datafile_node(
                &f->file, thread, datafile_node(&f->file, thread, 0, 0),
                datafile_lisp(&f->file, "NEW"));
            datafile_count(&f->file, node, MPROF_CONS, 7, 112);
        }
        p.sides[side] = parse(f);
        assert_non_null(p.sides[side]);
    }
    join(f, &p);
    for (int side = 0; side < MPROF_SIDES; side++) {
        check_graph(f, &p, side, MPROF_LISP_HEAP);
        check_graph(f, &p, side, MPROF_C_HEAP);
    }
    check_sites(&p, MPROF_OLD, 0);
    check_sites(&p, MPROF_NEW, p.sides[MPROF_OLD]->node_count);
    assert_int_equal(p.joined.names->count, p.names[MPROF_NEW]->count);
}

/* What has no functions and threads at all */
static void nothing_can_be_joined(void **state) {
    struct fixture *f = *state;
    struct pair p = {.sides = {parse(f), parse(f)}};
    join(f, &p);
    assert_int_equal(p.joined.names->count, 1);
    assert_int_equal(p.joined.profile->thread_count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(numbers_that_nobody_gave_go),
        TEST(files_have_neither_folders_nor_versions),
        TEST(functions_have_one_number_in_both),
        TEST(files_tell_functions_apart),
        TEST(sides_have_what_they_had),
        TEST(nothing_can_be_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
