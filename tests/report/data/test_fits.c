/* test_fits.c - what a data file says in one place must fit what it says in
 * another: spills, totals, counters, nodes, calls, heaps. */
#include "tests/support/fits.h"

/* The world, with the spill of its C thread: a root and a node of function G,
 * where something was allocated. */
struct spilled {
    struct world world;
    mprof_ref g, root, node, counter;
};

static struct spilled make_spill(struct datafile *d) {
    struct spilled s = {.world = make_world(d)};
    s.g = datafile_lisp(d, "G");
    s.root = datafile_spill_node(d, s.world.c, 0, 0);
    s.node = datafile_spill_node(d, s.world.c, s.root, s.g);
    s.counter = datafile_spill_counter(d, s.node, s.world.counter, MPROF_SMALL,
                                       (struct mprof_count){3, 30});
    return s;
}

/* A spill counts, and which counts of totals do, as THREAD says. */
static void spills_count_until_they_are_emptied(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    struct spilled s = make_spill(d);
    struct world w = s.world;
    struct mprof_total total = {.function = s.g,
                                .kind = MPROF_SELF,
                                .views = MPROF_ALL_FRAMES,
                                .counts = {{5, 50}, {7, 70}}};
    datafile_total(d, w.c, total);
    total.kind = MPROF_SHORT;
    total.function = w.counter;
    datafile_total(d, w.c, total);
    for (unsigned emptied = 0; emptied < 2; emptied++)
        for (unsigned spilled = 0; spilled < 2; spilled++) {
            struct mprof_thread *thread = datafile_record(d, w.c);
            thread->emptied = emptied;
            thread->spilled = spilled;
            datafile_close(d);
            const struct report__profile *p = parse(f);
            assert_non_null(p);
            uint64_t here = emptied == spilled ? 3 : 0;
            uint64_t summed = emptied == 0 ? 5 : 7;
            assert_int_equal(p->counter_count, emptied == spilled ? 2 : 1);
            assert_int_equal(p->counters[0].lived->elsewhere.allocs,
                             here + summed);
            assert_int_equal(p->total_count, 1);
            assert_int_equal(p->totals[0].count.bytes, 10 * summed);
        }
}

/* Whichever ref or number is wrong. */
static void spills_and_totals_fit(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    struct spilled s = make_spill(d);
    struct world w = s.world;
    mprof_ref sum = datafile_total(
        d, w.c,
        (struct mprof_total){.function = s.g, .kind = MPROF_SELF, .views = 1});
    struct mprof_spill_counter *c = datafile_record(d, s.counter);
    struct mprof_total *t = datafile_record(d, sum);
    struct mprof_node *n = datafile_record(d, s.node);
    c->counter.key = MPROF_CLASSES;
    refuses_closed_at(f, s.counter, AT(counter, key), "no such class");
    c->counter.key = 0;
    c->counter.next = s.counter;
    refuses_closed_at(f, s.counter, AT(counter, next),
                      "a counter belongs to two nodes");
    c->counter.next = 0;
    c->short_ = s.counter;
    refuses_closed_at(f, s.counter, AT(spill_counter, short_),
                      "a ref leads to no record");
    c->short_ = w.counter;
    n->parent = w.c_node;
    refuses_closed_at(f, s.node, AT(node, parent), "a ref leads to no record");
    n->parent = s.node;
    refuses_closed_at(f, s.node, AT(node, parent), "a ref leads forwards");
    n->parent = s.root;
    t->kind = MPROF_TOTAL_KINDS;
    refuses_closed_at(f, sum, AT(total, kind), "no such total");
    t->kind = MPROF_SHORT;
    refuses_closed_at(f, sum, AT(total, function),
                      "a ref leads to a function, "
                      "not to counters");
    t->kind = MPROF_ARC;
    t->caller = w.site;
    refuses_closed_at(f, sum, AT(total, caller),
                      "a ref leads to a site, not to a function");
    t->caller = MPROF_TOP;
    t->views = 4;
    refuses_closed_at(f, sum, AT(total, kind), "no such total");
    t->views = 3;
    datafile_close(d);
    assert_non_null(parse(f));
}

/* What a counter of Lisp counts is a bin of its thread, or a class. */
static void types_fit_their_threads(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    struct world w = make_world(d);
    const struct mprof_count one = {1, 24}, none = {0, 0};
    mprof_ref bin = datafile_bin(d, w.lisp, MPROF_OTHER, "x", NULL, none, one);
    mprof_ref lisp = datafile_thread(d, 2, NULL);
    mprof_ref other = datafile_bin(d, lisp, MPROF_CONS, "x", NULL, none, none);
    mprof_ref at = datafile_count(d, w.lisp_node, bin | MPROF_STORAGE, 1, 24);
    struct mprof_counter *counter = datafile_record(d, at);
    const struct report__profile *p;

    datafile_close(d);
    assert_non_null(p = parse(f));
    assert_int_equal(p->counters[0].class_, MPROF_OTHER);
    assert_int_equal(p->counters[0].bin, 0);
    assert_true(p->counters[0].is_storage);
    counter->key = bin;
    datafile_close(d);
    assert_non_null(p = parse(f));
    assert_false(p->counters[0].is_storage);
    counter->key = other;
    refuses_closed_at(f, at, AT(counter, key), "a type of another thread's");
    counter->key = w.site;
    refuses_closed_at(f, at, AT(counter, key),
                      "a ref leads to a site, not to a bin");
    counter->key = MPROF_CLASSES;
    refuses_closed_at(f, at, AT(counter, key), "a ref leads to no record");
    counter->key = MPROF_STORAGE;
    refuses_closed_at(f, at, AT(counter, key), "a ref is missing");
    datafile_header(d)->version = MPROF_UNTYPED_VERSION - 1;
    refuses(f, "x.data: has data format version 6, this mprof reads versions 7 "
               "to 12; that which recorded it can read it");
}

static void nodes_and_calls_fit(void **state) {
    struct fixture *f = *state;
    struct world w = make_world(&f->file);
    struct mprof_edge *edge = datafile_record(&f->file, w.edge);
    struct mprof_node *node = datafile_record(&f->file, w.c_node);
    mprof_ref parent = node->parent, call = node->call;

    edge->node = w.lisp_node;
    refuses_closed_at(f, w.edge, AT(edge, node),
                      "a call site of another thread's node");
    edge->node = w.c_node + 1;
    refuses_closed_at(f, w.edge, AT(edge, node), "a ref leads to no record");
    edge->node = w.c_node;
    node->parent = w.lisp_node;
    refuses_closed_at(f, w.c_node, AT(node, parent),
                      "a node is in another thread than its parent");
    node->parent = 0;
    refuses_closed_at(f, w.c_node, AT(node, call),
                      "the root of a thread has a function");
    node->parent = parent;
    node->call = 0;
    refuses_closed_at(f, w.c_node, AT(node, call), "a ref is missing");
    node->call = w.size;
    refuses_closed_at(f, w.c_node, AT(node, call),
                      "a ref leads to a size, not to a site");
    node->call = call;
    datafile_close(&f->file);
    assert_non_null(parse(f));
}

/* What was made while the file was read is not in it, though its number may
 * be: none of it is damage then. */
static void an_open_file_may_lead_beyond_its_end(void **state) {
    struct fixture *f = *state;
    struct world w = make_world(&f->file);
    uint64_t used = datafile_header(&f->file)->used;
    mprof_ref g = datafile_lisp(&f->file, "G");
    mprof_ref later = datafile_site(&f->file, g, 0, 9);
    struct mprof_c_counter *counter = datafile_record(&f->file, w.counter);
    struct mprof_node *node = datafile_record(&f->file, w.c_node);

    datafile_header(&f->file)->used = used;
    counter->counter.next = later;
    struct report__profile *p = parse(f);
    assert_non_null(p);
    assert_int_equal(p->counter_count, 1);
    assert_int_equal(of_node(p, 3, MPROF_SMALL, false).bytes, 20);
    /* A node that is not known yet is its caller. */
    node->call = later;
    p = parse(f);
    assert_non_null(p);
    assert_int_equal(p->nodes[3].function, p->nodes[2].function);
    datafile_block(&f->file, w.counter)->count = 0;
    p = parse(f);
    assert_non_null(p);
    assert_int_equal(p->counter_count, 0);
    f->file.size = used;
    datafile_close(&f->file);
    refuses_at(f, w.c_node, AT(node, call), "a ref leads to no record");
}

/* What was freed is told of a counter that a node has. */
static void frees_are_of_a_node(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    struct world w = make_world(d);
    const struct mprof_count one = {1, 10};
    mprof_ref other = datafile_c_thread(d, 2, NULL);
    mprof_ref freed = datafile_freed(d, other, w.counter, one);

    datafile_close(d);
    assert_non_null(parse(f));
    ((struct mprof_node *)datafile_record(d, w.c_node))->counter = 0;
    refuses_closed_at(f, freed, AT(freed, counter), "a counter of no node");
    datafile_header(d)->state = MPROF_OPEN;
    assert_non_null(parse(f));
}

/* Counters of a type that is not there yet may not lead round in a ring. */
static void no_counter_leads_to_itself(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    struct world w = make_world(d);
    uint64_t used = datafile_header(d)->used;
    mprof_ref at =
        datafile_count(d, w.lisp_node, (mprof_ref)(used / 8) + 99, 1, 24);
    struct mprof_counter *counter = datafile_record(d, at);

    assert_non_null(parse(f));
    counter->next = at;
    refuses_at(f, at, AT(counter, next), "a counter belongs to two nodes");
}

static void records_are_of_the_right_heap(void **state) {
    struct fixture *f = *state;
    struct world w = make_world(&f->file);
    struct mprof_size *size = datafile_record(&f->file, w.size);

    size->thread = w.lisp;
    refuses_at(f, w.size, AT(size, thread), "a thread of the wrong heap");
    size->thread = w.c;
    const struct mprof_count none = {0, 0};
    mprof_ref bin =
        datafile_bin(&f->file, w.c, MPROF_CONS, "cons", NULL, none, none);
    refuses_at(f, bin, AT(bin, thread), "a thread of the wrong heap");
    struct mprof_thread *thread = datafile_record(&f->file, w.lisp);
    thread->heap = 2;
    refuses_at(f, w.lisp, AT(thread, heap),
               "a thread of a heap that is not recorded");
    thread->heap = MPROF_LISP_HEAP;
    datafile_header(&f->file)->heaps = 1u << MPROF_C_HEAP;
    refuses_at(f, w.lisp, AT(thread, heap),
               "a thread of a heap that is not recorded");
    datafile_header(&f->file)->heaps = 7;
    refuses_at(f, 0, AT(header, heaps), "no such heap");
}

/* Another thread's free may be counted before what it frees. */
static void an_open_file_may_be_ahead_with_frees(void **state) {
    struct fixture *f = *state;
    struct world w = make_world(&f->file);
    mprof_ref other = datafile_c_thread(&f->file, 2, NULL);
    const struct mprof_count more = {2, 15};
    datafile_freed(&f->file, other, w.counter, more);
    struct report__profile *p = parse(f);
    assert_non_null(p);
    assert_int_equal(of_node(p, 3, MPROF_SMALL, true).allocs, 2);
    assert_int_equal(of_node(p, 3, MPROF_SMALL, true).bytes, 20);
    datafile_close(&f->file);
    refuses_at(f, w.counter, 0, "more is freed than was allocated");
}

static void a_closed_file_is_not_ahead_with_sizes(void **state) {
    struct fixture *f = *state;
    struct world w = make_world(&f->file);
    const struct mprof_count none = {0, 0}, more = {2, 10};
    datafile_size(&f->file, w.c, 10, none, more);
    assert_non_null(parse(f));
    datafile_close(&f->file);
    refuses_at(f, w.size, 0, "more is freed than was allocated");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(spills_count_until_they_are_emptied),
        TEST(spills_and_totals_fit),
        TEST(types_fit_their_threads),
        TEST(nodes_and_calls_fit),
        TEST(an_open_file_may_lead_beyond_its_end),
        TEST(frees_are_of_a_node),
        TEST(no_counter_leads_to_itself),
        TEST(records_are_of_the_right_heap),
        TEST(an_open_file_may_be_ahead_with_frees),
        TEST(a_closed_file_is_not_ahead_with_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
