/* test_graph.c - the call graph against a naive one, cycles, plumbing and
 * names. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../report/graph.h"
#include "datafile.h"

struct fixture {
    struct datafile file;
    struct mprof__pool pool;
    struct mprof__profile *profile;
    struct mprof__functions *names;
    struct mprof__graph *graph;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    datafile_start(&f->file);
    *state = f;
    return f ? 0 : -1;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    mprof__pool_free(&f->pool);
    datafile_free(&f->file);
    free(f);
    return 0;
}

static void build(struct fixture *f, uint32_t thread, bool all_frames) {
    const char *error;
    f->profile =
        mprof__parse(&f->pool, "x", f->file.data, f->file.size, &error);
    if (!f->profile)
        fail_msg("%s", error);
    f->names = mprof__name_functions(&f->pool, f->profile);
    f->graph =
        mprof__graph_build(&f->pool, f->profile, f->names, thread, all_frames);
}

static uint32_t find(const struct fixture *f, const char *name) {
    for (uint32_t i = 0; i < f->names->count; i++)
        if (strcmp(f->names->list[i].name, name) == 0)
            return i;
    fail_msg("no function %s", name);
    return 0;
}

static const struct mprof__vertex *vertex(const struct fixture *f,
                                          const char *name) {
    return &f->graph->vertices[find(f, name)];
}

static uint64_t arc_bytes(const struct fixture *f, const char *caller,
                          const char *callee) {
    uint32_t from = find(f, caller), to = find(f, callee);
    for (uint32_t i = 0; i < f->graph->arc_count; i++)
        if (f->graph->arcs[i].caller == from && f->graph->arcs[i].callee == to)
            return mprof__bytes(&f->graph->arcs[i].counts);
    return 0;
}

/* A chain below the root of a new thread; returns the innermost node. */
static mprof_ref chain(struct datafile *d, const mprof_ref *functions,
                       size_t count) {
    mprof_ref thread = datafile_thread(d, 1, "main");
    mprof_ref node = datafile_node(d, thread, 0, 0);
    for (size_t i = 0; i < count; i++)
        node = datafile_node(d, thread, node, functions[i]);
    return node;
}

/* Figure 6 of the paper: main->foo->bar(24). */
static void figure_6(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref functions[] = {datafile_lisp(d, "MAIN"), datafile_lisp(d, "FOO"),
                             datafile_lisp(d, "BAR")};
    datafile_count(d, chain(d, functions, 3), MPROF_OTHER, 1, 24);
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(arc_bytes(f, "MAIN", "FOO"), 24);
    assert_int_equal(arc_bytes(f, "FOO", "BAR"), 24);
    assert_int_equal(f->graph->arc_count, 2);
    assert_int_equal(mprof__bytes(&vertex(f, "BAR")->self), 24);
    assert_int_equal(mprof__bytes(&vertex(f, "FOO")->self), 0);
    assert_int_equal(mprof__bytes(&vertex(f, "MAIN")->total), 24);
    assert_int_equal(vertex(f, "MAIN")->called, 0);
    assert_int_equal(vertex(f, "FOO")->called, 1);
}

/* Figure 7: main->F->G->F->G(10), and 10 bytes are 10 bytes. */
static void figure_7(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref main_ = datafile_lisp(d, "MAIN"), F = datafile_lisp(d, "F");
    mprof_ref G = datafile_lisp(d, "G");
    mprof_ref functions[] = {main_, F, G, F, G};
    datafile_count(d, chain(d, functions, 5), MPROF_OTHER, 1, 10);
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(mprof__bytes(&vertex(f, "F")->total), 10);
    assert_int_equal(mprof__bytes(&vertex(f, "G")->total), 10);
    assert_int_equal(mprof__bytes(&vertex(f, "MAIN")->total), 10);
    assert_int_equal(arc_bytes(f, "F", "G"), 10);
    assert_int_equal(arc_bytes(f, "G", "F"), 10);
    assert_int_equal(f->graph->cycle_count, 1);
    assert_int_equal(f->graph->cycles[0].count, 2);
    assert_int_equal(mprof__bytes(&f->graph->cycles[0].total), 10);
    assert_int_equal(f->graph->cycles[0].called, 1);
    assert_int_equal(f->graph->cycles[0].recur, 1);
    assert_int_equal(vertex(f, "F")->called, 1);
    assert_int_equal(vertex(f, "F")->recur, 1);
    assert_int_equal(vertex(f, "MAIN")->cycle, MPROF_NONE);
}

static void self_recursion_is_no_cycle(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref F = datafile_lisp(d, "F");
    mprof_ref functions[] = {F, F, F};
    datafile_count(d, chain(d, functions, 3), MPROF_CONS, 2, 32);
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(f->graph->cycle_count, 0);
    assert_int_equal(mprof__bytes(&vertex(f, "F")->total), 32);
    assert_int_equal(vertex(f, "F")->called, 2);
    assert_int_equal(vertex(f, "F")->recur, 2);
}

static void threads_can_be_told_apart(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref F = datafile_lisp(d, "F");
    datafile_count(d, chain(d, &F, 1), MPROF_CONS, 1, 16);
    datafile_count(d, chain(d, &F, 1), MPROF_CONS, 2, 32);
    build(f, 1, false);
    assert_int_equal(mprof__bytes(&vertex(f, "F")->total), 32);
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(mprof__bytes(&vertex(f, "F")->total), 48);
}

/* What plumbing allocates is its caller's. */
static void plumbing_is_left_out(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref own = datafile_module(d, "/home/libown.so", NULL, 0);
    mprof_ref ecl = datafile_module(d, "/lib/libecl.so.21.2", NULL, 0);
    mprof_ref functions[] = {
        datafile_lisp(d, "SI:TOP-LEVEL"),
        datafile_lisp(d, "CL:LOAD"),
        datafile_function(d, MPROF_TOPLEVEL, 0, 0, NULL, NULL),
        datafile_lisp(d, "FOO"),
        datafile_lisp(d, "CL:FUNCALL"),
        datafile_lisp(d, "(FLET X :IN MPROF::CALL-WITH-PROFILING)"),
        datafile_function(d, MPROF_C, own, 8, NULL, "ecl_cons"),
        datafile_function(d, MPROF_C, ecl, 8, NULL, "ecl_cons"),
    };
    datafile_count(d, chain(d, functions, 8), MPROF_CONS, 1, 16);
    datafile_count(d, chain(d, functions, 1), MPROF_CONS, 1, 32);
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(mprof__bytes(&vertex(f, "ecl_cons")->self), 16);
    assert_int_equal(arc_bytes(f, "FOO", "ecl_cons"), 16);
    assert_int_equal(arc_bytes(f, "<top level>", "FOO"), 16);
    assert_int_equal(mprof__bytes(&vertex(f, "<top level>")->self), 32);
    assert_int_equal(mprof__bytes(&f->graph->total), 48);
    assert_int_equal(f->graph->arc_count, 2);
    build(f, MPROF_ALL_THREADS, true);
    assert_int_equal(f->graph->arc_count, 7);
}

/* Forms run below a function do not make the top level its descendent. */
static void nested_forms_belong_to_their_caller(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref forms = datafile_function(d, MPROF_TOPLEVEL, 0, 0, NULL, NULL);
    mprof_ref functions[] = {forms, datafile_lisp(d, "FOO"), forms,
                             datafile_lisp(d, "BAR")};
    datafile_count(d, chain(d, functions, 4), MPROF_CONS, 1, 16);
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(f->graph->cycle_count, 0);
    assert_int_equal(arc_bytes(f, "FOO", "BAR"), 16);
}

static void a_redefined_function_is_one(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref first = datafile_lisp(d, "FOO");
    mprof_ref second =
        datafile_function(d, MPROF_INTERPRETED, 0, 99, "FOO", NULL);
    datafile_count(d, chain(d, &first, 1), MPROF_CONS, 1, 16);
    datafile_count(d, chain(d, &second, 1), MPROF_CONS, 1, 16);
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(mprof__bytes(&vertex(f, "FOO")->self), 32);
}

/* Cold parts and copies that the C compiler made are the function. */
static void parts_belong_to_their_function(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref m = datafile_module(d, "/nonexistent/libown.so", NULL, 0);
    mprof_ref cold = datafile_function(d, MPROF_C, m, 1, NULL, "f.cold");
    mprof_ref whole = datafile_function(d, MPROF_C, m, 90, NULL, "f");
    mprof_ref part = datafile_function(d, MPROF_C, m, 50, NULL, "f.part.0");
    mprof_ref lisp = datafile_function(d, MPROF_LISP, m, 70, "FOO", "L1foo");
    mprof_ref lisp_cold =
        datafile_function(d, MPROF_C, m, 2, NULL, "L1foo.cold");
    mprof_ref nameless = datafile_function(d, MPROF_C, m, 0x77, NULL, NULL);
    mprof_ref functions[] = {whole, part, lisp, nameless};
    datafile_count(d, chain(d, &cold, 1), MPROF_CONS, 1, 16);
    datafile_count(d, chain(d, functions, 4), MPROF_CONS, 1, 16);
    datafile_count(d, chain(d, &lisp_cold, 1), MPROF_CONS, 1, 16);
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(mprof__bytes(&vertex(f, "f")->total), 32);
    assert_int_equal(vertex(f, "f")->recur, 0);
    assert_int_equal(mprof__bytes(&vertex(f, "FOO")->total), 32);
    assert_int_equal(mprof__bytes(&vertex(f, "libown.so+0x77")->self), 16);
    assert_int_equal(f->names->count, 4); /* with the top level */
}

struct self {
    uint64_t bias;
    const unsigned char *build_id;
    uint32_t build_id_bytes;
};

/* The program itself, which comes first. */
static int find_self(struct dl_phdr_info *info, size_t size, void *data) {
    struct self *self = data;
    (void)size;
    self->bias = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const char *note = (const char *)(info->dlpi_addr + p->p_vaddr);
        const char *end = note + p->p_memsz;
        while (p->p_type == PT_NOTE && note < end) {
            const ElfW(Nhdr) *head = (const void *)note;
            const char *id = note + sizeof *head + (head->n_namesz + 3) / 4 * 4;
            if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4) {
                self->build_id = (const unsigned char *)id;
                self->build_id_bytes = head->n_descsz;
            }
            note = id + (head->n_descsz + 3) / 4 * 4;
        }
    }
    return 1;
}

/* Never inlined, so that it has an address of its own. */
__attribute__((noinline)) int function_with_a_symbol(int x) {
    return x + 1;
}

static void names_come_from_the_elf_file(void **state) {
    struct fixture *f = *state;
    struct self self = {0, NULL, 0};
    uint64_t address = (uint64_t)(uintptr_t)function_with_a_symbol;
    char missing[64];

    dl_iterate_phdr(find_self, &self);
    address -= self.bias;
    for (int other = 0; other < 2; other++) {
        /* The second time it is the file of another program. */
        uint8_t id[36] = {0};
        if (self.build_id)
            memcpy(id, self.build_id, self.build_id_bytes);
        id[0] ^= (uint8_t)other;
        if (other && self.build_id_bytes == 0)
            self.build_id_bytes = 4;
        mprof_ref module = datafile_module(&f->file, "/proc/self/exe", id,
                                           self.build_id_bytes);
        mprof_ref function =
            datafile_function(&f->file, MPROF_C, module, address, NULL, NULL);
        datafile_count(&f->file, chain(&f->file, &function, 1), MPROF_CONS, 1,
                       16);
    }
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(mprof__bytes(&vertex(f, "function_with_a_symbol")->self),
                     16);
    snprintf(missing, sizeof missing, "exe+0x%llx",
             (unsigned long long)address);
    assert_int_equal(mprof__bytes(&vertex(f, missing)->self), 16);
}

static void a_very_deep_chain_needs_no_stack(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    enum { DEPTH = 1000000 };
    mprof_ref pair[2] = {datafile_lisp(d, "EVEN"), datafile_lisp(d, "ODD")};
    mprof_ref thread = datafile_thread(d, 1, "main");
    mprof_ref node = datafile_node(d, thread, 0, 0);
    for (int i = 0; i < DEPTH; i++)
        node = datafile_node(d, thread, node, pair[i % 2]);
    datafile_count(d, node, MPROF_CONS, 1, 16);
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(mprof__bytes(&vertex(f, "EVEN")->total), 16);
    assert_int_equal(mprof__bytes(&f->graph->cycles[0].total), 16);
}

/* The naive graph: every allocation's chain is written down. */

#define MAX_FUNCTIONS 12
#define MAX_CHAIN 200

struct naive {
    uint64_t self[MAX_FUNCTIONS], total[MAX_FUNCTIONS], below[MAX_FUNCTIONS];
    uint64_t called[MAX_FUNCTIONS], recur[MAX_FUNCTIONS];
    uint64_t arc[MAX_FUNCTIONS][MAX_FUNCTIONS];
    bool reach[MAX_FUNCTIONS][MAX_FUNCTIONS];
    uint64_t cycle_total[MAX_FUNCTIONS], cycle_called[MAX_FUNCTIONS];
    uint64_t cycle_recur[MAX_FUNCTIONS];
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

static bool same_cycle(const struct naive *n, uint32_t a, uint32_t b) {
    return a == b || (n->reach[a][b] && n->reach[b][a]);
}

/* Once all arcs are known. */
static void naive_cycles(struct naive *n, const uint32_t *chain, int count,
                         uint64_t bytes, uint64_t allocs) {
    for (uint32_t v = 0; v < MAX_FUNCTIONS; v++) {
        int first = -1;
        bool inside = false;
        for (int i = 0; i < count; i++) {
            if (!same_cycle(n, v, chain[i]))
                continue;
            inside |= i > 0 && same_cycle(n, v, chain[i - 1]);
            first = first < 0 ? i : first;
        }
        n->cycle_total[v] += first >= 0 ? bytes : 0;
        n->cycle_called[v] += first > 0 ? allocs : 0;
        n->cycle_recur[v] += inside ? allocs : 0;
    }
}

static void naive_build(const struct fixture *f, bool all_frames,
                        struct naive *n) {
    uint32_t chain[MAX_CHAIN];

    memset(n, 0, sizeof *n);
    for (int cycles = 0; cycles < 2; cycles++) {
        for (uint32_t i = 0; i < f->profile->node_count; i++) {
            uint64_t bytes = mprof__bytes(&f->profile->nodes[i].own);
            uint64_t allocs = mprof__allocs(&f->profile->nodes[i].own);
            if (allocs == 0)
                continue;
            int count = naive_chain(f, i, all_frames, chain);
            (cycles ? naive_cycles : naive_count)(n, chain, count, bytes,
                                                  allocs);
        }
        for (int k = 0; k < MAX_FUNCTIONS; k++)
            for (int a = 0; a < MAX_FUNCTIONS; a++)
                for (int b = 0; b < MAX_FUNCTIONS; b++)
                    n->reach[a][b] |= n->reach[a][k] && n->reach[k][b];
    }
}

static void compare_with_naive(const struct fixture *f, const struct naive *n) {
    const struct mprof__graph *g = f->graph;
    uint64_t arcs[MAX_FUNCTIONS][MAX_FUNCTIONS] = {{0}};

    for (uint32_t v = 0; v < f->names->count; v++) {
        const struct mprof__vertex *x = &g->vertices[v];
        assert_int_equal(mprof__bytes(&x->self), n->self[v]);
        assert_int_equal(mprof__bytes(&x->total), n->total[v]);
        assert_int_equal(mprof__bytes(&x->below), n->below[v]);
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
        const struct mprof__cycle *c = &g->cycles[x->cycle];
        assert_int_equal(mprof__bytes(&c->total), n->cycle_total[v]);
        assert_int_equal(c->called, n->cycle_called[v]);
        assert_int_equal(c->recur, n->cycle_recur[v]);
    }
    for (uint32_t i = 0; i < g->arc_count; i++)
        arcs[g->arcs[i].caller][g->arcs[i].callee] =
            mprof__bytes(&g->arcs[i].counts);
    assert_memory_equal(arcs, n->arc, sizeof arcs);
}

/* A tree of up to 150 nodes over a few functions, some of them plumbing. */
static void random_tree(struct datafile *d) {
    static const char *const names[] = {"A", "B", "C", "D",         "E",
                                        "F", "G", "H", "CL:FUNCALL"};
    mprof_ref functions[10], nodes[2][80];
    int function_count = 2 + rand() % 8;

    for (int i = 0; i < function_count - 1; i++)
        functions[i] = datafile_lisp(d, names[8 - i]);
    functions[function_count - 1] =
        datafile_function(d, MPROF_TOPLEVEL, 0, 0, NULL, NULL);
    for (int t = 0; t < 2; t++) {
        mprof_ref thread = datafile_thread(d, (uint32_t)t, NULL);
        int count = 1 + rand() % 79, deep = rand() % 3;
        nodes[t][0] = datafile_node(d, thread, 0, 0);
        for (int i = 1; i < count; i++) {
            int parent = deep ? i - 1 - rand() % (i < 4 ? i : 4) : rand() % i;
            nodes[t][i] = datafile_node(d, thread, nodes[t][parent],
                                        functions[rand() % function_count]);
            if (rand() % 2)
                datafile_count(d, nodes[t][i], (enum mprof_class)(rand() % 4),
                               1 + (uint64_t)(rand() % 3),
                               (uint64_t)(rand() % 100));
        }
        if (rand() % 2)
            datafile_count(d, nodes[t][0], MPROF_CONS, 1, 7);
    }
}

static void equals_the_naive_graph(void **state) {
    struct fixture *f = *state;
    struct naive naive;

    for (unsigned seed = 1; seed <= 3000; seed++) {
        srand(seed);
        datafile_free(&f->file);
        datafile_start(&f->file);
        mprof__pool_free(&f->pool);
        random_tree(&f->file);
        build(f, MPROF_ALL_THREADS, seed % 4 == 0);
        naive_build(f, seed % 4 == 0, &naive);
        compare_with_naive(f, &naive);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(figure_6),
        TEST(figure_7),
        TEST(self_recursion_is_no_cycle),
        TEST(threads_can_be_told_apart),
        TEST(plumbing_is_left_out),
        TEST(nested_forms_belong_to_their_caller),
        TEST(a_redefined_function_is_one),
        TEST(parts_belong_to_their_function),
        TEST(names_come_from_the_elf_file),
        TEST(a_very_deep_chain_needs_no_stack),
        TEST(equals_the_naive_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
