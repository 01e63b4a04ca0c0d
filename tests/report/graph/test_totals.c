/* test_totals.c - what was summed up while the program ran, in the graph. */
#include "tests/support/parsed.h"

#include "report/graph/graph.h"

static const unsigned both = MPROF_SHOWN_FRAMES | MPROF_ALL_FRAMES;

/* The function of the only name. */
static const struct report__vertex *vertex_of(struct fixture *f,
                                              bool all_frames) {
    struct report__profile *p = parse(f);
    assert_non_null(p);
    struct report__functions *names = report__name_functions(&f->pool, p, NULL);
    struct report__graph *g = report__graph_build(
        &f->pool, p, names, MPROF_LISP_HEAP, MPROF_ALL_THREADS, all_frames);
    assert_int_equal(report__bytes(&g->total), 40);
    return &g->vertices[names->shown[0]];
}

static void totals_are_of_a_view(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref thread = datafile_thread(d, 1, NULL);
    mprof_ref function = datafile_lisp(d, "F");
    datafile_node(d, thread, 0, 0);
    datafile_total(d, thread,
                   (struct mprof_total){.function = function,
                                        .kind = MPROF_BELOW,
                                        .views = both,
                                        .class_ = 1,
                                        .depth = {3, 5},
                                        .counts = {{4, 100}}});
    datafile_total(d, thread,
                   (struct mprof_total){.function = function,
                                        .kind = MPROF_SELF,
                                        .views = both,
                                        .class_ = 1,
                                        .counts = {{1, 40}}});
    for (int all_frames = 0; all_frames < 2; all_frames++) {
        const struct report__vertex *v = vertex_of(f, all_frames);
        assert_int_equal(report__bytes(&v->total), 100);
        assert_int_equal(report__bytes(&v->self), 40);
        assert_int_equal(report__bytes(&v->below), 60);
        assert_int_equal(report__allocs(&v->below), 3);
        assert_int_equal(v->depth, all_frames ? 5 : 3);
    }
}

/* Of the two counts of a total one is true. */
static void the_count_is_that_of_the_turn(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref thread = datafile_thread(d, 1, NULL);
    datafile_node(d, thread, 0, 0);
    datafile_total(d, thread,
                   (struct mprof_total){.function = datafile_lisp(d, "F"),
                                        .kind = MPROF_SELF,
                                        .views = both,
                                        .counts = {{1, 10}, {2, 40}}});
    struct mprof_thread *record = datafile_record(d, thread);
    record->emptied = record->spilled = 7;
    assert_int_equal(report__bytes(&vertex_of(f, false)->self), 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(totals_are_of_a_view),
        TEST(the_count_is_that_of_the_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
