/* test_merge.c - several profiles as one have the sums of each, by name,
 * however code lies in their processes. */
#include "tests/support/parsed.h"

#include <string.h>

#include "report/base/dictionary.h"
#include "report/data/merge.h"
#include "report/tables/tables.h"

enum { PARTS = 4, FUNCTIONS = 6, ROUNDS = 40, MOST_KEYS = 4096 };

static uint32_t seed;
static uint32_t below(uint32_t n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

/* Numbers at COUNT nodes, and some of the thread LISP. */
static void add_numbers(struct datafile *d, mprof_ref lisp,
                        const mprof_ref *functions, const mprof_ref *nodes,
                        uint32_t count) {
    for (uint32_t i = 0; i < 60; i++) {
        uint64_t objects = 1 + below(9);
        mprof_ref node = nodes[below(count)];
        if (datafile_block(d, node)->thread == lisp)
            datafile_count(d, node, below(MPROF_CLASSES), objects, below(500));
        else
            datafile_objects(d, node, below(2000), objects, below(2) * objects);
    }
    for (uint32_t i = 0; i < 8; i++) {
        bool arc = below(2);
        datafile_total(d, lisp,
                       (struct mprof_total){
                           .function = functions[below(FUNCTIONS)],
                           .caller = arc ? functions[below(FUNCTIONS)] : 0,
                           .kind = arc ? MPROF_ARC : MPROF_SELF,
                           .views = MPROF_SHOWN_FRAMES | MPROF_ALL_FRAMES,
                           .class_ = below(MPROF_CLASSES),
                           .counts = {{1 + below(5), below(1000)}}});
        datafile_bin(d, lisp, MPROF_OTHER, below(2) ? "t" : "u", NULL,
                     (struct mprof_count){below(9), below(999)},
                     (struct mprof_count){below(9), below(999)});
    }
}

/* A process: the same two files, elsewhere, and functions in another order. */
static void make_process(struct datafile *d) {
    static const unsigned char id[] = {1, 2, 3};
    mprof_ref modules[2] = {datafile_module(d, "/a", id, sizeof id),
                            datafile_module(d, "/b", NULL, 0)};
    mprof_ref functions[FUNCTIONS], threads[3], nodes[40];
    uint64_t biases[2];
    uint32_t count = 0, first = below(FUNCTIONS);

    for (int i = 0; i < 2; i++) {
        struct mprof_module *m = datafile_record(d, modules[i]);
        biases[i] = m->bias = (uint64_t)(1 + below(1000)) << 20;
    }
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        uint32_t f = (first + i) % FUNCTIONS;
        char name[8];
        snprintf(name, sizeof name, "f%u", f);
        functions[f] = f == 0 ? datafile_lisp(d, "LISP")
                              : datafile_function(d, MPROF_C, modules[f % 2],
                                                  100 * f, NULL, name);
        if (f % 2 == 1)
            ((struct mprof_function *)datafile_record(d, functions[f]))
                ->copied = 1;
    }
    for (uint32_t t = 0; t < 3; t++) {
        threads[t] = t == 2 ? datafile_thread(d, 7, "lisp")
                            : datafile_c_thread(d, 7 + t, "c");
        mprof_ref of_thread[12];
        uint32_t n = 0;
        of_thread[n++] = datafile_node(d, threads[t], 0, 0);
        while (n < 12) {
            uint32_t f = below(FUNCTIONS);
            mprof_ref call = functions[f];
            if (f > 0 && below(2))
                call = datafile_site(d, call, modules[f % 2],
                                     biases[f % 2] + 100 * f + below(90));
            of_thread[n] =
                datafile_node(d, threads[t], of_thread[below(n)], call);
            nodes[count++] = of_thread[n++];
        }
    }
    add_numbers(d, threads[2], functions, nodes, count);
    datafile_header(d)->unplaced_allocs = below(5);
    datafile_close(d);
}

/* Sums by what they are of. */
struct sums {
    struct report__pool *pool;
    struct report__dictionary keys;
    struct mprof_count list[MOST_KEYS];
    uint32_t count;
};

static void add(struct sums *s, const char *what, const char *a, const char *b,
                uint64_t allocs, uint64_t bytes) {
    const char *key = report__format(s->pool, "%s %s %s", what, a, b);
    uint32_t i = report__intern(s->pool, &s->keys, key, s->count);
    s->count += i == s->count;
    assert_true(s->count < MOST_KEYS);
    s->list[i].allocs += allocs;
    s->list[i].bytes += bytes;
}

static void add_counts(struct sums *s, const char *what, const char *a,
                       const char *b, const struct report__counts *counts) {
    for (int i = 0; i < MPROF_CLASSES; i++)
        add(s, report__format(s->pool, "%s%d", what, i), a, b,
            counts->by_class[i].allocs, counts->by_class[i].bytes);
}

static void add_graph(struct sums *s, const struct report__profile *p,
                      enum mprof_heap heap) {
    const struct report__functions *names =
        report__name_functions(s->pool, p, NULL);
    const struct report__graph *g =
        report__graph_build(s->pool, p, names, heap, MPROF_ALL_THREADS, true);

    for (uint32_t i = 0; i < names->count; i++) {
        const struct report__vertex *v = &g->vertices[i];
        const char *name = names->list[i].name;
        add_counts(s, "self", name, "", &v->self);
        add_counts(s, "freed", name, "", &v->freed);
        add_counts(s, "total", name, "", &v->total);
        add_counts(s, "below", name, "", &v->below);
        add(s, "called", name, "", v->called, v->recur);
        add(s, "peak", name, "", 0, v->at_peak);
    }
    for (uint32_t i = 0; i < g->arc_count; i++)
        add_counts(s, "arc", names->list[g->arcs[i].caller].name,
                   names->list[g->arcs[i].callee].name, &g->arcs[i].counts);
}

static void add_profile(struct sums *s, const struct report__profile *p) {
    const struct report__size_bin *sizes =
        report__sizes_collect(s->pool, p, MPROF_ALL_THREADS);
    struct report__bin *bins;
    struct mprof_count untyped;
    uint32_t n =
        report__bins_collect(s->pool, p, MPROF_ALL_THREADS, &bins, &untyped);

    for (unsigned heap = 0; heap < MPROF_HEAPS; heap++) {
        struct report__totals t = report__total(p, heap);
        add(s, "all", "", "", t.allocated.allocs, t.allocated.bytes);
        add(s, "all freed", "", "", t.freed.allocs, t.freed.bytes);
        add_graph(s, p, heap);
    }
    add(s, "peak", "", "", p->at_peak.allocs, p->at_peak.bytes);
    add(s, "unplaced", "", "", p->unplaced_allocs, p->file_bytes);
    for (uint32_t i = 0; i < MPROF__SIZE_BINS; i++) {
        const char *size = report__format(s->pool, "%u", i);
        add(s, "size", size, "", sizes[i].allocated.allocs,
            sizes[i].allocated.bytes);
        add(s, "size freed", size, "", sizes[i].freed.allocs,
            sizes[i].freed.bytes);
    }
    for (uint32_t i = 0; i < n; i++) {
        add(s, "objects", bins[i].type, "", bins[i].objects.allocs,
            bins[i].objects.bytes);
        add(s, "storage", bins[i].type, "", bins[i].storage.allocs,
            bins[i].storage.bytes);
    }
}

/* Each sum of A is in B. */
static void is_in(struct sums *a, struct sums *b) {
    for (size_t i = 0; i < a->count; i++) {
        if (a->list[i].allocs == 0 && a->list[i].bytes == 0)
            continue;
        assert_true(a->list[i].allocs == b->list[i].allocs);
        assert_true(a->list[i].bytes == b->list[i].bytes);
    }
}

static void one_round(void) {
    struct report__pool pool = {0};
    struct report__part parts[PARTS] = {{.profile = NULL}};
    struct sums *singles = report__alloc(&pool, 1, sizeof *singles);
    struct sums *whole = report__alloc(&pool, 1, sizeof *whole);
    uint32_t count = 1 + below(PARTS);
    const char *error;

    singles->pool = &pool;
    for (uint32_t i = 0; i < count; i++) {
        struct datafile file;
        datafile_start(&file);
        make_process(&file);
        parts[i].profile =
            parse_bytes(&parts[i].pool, "x.data", file.data, file.size, &error);
        if (!parts[i].profile)
            fail_msg("%s", error);
        add_profile(singles, parts[i].profile);
        datafile_free(&file);
    }
    const struct report__profile *p = report__merge(&pool, parts, count);
    assert_non_null(p);
    for (uint32_t i = 0; i < count; i++)
        assert_null(parts[i].pool.chunks);
    /* In the same order, so that sums have the same numbers. */
    *whole = *singles;
    memset(whole->list, 0, sizeof whole->list);
    add_profile(whole, p);
    assert_int_equal(whole->count, singles->count);
    is_in(singles, whole);
    is_in(whole, singles);
    assert_int_equal(p->process_count, count);
    assert_int_equal(p->thread_count, 3 * count);
    assert_int_equal(p->module_count, 2);
    /* The Lisp function is in no file: its places may be others. */
    assert_in_range(p->function_count, FUNCTIONS, FUNCTIONS - 1 + count);
    report__pool_free(&pool);
}

static void sums_are_those_of_the_parts(void **state) {
    (void)state;
    seed = 42;
    for (int i = 0; i < ROUNDS; i++)
        one_round();
}

/* A call is where it was in its file, wherever that was loaded. */
static void calls_stay_where_they_are(void **state) {
    struct report__pool pool = {0};
    struct report__part parts[2] = {{.profile = NULL}};
    const char *error;

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct datafile d;
        datafile_start(&d);
        mprof_ref module = datafile_module(&d, "/a", NULL, 0);
        ((struct mprof_module *)datafile_record(&d, module))->bias =
            4096 * (i + 1);
        mprof_ref f = datafile_function(&d, MPROF_C, module, 16, NULL, "f");
        mprof_ref thread = datafile_c_thread(&d, i, NULL);
        mprof_ref root = datafile_node(&d, thread, 0, 0);
        mprof_ref site = datafile_site(&d, f, module, 4096 * (i + 1) + 20 + i);
        datafile_objects(&d, datafile_node(&d, thread, root, site), 8, 1, 0);
        datafile_header(&d)->start_time = 1000 - 100 * i;
        datafile_header(&d)->duration = 50;
        datafile_close(&d);
        parts[i].profile =
            parse_bytes(&parts[i].pool, "x.data", d.data, d.size, &error);
        assert_non_null(parts[i].profile);
        datafile_free(&d);
    }
    const struct report__profile *p = report__merge(&pool, parts, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct report__node *node = &p->nodes[2 * i + 1];
        const struct report__site *site = &p->sites[node->site];
        assert_int_equal(site->return_address - p->modules[0].bias, 20 + i);
        assert_int_equal(site->function, node->function);
    }
    assert_int_equal(p->start_time, 900);
    assert_int_equal(p->duration, 150);
    report__pool_free(&pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_parts),
        cmocka_unit_test(calls_stay_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
