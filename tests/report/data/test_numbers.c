/* test_numbers.c - counters of all kinds are read, and their numbers must fit.
 */
#include "tests/support/fits.h"

/* In older files they are as those of C began. */
static void older_counters_are_read(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    datafile_header(d)->version = MPROF_UNTYPED_VERSION;
    struct world w = make_world(d);
    const struct mprof_count much = {(uint64_t)3 << 33, (uint64_t)5 << 40},
                             few = {3, 70}, none = {0, 0};
    mprof_ref g = datafile_lisp(d, "G");
    mprof_ref bin = datafile_bin(d, w.lisp, MPROF_OTHER, "x", NULL, none, few);
    mprof_ref spill = datafile_spill_node(d, w.lisp, 0, 0);
    mprof_ref at = datafile_counter(d, w.lisp_node, 0, MPROF_FLOAT, much, none);
    datafile_spill_counter(d, datafile_spill_node(d, w.lisp, spill, g), 0,
                           MPROF_OTHER, few);
    struct mprof_counter *counter = datafile_record(d, at);
    const struct report__profile *p;

    for (unsigned i = 0; i < 2; i++) {
        datafile_close(d);
        assert_non_null(p = parse(f));
        assert_int_equal(p->counters[0].class_, MPROF_FLOAT);
        assert_int_equal(p->counters[0].bin, MPROF_NONE);
        assert_int_equal(p->counters[0].allocated.allocs, much.allocs);
        assert_int_equal(p->counters[0].allocated.bytes, much.bytes);
        assert_true(p->counters[2].is_spill);
        assert_int_equal(p->counters[2].allocated.bytes, few.bytes);
        datafile_header(d)->version = MPROF_BROAD_VERSION;
    }
    counter->key = bin;
    datafile_close(d);
    assert_non_null(p = parse(f));
    assert_int_equal(p->counters[0].bin, 0);
    datafile_header(d)->version = MPROF_UNTYPED_VERSION;
    refuses_closed_at(f, at, AT(counter, key), "no such class");
}

/* Those that know what lives are not as large as they were. */
static void counters_that_know_what_lives_are_read(void **state) {
    struct fixture *f = *state;
    const struct mprof_count much = {(uint64_t)3 << 33, (uint64_t)5 << 40},
                             few = {3, 70}, less = {2, 50};
    const struct mprof_count *allocated[] = {&few, &much};
    for (uint32_t version = MPROF_UNTYPED_VERSION; version <= MPROF_VERSION;
         version++)
        for (unsigned i = 0; i < 4; i++) {
            struct datafile *d = &f->file;
            datafile_free(d);
            datafile_start(d);
            datafile_header(d)->version = version;
            struct world w = make_world(d);
            mprof_ref thread = i / 2 ? w.lisp : w.c;
            if (i / 2) {
                ((struct mprof_thread *)datafile_record(d, thread))->flags |=
                    MPROF_THREAD_LIVES;
                datafile_header(d)->alive = MPROF_ALIVE_KNOWN;
            }
            datafile_counter(d, i / 2 ? w.lisp_node : w.c_node,
                             i / 2 ? 0 : w.site, MPROF_LARGE, *allocated[i % 2],
                             less);
            datafile_close(d);
            const struct report__profile *p = parse(f);
            assert_non_null(p);
            assert_int_equal(p->counter_count, 2);
            const struct report__counter *c = &p->counters[0];
            c += c->class_ != MPROF_LARGE;
            assert_int_equal(c->allocated.allocs, allocated[i % 2]->allocs);
            assert_int_equal(c->allocated.bytes, allocated[i % 2]->bytes);
            assert_int_equal(c->lived->freed.allocs, less.allocs);
            assert_int_equal(c->lived->freed.bytes, less.bytes);
            c = c == p->counters ? c + 1 : p->counters;
            assert_int_equal(c->allocated.bytes, 20);
            assert_int_equal(c->lived->freed.bytes, 10);
        }
}

/* What has no room in a counter of Lisp is in a record of its own. */
static void wide_numbers_fit_their_counters(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    struct world w = make_world(d);
    const struct mprof_count much = {7, (uint64_t)5 << 40}, few = {3, 70},
                             none = {0, 0};
    mprof_ref at = datafile_counter(d, w.lisp_node, 0, 0, much, none);
    mprof_ref other = datafile_counter(d, w.lisp_node, 0, 1, few, none);
    struct mprof_lisp_counter *counter = datafile_record(d, at);
    const size_t field = AT(lisp_counter, sum);
    const struct report__profile *p;

    datafile_close(d);
    assert_non_null(p = parse(f));
    assert_int_equal(p->counters[0].allocated.allocs, 7);
    assert_int_equal(p->counters[0].allocated.bytes, much.bytes);
    assert_int_equal(p->counters[1].allocated.bytes, 70);
    uint64_t wide = counter->sum;
    struct mprof_lisp_counter *second = datafile_record(d, other);
    second->sum = wide;
    refuses_closed_at(f, other, field, "numbers of another counter");
    second->sum = MPROF_IS_WIDE | w.size;
    refuses_closed_at(f, other, field,
                      "a ref leads to a size, not to wide numbers");
    second->sum = MPROF_IS_WIDE | MPROF_NOT_NARROW;
    refuses_closed_at(f, other, field, "a ref leads to no record");
    second->sum = (uint64_t)1 << 31;
    refuses_closed_at(f, other, field, "neither numbers nor a ref");
    second->sum = wide | (uint64_t)1 << 40;
    refuses_closed_at(f, other, field, "neither numbers nor a ref");
    /* A program may have gone on while its file was read. */
    second->sum = 0;
    datafile_header(d)->state = MPROF_OPEN;
    datafile_header(d)->used = (uint64_t)mprof_wide_ref(wide) * 8;
    assert_non_null(p = parse(f));
    assert_int_equal(p->counters[0].allocated.bytes, much.bytes);
    counter->sum += 1 << 20;
    assert_non_null(p = parse(f));
    assert_int_equal(p->counters[0].allocated.bytes, 0);
}

/* The same of C. */
static void wide_numbers_of_c_fit_their_counters(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    struct world w = make_world(d);
    const struct mprof_count much = {7, (uint64_t)5 << 40}, none = {0, 0};
    mprof_ref at =
        datafile_counter(d, w.c_node, w.site, MPROF_LARGE, much, none);
    struct mprof_c_counter *counter = datafile_record(d, at);
    struct mprof_c_counter *other = datafile_record(d, w.counter);
    const struct mprof_c_counter good = *other;
    const size_t field = AT(c_counter, allocated);
    const struct report__profile *p;

    datafile_close(d);
    assert_non_null(parse(f));
    other->allocated = counter->allocated;
    refuses_closed_at(f, w.counter, field, "numbers of another counter");
    other->allocated = MPROF_IS_WIDE | w.size;
    refuses_closed_at(f, w.counter, field,
                      "a ref leads to a size, not to wide numbers of C");
    other->allocated = MPROF_NOT_NARROW;
    refuses_closed_at(f, w.counter, field, "a ref leads to no record");
    other->allocated = (uint64_t)1 << 31;
    refuses_closed_at(f, w.counter, field, "neither numbers nor a ref");
    *other = good;
    datafile_close(d);
    assert_non_null(parse(f));
    /* A program that runs may have made them a moment ago. */
    datafile_header(d)->state = MPROF_OPEN;
    datafile_header(d)->used = (uint64_t)mprof_wide_ref(counter->allocated) * 8;
    assert_non_null(p = parse(f));
    assert_int_equal(p->counters[1].allocated.bytes, much.bytes);
}

/* The same of what a function allocated itself. */
static void totals_have_types(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    struct world w = make_world(d);
    const struct mprof_count none = {0, 0};
    mprof_ref bin = datafile_bin(d, w.lisp, MPROF_FLOAT, "x", NULL, none, none);
    struct mprof_total total = {.caller = bin | MPROF_STORAGE,
                                .function = datafile_lisp(d, "G"),
                                .kind = MPROF_SELF,
                                .views = MPROF_ALL_FRAMES,
                                .class_ = MPROF_FLOAT,
                                .counts = {{5, 50}, {7, 70}}};
    mprof_ref at = datafile_total(d, w.lisp, total);
    const struct report__profile *p;

    datafile_close(d);
    assert_non_null(p = parse(f));
    assert_int_equal(p->total_count, 1);
    assert_int_equal(p->totals[0].class_, MPROF_FLOAT);
    assert_int_equal(p->totals[0].bin, 0);
    assert_true(p->totals[0].is_storage);
    ((struct mprof_total *)datafile_record(d, at))->caller = w.site;
    refuses_closed_at(f, at, AT(total, caller),
                      "a ref leads to a site, not to a bin");
    ((struct mprof_total *)datafile_record(d, at))->caller = 0;
    datafile_close(d);
    assert_non_null(p = parse(f));
    assert_int_equal(p->totals[0].bin, MPROF_NONE);
}

static void counters_fit_their_nodes(void **state) {
    struct fixture *f = *state;
    struct world w = make_world(&f->file);
    mprof_ref g = datafile_lisp(&f->file, "G");
    mprof_ref other = datafile_site(&f->file, g, 0, 9);
    struct mprof_c_counter *counter = datafile_record(&f->file, w.counter);
    const struct mprof_c_counter good = *counter;

    datafile_header(&f->file)->state = MPROF_CLOSED;
    counter->site = other;
    refuses_closed_at(f, w.counter, AT(c_counter, site),
                      "a call site of another function");
    *counter = good;
    counter->thread = w.lisp;
    refuses_closed_at(f, w.counter, AT(c_counter, thread),
                      "a counter of another thread's node");
    *counter = good;
    counter->counter.key = MPROF_CLASSES;
    refuses_closed_at(f, w.counter, AT(counter, key), "no such class");
    *counter = good;
    counter->site = w.size;
    refuses_closed_at(f, w.counter, AT(c_counter, site),
                      "a ref leads to a size, not to a site");
    *counter = good;
    counter->counter.next = w.counter;
    refuses_closed_at(f, w.counter, AT(counter, next),
                      "a counter belongs to two nodes");
    *counter = good;
    counter->thread = 0;
    refuses_closed_at(f, w.counter, AT(c_counter, thread), "a ref is missing");
    *counter = good;
    struct mprof_node *node = datafile_record(&f->file, w.lisp_node);
    node->counter = w.counter;
    refuses_closed_at(f, w.lisp_node, AT(node, counter),
                      "a counter of another thread's node");
    node->counter = w.edge;
    refuses_closed_at(f, w.lisp_node, AT(node, counter),
                      "a ref leads to no record");
    node->counter = w.size;
    refuses_closed_at(f, w.lisp_node, AT(node, counter),
                      "a ref leads to a size, not to counters");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(older_counters_are_read),
        TEST(wide_numbers_fit_their_counters),
        TEST(wide_numbers_of_c_fit_their_counters),
        TEST(counters_that_know_what_lives_are_read),
        TEST(totals_have_types),
        TEST(counters_fit_their_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
