/* test_naive.c - the call graph of random trees against a naive one, which
 * writes down every allocation's chain. */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/datafile.h"
#include "tests/support/parse.h"
#include "report/graph/graph.h"

struct fixture {
    struct report__pool pool;
    struct report__profile *profile;
    struct report__functions *names;
    struct report__graph *graph;
};

#define MAX_FUNCTIONS 12
#define MAX_CHAIN 200

struct naive {
    uint64_t self[MAX_FUNCTIONS], freed[MAX_FUNCTIONS];
    uint64_t total[MAX_FUNCTIONS], below[MAX_FUNCTIONS];
    uint64_t called[MAX_FUNCTIONS], recur[MAX_FUNCTIONS];
    uint64_t arc[MAX_FUNCTIONS][MAX_FUNCTIONS];
    uint64_t alive[MAX_FUNCTIONS][MAX_FUNCTIONS]; /* of these */
    bool reach[MAX_FUNCTIONS][MAX_FUNCTIONS];
    uint64_t cycle_total[MAX_FUNCTIONS], cycle_called[MAX_FUNCTIONS];
};

/* The shown functions of the chain of NODE, outermost first. */
static int naive_chain(const struct fixture *f, uint32_t node, bool all_frames,
                       uint32_t *shown) {
    uint32_t frames[MAX_CHAIN];
    int depth = 0, count = 0;

    for (; f->profile->nodes[node].parent != MPROF_NONE;
         node = f->profile->nodes[node].parent)
        frames[depth++] = f->names->shown[f->profile->nodes[node].function];
    while (depth-- > 0) {
        uint32_t function = frames[depth];
        if (all_frames || !f->names->list[function].plumbing ||
            (function == MPROF_TOP_LEVEL && count == 0))
            shown[count++] = function;
    }
    if (count == 0)
        shown[count++] = MPROF_TOP_LEVEL;
    return count;
}

static void naive_count(struct naive *n, const uint32_t *chain, int count,
                        uint64_t bytes, uint64_t allocs) {
    bool arcs[MAX_FUNCTIONS][MAX_FUNCTIONS] = {{false}};
    n->self[chain[count - 1]] += bytes;
    for (uint32_t v = 0; v < MAX_FUNCTIONS; v++) {
        int times = 0, first = -1, last = -1;
        for (int i = 0; i < count; i++)
            if (chain[i] == v) {
                times++;
                first = first < 0 ? i : first;
                last = i;
            }
        n->total[v] += times > 0 ? bytes : 0;
        n->below[v] += first >= 0 && first < count - 1 ? bytes : 0;
        n->called[v] += last > 0 ? allocs : 0;
        n->recur[v] += times > 1 ? allocs : 0;
    }
    for (int i = 1; i < count; i++) {
        uint32_t a = chain[i - 1], b = chain[i];
        n->arc[a][b] += arcs[a][b] ? 0 : bytes;
        n->reach[a][b] = arcs[a][b] = true;
    }
}

/* LEFT bytes of a chain are not freed. */
static void naive_alive(struct naive *n, const uint32_t *chain, int count,
                        uint64_t left) {
    bool arcs[MAX_FUNCTIONS][MAX_FUNCTIONS] = {{false}};
    for (int i = 1; i < count; i++) {
        bool *seen = &arcs[chain[i - 1]][chain[i]];
        n->alive[chain[i - 1]][chain[i]] += *seen ? 0 : left;
        *seen = true;
    }
}

static bool same_cycle(const struct naive *n, uint32_t a, uint32_t b) {
    return a == b || (n->reach[a][b] && n->reach[b][a]);
}

/* Once all arcs are known. */
static void naive_cycles(struct naive *n, const uint32_t *chain, int count,
                         uint64_t bytes, uint64_t allocs) {
    for (uint32_t v = 0; v < MAX_FUNCTIONS; v++) {
        int first = -1;
        for (int i = 0; i < count; i++) {
            if (!same_cycle(n, v, chain[i]))
                continue;
            first = first < 0 ? i : first;
        }
        n->cycle_total[v] += first >= 0 ? bytes : 0;
        n->cycle_called[v] += first > 0 ? allocs : 0;
    }
}

static void naive_build(const struct fixture *f, enum mprof_heap heap,
                        bool all_frames, struct naive *n) {
    uint32_t chain[MAX_CHAIN];

    memset(n, 0, sizeof *n);
    for (int cycles = 0; cycles < 2; cycles++) {
        for (uint32_t i = 0; i < f->profile->counter_count; i++) {
            const struct report__counter *c = &f->profile->counters[i];
            uint32_t thread = f->profile->nodes[c->node].thread;
            if (f->profile->threads[thread].heap != heap)
                continue;
            int count = naive_chain(f, c->node, all_frames, chain);
            n->freed[chain[count - 1]] +=
                cycles ? report__lived(c)->freed.bytes : 0;
            if (cycles)
                naive_alive(n, chain, count,
                            c->allocated.bytes - report__lived(c)->freed.bytes);
            (cycles ? naive_cycles : naive_count)(
                n, chain, count, c->allocated.bytes, c->allocated.allocs);
        }
        for (int k = 0; k < MAX_FUNCTIONS; k++)
            for (int a = 0; a < MAX_FUNCTIONS; a++)
                for (int b = 0; b < MAX_FUNCTIONS; b++)
                    n->reach[a][b] |= n->reach[a][k] && n->reach[k][b];
    }
}

static void compare_with_naive(const struct fixture *f, const struct naive *n) {
    const struct report__graph *g = f->graph;
    uint64_t arcs[MAX_FUNCTIONS][MAX_FUNCTIONS] = {{0}};
    uint64_t alive[MAX_FUNCTIONS][MAX_FUNCTIONS] = {{0}};

    for (uint32_t v = 0; v < f->names->count; v++) {
        const struct report__vertex *x = &g->vertices[v];
        assert_int_equal(report__bytes(&x->self), n->self[v]);
        assert_int_equal(report__bytes(&x->freed), n->freed[v]);
        assert_int_equal(report__bytes(&x->total), n->total[v]);
        assert_int_equal(report__bytes(&x->below), n->below[v]);
        assert_int_equal(x->called, n->called[v]);
        assert_int_equal(x->recur, n->recur[v]);
        bool in_cycle = false;
        for (uint32_t w = 0; w < f->names->count; w++) {
            bool same = v != w && same_cycle(n, v, w);
            in_cycle |= same;
            assert_int_equal(v != w && x->cycle != MPROF_NONE &&
                                 x->cycle == g->vertices[w].cycle,
                             same);
        }
        assert_int_equal(x->cycle != MPROF_NONE, in_cycle);
        if (!in_cycle)
            continue;
        const struct report__cycle *c = &g->cycles[x->cycle];
        assert_int_equal(report__bytes(&c->total), n->cycle_total[v]);
        assert_int_equal(c->called, n->cycle_called[v]);
    }
    for (uint32_t i = 0; i < g->arc_count; i++) {
        const struct report__arc *arc = &g->arcs[i];
        arcs[arc->caller][arc->callee] = report__bytes(&arc->counts);
        alive[arc->caller][arc->callee] = arc->alive;
    }
    assert_memory_equal(arcs, n->arc, sizeof arcs);
    assert_memory_equal(alive, n->alive, sizeof alive);
}

/* THREAD frees of what COUNTER, its own or another one's, has counted. */
static void random_free(struct datafile *d, mprof_ref counter, mprof_ref thread,
                        uint64_t allocs, uint64_t bytes) {
    struct mprof_count freed = {(uint64_t)rand() % (allocs + 1),
                                (uint64_t)rand() % (bytes + 1)};
    datafile_freed(d, thread, counter, freed);
}

/* Trees of up to 80 nodes over a few functions, some of them plumbing: two in
 * HEAP, and with BOTH a third in the other one. */
static void random_trees(struct datafile *d, enum mprof_heap heap, bool both) {
    static const char *const names[] = {"A", "B", "C", "D",         "E",
                                        "F", "G", "H", "CL:FUNCALL"};
    mprof_ref functions[10], nodes[80], last = 0;
    int function_count = 2 + rand() % 8;

    for (int i = 0; i < function_count - 1; i++)
        functions[i] = datafile_lisp(d, names[8 - i]);
    functions[function_count - 1] =
        datafile_function(d, MPROF_TOPLEVEL, 0, 0, NULL, NULL);
    for (uint32_t t = 0; t < (both ? 3 : 2); t++) {
        bool c = (heap == MPROF_C_HEAP) == (t < 2);
        mprof_ref thread =
            c ? datafile_c_thread(d, t, NULL) : datafile_thread(d, t, NULL);
        int count = 1 + rand() % 79, deep = rand() % 3;
        nodes[0] = datafile_node(d, thread, 0, 0);
        for (int i = 1; i < count; i++) {
            int parent = deep ? i - 1 - rand() % (i < 4 ? i : 4) : rand() % i;
            nodes[i] = datafile_node(d, thread, nodes[parent],
                                     functions[rand() % function_count]);
            if (rand() % 2 == 0)
                continue;
            uint32_t class_ = (uint32_t)rand() % 4;
            uint64_t allocs = 1 + (uint64_t)(rand() % 3);
            uint64_t bytes = (uint64_t)(rand() % 100);
            mprof_ref counter =
                datafile_count(d, nodes[i], class_, allocs, bytes);
            if (c)
                random_free(d, counter, t == 1 && last ? last : thread, allocs,
                            bytes);
        }
        last = thread;
        if (rand() % 2)
            datafile_count(d, nodes[0], MPROF_CONS, 1, 7);
    }
}

static void equals_the_naive_graph(void **state) {
    struct naive naive;
    (void)state;

    for (unsigned seed = 1; seed <= 3000; seed++) {
        enum mprof_heap heap = seed % 2 ? MPROF_LISP_HEAP : MPROF_C_HEAP;
        bool all_frames = seed % 4 == 0;
        struct datafile file;
        struct fixture f = {.pool = {0}};
        const char *error;
        srand(seed);
        datafile_start(&file);
        random_trees(&file, heap, seed % 3 == 0);
        f.profile = parse_bytes(&f.pool, "x", file.data, file.size, &error);
        assert_non_null(f.profile);
        f.names = report__name_functions(&f.pool, f.profile, NULL);
        f.graph = report__graph_build(&f.pool, f.profile, f.names, heap,
                                      MPROF_ALL_THREADS, all_frames);
        naive_build(&f, heap, all_frames, &naive);
        compare_with_naive(&f, &naive);
        report__pool_free(&f.pool);
        datafile_free(&file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_naive_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
