/* test_inlines.c - inlined functions in direct allocation and call graph. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tests/support/check.h"

#include <stdio.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/golden.h"
#include "report/graph/inlining.h"
#include "tests/support/self.h"
#include "tests/support/world.h"

static const char data_name[] = "test_inlines.data";

/* Code of this program with inlined functions */

static const char *call_site;

__attribute__((noinline, noipa)) static void called(void) {
    call_site = __builtin_return_address(0);
}

__attribute__((always_inline)) static inline void inner(volatile int *n) {
    ++*n;
    called();
    ++*n;
}

__attribute__((always_inline)) static inline void middle(volatile int *n) {
    ++*n;
    inner(n);
}

__attribute__((noinline, noipa)) static void outer(volatile int *n) {
    inner(n);
}

__attribute__((noinline, noipa)) static void outermost(volatile int *n) {
    middle(n);
}

/* Where the call returns to is the outer function's. */
__attribute__((always_inline)) static inline void last(volatile int *n) {
    ++*n;
    called();
}

__attribute__((noinline, noipa)) static void ends_with_call(volatile int *n) {
    last(n);
    *n = 7;
}

struct code {
    struct world w;
    char path[4096];
    uint32_t main_node;
};

static void start_code(struct code *c) {
    struct world *w = &c->w;

    world_start(w);
    w->profile.modules[w->profile.module_count++] =
        self_module((uintptr_t)outer, c->path, sizeof c->path);
    w->profile.modules[w->profile.module_count++] = w->profile.modules[0];
    w->names.module_id = report__alloc(&w->pool, 2, sizeof(uint32_t));
    w->names.module_id[1] = 1;
    c->main_node =
        world_node(w, world_thread(w, MPROF_C_HEAP), world_function(w, "main"));
}

/* A site of NODE at the call in the code of FUNCTION. */
static uint32_t code_site(struct world *w, uint32_t node,
                          void (*function)(volatile int *)) {
    volatile int n = 0;
    uint32_t site = world_site(w, node, 0);

    function(&n);
    world_move(w, site, 0, (uintptr_t)call_site);
    return site;
}

static struct report__graph *graph_of(struct world *w) {
    return report__graph_build(&w->pool, &w->profile, &w->names, MPROF_C_HEAP,
                               MPROF_ALL_THREADS, false);
}

static bool has_debug_information(void) {
    int fd = open("/proc/self/exe", O_RDONLY);
    Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
    bool has = dwarf != NULL;
    dwarf_end(dwarf);
    close(fd);
    return has;
}

/* The graph with inlined functions; NULL without debug information. */
static struct report__graph *inlined_graph(struct world *w) {
    uint32_t functions = w->names.count;

    report__find_inlining(&w->pool, &w->profile, &w->names, false);
    if (w->names.count != functions)
        return graph_of(w);
    assert_false(has_debug_information());
    return NULL;
}

/* "f 10 30, g 20 20": the functions with their own bytes and all bytes, each
 * followed by "> " and those that it calls. */
static char *describe(const struct report__graph *g) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (uint32_t v = 0; v < g->functions->count; v++) {
        const struct report__vertex *x = &g->vertices[v];
        if (x->depth == MPROF_NONE)
            continue;
        fprintf(out, "%s %d %d", g->functions->list[v].name,
                (int)report__bytes(&x->self), (int)report__bytes(&x->total));
        for (uint32_t i = 0; i < x->call_count; i++)
            fprintf(out, " > %s",
                    g->functions->list[g->arcs[x->first_call + i].callee].name);
        putc('\n', out);
    }
    fclose(out);
    return text;
}

static void graph_equals(const struct report__graph *g, const char *expected) {
    char *text = describe(g);
    assert_string_equal(text, expected);
    free(text);
}

static void allocations_go_to_the_function_that_made_them(void **state) {
    struct code c;
    struct world *w = &c.w;
    (void)state;

    start_code(&c);
    uint32_t a = world_node(w, c.main_node, world_function(w, "outer"));
    uint32_t b = world_node(w, c.main_node, world_function(w, "outermost"));
    world_counter_at(w, a, code_site(w, a, outer), 1, 10, 1, 4);
    world_counter(w, a, 1, 5, 1, 2);
    world_counter_at(w, b, code_site(w, b, outermost), 1, 20, 0, 0);
    graph_equals(graph_of(w), "main 0 35 > outer > outermost\n"
                              "outer 15 15\n"
                              "outermost 20 20\n");
    struct report__graph *g = inlined_graph(w);
    if (!g) {
        world_stop(w);
        leave_out("compiled without debug information");
    }
    /* It is one function wherever it was inlined. */
    graph_equals(g, "main 0 35 > outer > outermost\n"
                    "outer 5 15 > inner [inlined]\n"
                    "outermost 0 20 > middle [inlined]\n"
                    "inner [inlined] 30 30\n"
                    "middle [inlined] 0 20 > inner [inlined]\n");
    assert_int_equal(report__bytes(&g->vertices[2].freed), 2);
    assert_int_equal(report__bytes(&g->vertices[4].freed), 4);
    world_stop(w);
}

static void the_call_is_before_where_it_returns_to(void **state) {
    struct code c;
    struct world *w = &c.w;
    (void)state;

    start_code(&c);
    uint32_t a =
        world_node(w, c.main_node, world_function(w, "ends_with_call"));
    world_counter_at(w, a, code_site(w, a, ends_with_call), 1, 10, 0, 0);
    struct report__graph *g = inlined_graph(w);
    if (!g) {
        world_stop(w);
        leave_out("compiled without debug information");
    }
    graph_equals(g, "main 0 10 > ends_with_call\n"
                    "ends_with_call 0 10 > last [inlined]\n"
                    "last [inlined] 10 10\n");
    world_stop(w);
}

static void calls_go_to_the_function_that_made_them(void **state) {
    struct code c;
    struct world *w = &c.w;
    (void)state;

    start_code(&c);
    uint32_t a = world_node(w, c.main_node, world_function(w, "outer"));
    uint32_t b = world_node(w, a, world_function(w, "g"));
    code_site(w, a, outer);
    world_counter(w, b, 1, 10, 0, 0);
    struct report__graph *g = inlined_graph(w);
    if (!g) {
        world_stop(w);
        leave_out("compiled without debug information");
    }
    graph_equals(g, "main 0 10 > outer\n"
                    "outer 0 10 > inner [inlined]\n"
                    "g 10 10\n"
                    "inner [inlined] 0 10 > g\n");
    world_stop(w);
}

/* Which of two calls led to a function is not known where they have one node;
 * which of them allocated is. */
static void calls_that_differ_are_the_real_function_s(void **state) {
    struct code c;
    struct world *w = &c.w;
    (void)state;

    start_code(&c);
    uint32_t a = world_node(w, c.main_node, world_function(w, "outer"));
    uint32_t b = world_node(w, a, world_function(w, "g"));
    world_counter_at(w, a, code_site(w, a, outer), 1, 10, 0, 0);
    world_counter_at(w, a, code_site(w, a, outermost), 1, 5, 0, 0);
    w->profile.nodes[a].site = MPROF_NONE;
    world_counter(w, b, 1, 1, 0, 0);
    struct report__graph *g = inlined_graph(w);
    if (!g) {
        world_stop(w);
        leave_out("compiled without debug information");
    }
    graph_equals(g, "main 0 16 > outer\n"
                    "outer 0 16 > g > inner [inlined] > middle [inlined]\n"
                    "g 1 1\n"
                    "inner [inlined] 15 15\n"
                    "middle [inlined] 0 5 > inner [inlined]\n");
    world_stop(w);
}

/* The same name in another file is another function, and the interpreter's code
 * is not that of the function it runs. */
static void functions_are_told_apart_by_file(void **state) {
    struct code c;
    struct world *w = &c.w;
    (void)state;

    start_code(&c);
    uint32_t a = world_node(w, c.main_node, world_function(w, "a"));
    uint32_t b = world_node(w, c.main_node, world_function(w, "b"));
    uint32_t i = world_node(w, c.main_node, world_function(w, "I"));
    world_counter_at(w, a, code_site(w, a, outer), 1, 10, 0, 0);
    uint32_t site = code_site(w, b, outer);
    world_move(w, site, 1, (uintptr_t)call_site);
    world_counter_at(w, b, site, 1, 20, 0, 0);
    world_counter_at(w, i, code_site(w, i, outer), 1, 5, 0, 0);
    w->profile.functions[w->profile.nodes[i].function].kind = MPROF_INTERPRETED;
    struct report__graph *g = inlined_graph(w);
    if (!g) {
        world_stop(w);
        leave_out("compiled without debug information");
    }
    graph_equals(g, "main 0 35 > a > b > I\n"
                    "a 0 10 > inner [inlined]\n"
                    "b 0 20 > inner [inlined]\n"
                    "I 5 5\n"
                    "inner [inlined] 10 10\n"
                    "inner [inlined] 20 20\n");
    world_stop(w);
}

/* A data file of this program; false when nothing is known of its calls. */
static bool save_self(void) {
    struct datafile d;
    char path[4096];
    volatile int n = 0;
    struct report__module self =
        self_module((uintptr_t)outer, path, sizeof path);

    outer(&n);
    datafile_start(&d);
    mprof_ref module =
        datafile_module(&d, path, self.build_id, self.build_id_bytes);
    ((struct mprof_module *)datafile_record(&d, module))->bias = self.bias;
    mprof_ref function =
        datafile_function(&d, MPROF_C, module,
                          (uint64_t)(uintptr_t)outer - self.bias, NULL, NULL);
    mprof_ref thread = datafile_c_thread(&d, 1, "self");
    mprof_ref root = datafile_node(&d, thread, 0, 0);
    mprof_ref site =
        datafile_site(&d, function, module, (uint64_t)(uintptr_t)call_site);
    mprof_ref node = datafile_node(&d, thread, root, site);
    datafile_counter(&d, node, site, MPROF_SMALL, (struct mprof_count){2, 40},
                     (struct mprof_count){1, 20});
    datafile_close(&d);
    golden_save(&d, data_name);
    datafile_free(&d);
    return self.build_id_bytes > 0;
}

static bool prints(const char *table, const char *option, const char *text) {
    char *out, *err;
    assert_int_equal(RUN(&out, &err, table, option, data_name), 0);
    assert_string_equal(err, "");
    bool found = strstr(out, text) != NULL;
    free(out);
    free(err);
    return found;
}

static void the_option_is_for_all_tables_of_functions(void **state) {
    (void)state;
    bool known = save_self();

    assert_false(prints("--table=leaks,direct,graph", "--verbose", "inne"));
    if (!known || !prints("--table=leaks", "--inlines", "outer > [inner]"))
        leave_out("compiled without debug information");
    assert_true(prints("--table=direct", "--inlines",
                       "100.0         40 | **          |         20 | **     "
                       "     |         20 |      2  inner [inlined]\n"));
    assert_false(prints("--table=direct", "--inlines", " outer\n"));
    assert_true(prints("--table=graph", "--inlines",
                       "2/2          outer [0]\n"
                       "[1]    100.0         40 (100) | **          | "
                       "----------- |      2        inner [inlined] [1]\n"));
    assert_true(prints("--threads", "--inlines", " inner [inlined]\n"));
    assert_false(prints("--sexp", "--inlines", "inner"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_go_to_the_function_that_made_them),
        cmocka_unit_test(the_call_is_before_where_it_returns_to),
        cmocka_unit_test(calls_go_to_the_function_that_made_them),
        cmocka_unit_test(calls_that_differ_are_the_real_function_s),
        cmocka_unit_test(functions_are_told_apart_by_file),
        cmocka_unit_test(the_option_is_for_all_tables_of_functions),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(data_name);
    return check_result(failed);
}
