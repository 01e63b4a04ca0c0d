/* test_graph.c - the call graph: recursion, cycles, plumbing and names. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include "tests/support/check.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/datafile.h"
#include "tests/support/parse.h"
#include "report/graph/graph.h"

struct fixture {
    struct datafile file;
    struct report__pool pool;
    struct report__profile *profile;
    struct report__functions *names;
    struct report__graph *graph;
    const char *runtime; /* NULL: what the file says */
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    datafile_start(&f->file);
    *state = f;
    return f ? 0 : -1;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    report__pool_free(&f->pool);
    datafile_free(&f->file);
    free(f);
    return 0;
}

static void build_heap(struct fixture *f, enum mprof_heap heap, uint32_t thread,
                       bool all_frames) {
    const char *error;
    f->profile = parse_bytes(&f->pool, "x", f->file.data, f->file.size, &error);
    if (!f->profile)
        fail_msg("%s", error);
    if (f->runtime)
        f->profile->runtime = f->runtime;
    f->names = report__name_functions(&f->pool, f->profile, NULL);
    f->graph = report__graph_build(&f->pool, f->profile, f->names, heap, thread,
                                   all_frames);
}

static void build(struct fixture *f, uint32_t thread, bool all_frames) {
    build_heap(f, MPROF_LISP_HEAP, thread, all_frames);
}

static uint32_t find(const struct fixture *f, const char *name) {
    for (uint32_t i = 0; i < f->names->count; i++)
        if (strcmp(f->names->list[i].name, name) == 0)
            return i;
    fail_msg("no function %s", name);
    return 0;
}

static const struct report__vertex *vertex(const struct fixture *f,
                                           const char *name) {
    return &f->graph->vertices[find(f, name)];
}

static uint64_t arc_bytes(const struct fixture *f, const char *caller,
                          const char *callee) {
    uint32_t from = find(f, caller), to = find(f, callee);
    for (uint32_t i = 0; i < f->graph->arc_count; i++)
        if (f->graph->arcs[i].caller == from && f->graph->arcs[i].callee == to)
            return report__bytes(&f->graph->arcs[i].counts);
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
    assert_int_equal(report__bytes(&vertex(f, "BAR")->self), 24);
    assert_int_equal(report__bytes(&vertex(f, "FOO")->self), 0);
    assert_int_equal(report__bytes(&vertex(f, "MAIN")->total), 24);
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
    assert_int_equal(report__bytes(&vertex(f, "F")->total), 10);
    assert_int_equal(report__bytes(&vertex(f, "G")->total), 10);
    assert_int_equal(report__bytes(&vertex(f, "MAIN")->total), 10);
    assert_int_equal(arc_bytes(f, "F", "G"), 10);
    assert_int_equal(arc_bytes(f, "G", "F"), 10);
    assert_int_equal(f->graph->cycle_count, 1);
    assert_int_equal(f->graph->cycles[0].count, 2);
    assert_int_equal(report__bytes(&f->graph->cycles[0].total), 10);
    assert_int_equal(f->graph->cycles[0].called, 1);
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
    assert_int_equal(report__bytes(&vertex(f, "F")->total), 32);
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
    assert_int_equal(report__bytes(&vertex(f, "F")->total), 32);
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(report__bytes(&vertex(f, "F")->total), 48);
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
    assert_int_equal(report__bytes(&vertex(f, "ecl_cons")->self), 16);
    assert_int_equal(arc_bytes(f, "FOO", "ecl_cons"), 16);
    assert_int_equal(arc_bytes(f, "<top level>", "FOO"), 16);
    assert_int_equal(report__bytes(&vertex(f, "<top level>")->self), 32);
    assert_int_equal(report__bytes(&f->graph->total), 48);
    assert_int_equal(f->graph->arc_count, 2);
    build(f, MPROF_ALL_THREADS, true);
    assert_int_equal(f->graph->arc_count, 7);
}

/* Beside the function that Lisp calls, others of ECL do its work. */
static void c_functions_have_lisp_names(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref own = datafile_module(d, "/home/own.fas", NULL, 0);
    mprof_ref ecl = datafile_module(d, "/lib/libecl.so.21.2", NULL, 0);
    mprof_ref functions[] = {
        datafile_lisp(d, "FOO"),
        datafile_function(d, MPROF_C, own, 8, NULL, "init_fas_CODE"),
        datafile_function(d, MPROF_C, ecl, 8, NULL, "ecl_init_module"),
        datafile_function(d, MPROF_C, own, 16, NULL, "_eclg3b8Z_upZnhn51"),
        datafile_lisp(d, "CL:MAKE-HASH-TABLE"),
        datafile_function(d, MPROF_C, ecl, 16, NULL, "cl__make_hash_table"),
        datafile_function(d, MPROF_C, own, 24, NULL, "cl__make_hash_table"),
        datafile_function(d, MPROF_C, own, 32, NULL, "_eclair_small"),
    };
    datafile_count(d, chain(d, functions, 6), MPROF_OTHER, 1, 16);
    datafile_count(d, chain(d, functions, 8), MPROF_OTHER, 1, 32);
    f->runtime = "ECL 21.2.1";
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(arc_bytes(f, "FOO", "<load of own.fas>"), 48);
    assert_int_equal(arc_bytes(f, "<load of own.fas>", "CL:MAKE-HASH-TABLE"),
                     48);
    assert_int_equal(report__bytes(&vertex(f, "CL:MAKE-HASH-TABLE")->self), 16);
    assert_int_equal(arc_bytes(f, "CL:MAKE-HASH-TABLE", "cl__make_hash_table"),
                     32);
    assert_int_equal(report__bytes(&vertex(f, "_eclair_small")->self), 32);
    assert_int_equal(f->graph->arc_count, 4);
    assert_int_equal(f->names->list[find(f, "CL:MAKE-HASH-TABLE")].kind,
                     MPROF_LISP);
    f->runtime = "";
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(arc_bytes(f, "init_fas_CODE", "_eclg3b8Z_upZnhn51"), 48);
}

/* What starts a program, and operator new, are nobody's callers. */
static void plumbing_of_c_is_left_out(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref own = datafile_module(d, "/home/own", NULL, 0);
    mprof_ref libc = datafile_module(d, "/lib/libc.so.6", NULL, 0);
    mprof_ref cxx = datafile_module(d, "/lib/libstdc++.so.6", NULL, 0);
    mprof_ref functions[] = {
        datafile_function(d, MPROF_C, own, 8, NULL, "_start"),
        datafile_function(d, MPROF_C, libc, 8, NULL, "__libc_start_main"),
        datafile_function(d, MPROF_C, libc, 16, NULL, NULL),
        datafile_function(d, MPROF_C, own, 16, NULL, "main"),
        datafile_function(d, MPROF_C, own, 24, NULL, "_ZN3Box3addEi"),
        datafile_function(d, MPROF_C, cxx, 8, NULL, "_Znam"),
        datafile_function(d, MPROF_C, cxx, 16, NULL, "_Znwm"),
    };
    mprof_ref thread = datafile_c_thread(d, 1, "own");
    mprof_ref node = datafile_node(d, thread, 0, 0);
    for (size_t i = 0; i < 7; i++)
        node = datafile_node(d, thread, node, functions[i]);
    datafile_objects(d, node, 24, 3, 2);
    build_heap(f, MPROF_C_HEAP, MPROF_ALL_THREADS, false);
    assert_int_equal(f->graph->arc_count, 1);
    assert_int_equal(arc_bytes(f, "main", "Box::add(int)"), 72);
    assert_int_equal(report__bytes(&vertex(f, "Box::add(int)")->self), 72);
    assert_int_equal(report__bytes(&vertex(f, "Box::add(int)")->freed), 48);
    assert_int_equal(report__bytes(&f->graph->freed), 48);
    build_heap(f, MPROF_C_HEAP, MPROF_ALL_THREADS, true);
    assert_int_equal(f->graph->arc_count, 6);
    assert_int_equal(
        report__bytes(&vertex(f, "operator new(unsigned long)")->self), 72);
}

/* A program's own operator new is a function like others. */
static void a_programs_own_functions_are_shown(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref own = datafile_module(d, "/home/own", NULL, 0);
    mprof_ref functions[] = {
        datafile_function(d, MPROF_C, own, 8, NULL, "start_thread"),
        datafile_function(d, MPROF_C, own, 16, NULL, "_Znwm")};
    mprof_ref thread = datafile_c_thread(d, 1, "own");
    mprof_ref node = datafile_node(d, thread, 0, 0);
    for (size_t i = 0; i < 2; i++)
        node = datafile_node(d, thread, node, functions[i]);
    datafile_objects(d, node, 8, 1, 0);
    build_heap(f, MPROF_C_HEAP, MPROF_ALL_THREADS, false);
    assert_int_equal(
        arc_bytes(f, "start_thread", "operator new(unsigned long)"), 8);
}

/* In Lisp dlopen() is a part of LOAD. */
static void loading_is_shown_in_c_only(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref libc = datafile_module(d, "/lib/libc.so.6", NULL, 0);
    mprof_ref loader = datafile_module(d, "/lib/ld-linux.so.2", NULL, 0);
    mprof_ref functions[] = {
        datafile_lisp(d, "FOO"),
        datafile_function(d, MPROF_C, libc, 8, NULL, "dlopen"),
        datafile_function(d, MPROF_C, libc, 16, NULL, "dlopen_doit"),
        datafile_function(d, MPROF_C, loader, 8, NULL, "openaux")};
    datafile_count(d, chain(d, functions, 4), MPROF_CONS, 1, 16);
    mprof_ref thread = datafile_c_thread(d, 1, "main");
    mprof_ref node = datafile_node(d, thread, 0, 0);
    for (size_t i = 0; i < 4; i++)
        node = datafile_node(d, thread, node, functions[i]);
    datafile_objects(d, node, 50, 1, 0);
    build_heap(f, MPROF_LISP_HEAP, MPROF_ALL_THREADS, false);
    assert_int_equal(report__bytes(&vertex(f, "FOO")->self), 16);
    build_heap(f, MPROF_C_HEAP, MPROF_ALL_THREADS, false);
    assert_int_equal(report__bytes(&vertex(f, "FOO")->self), 0);
    assert_int_equal(report__bytes(&vertex(f, "dlopen")->self), 50);
}

static void heaps_are_told_apart(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref F = datafile_lisp(d, "F");
    datafile_count(d, chain(d, &F, 1), MPROF_CONS, 1, 16);
    mprof_ref thread = datafile_c_thread(d, 1, "main");
    mprof_ref root = datafile_node(d, thread, 0, 0);
    datafile_objects(d, datafile_node(d, thread, root, F), 100, 2, 1);
    build_heap(f, MPROF_LISP_HEAP, MPROF_ALL_THREADS, false);
    assert_int_equal(report__bytes(&vertex(f, "F")->total), 16);
    assert_int_equal(report__bytes(&vertex(f, "F")->freed), 0);
    build_heap(f, MPROF_C_HEAP, MPROF_ALL_THREADS, false);
    assert_int_equal(report__bytes(&vertex(f, "F")->total), 200);
    assert_int_equal(report__bytes(&vertex(f, "F")->freed), 100);
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

/* Five functions that each call HUB and are called by it; three of them are in
 * a circle of their own. */
static void what_holds_a_cycle_together_is_found(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    mprof_ref hub = datafile_lisp(d, "HUB"), spoke[5];
    uint32_t largest;
    for (int i = 0; i < 5; i++) {
        char name[] = "S0";
        name[1] += (char)i;
        spoke[i] = datafile_lisp(d, name);
        mprof_ref functions[] = {hub, spoke[i], hub};
        datafile_count(d, chain(d, functions, 3), MPROF_CONS, 1, 16);
    }
    mprof_ref circle[] = {spoke[0], spoke[1], spoke[2], spoke[0]};
    datafile_count(d, chain(d, circle, 4), MPROF_CONS, 1, 16);
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(f->graph->cycle_count, 1);
    assert_int_equal(f->graph->cycles[0].count, 6);
    uint32_t breaker = report__cycle_breaker(&f->pool, f->graph, 0, &largest);
    assert_string_equal(f->names->list[breaker].name, "HUB");
    assert_int_equal(largest, 3);
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
    assert_int_equal(report__bytes(&vertex(f, "FOO")->self), 32);
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
    assert_int_equal(report__bytes(&vertex(f, "f")->total), 32);
    assert_int_equal(vertex(f, "f")->recur, 0);
    assert_int_equal(report__bytes(&vertex(f, "FOO")->total), 32);
    assert_int_equal(report__bytes(&vertex(f, "libown.so+0x77")->self), 16);
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
int function_with_a_symbol(int x);
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
    assert_int_equal(report__bytes(&vertex(f, "function_with_a_symbol")->self),
                     16);
    snprintf(missing, sizeof missing, "exe+0x%llx",
             (unsigned long long)address);
    assert_int_equal(report__bytes(&vertex(f, missing)->self), 16);
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
    assert_int_equal(report__bytes(&vertex(f, "EVEN")->total), 16);
    assert_int_equal(report__bytes(&f->graph->cycles[0].total), 16);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* Without any of its members a ring is none: the first of them is named. */
static void the_first_breaker_of_a_ring_is_taken(void **state) {
    enum { MEMBERS = 25 };
    struct fixture *f = *state;
    uint32_t largest;
    mprof_ref member[MEMBERS];
    mprof_ref thread = datafile_thread(&f->file, 1, NULL);
    mprof_ref node = datafile_node(&f->file, thread, 0, 0);
    for (int i = 0; i < MEMBERS; i++) {
        const char name[] = {'M', (char)('A' + i), '\0'};
        member[i] = datafile_lisp(&f->file, name);
    }
    for (int i = 0; i <= MEMBERS; i++)
        node = datafile_node(&f->file, thread, node, member[i % MEMBERS]);
    datafile_count(&f->file, node, MPROF_CONS, 1, 16);
    build(f, MPROF_ALL_THREADS, false);
    assert_int_equal(f->graph->cycle_count, 1);
    assert_int_equal(report__cycle_breaker(&f->pool, f->graph, 0, &largest),
                     f->graph->cycles[0].members[0]);
    assert_int_equal(largest, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(figure_6),
        TEST(figure_7),
        TEST(self_recursion_is_no_cycle),
        TEST(what_holds_a_cycle_together_is_found),
        TEST(the_first_breaker_of_a_ring_is_taken),
        TEST(threads_can_be_told_apart),
        TEST(plumbing_is_left_out),
        TEST(plumbing_of_c_is_left_out),
        TEST(c_functions_have_lisp_names),
        TEST(a_programs_own_functions_are_shown),
        TEST(loading_is_shown_in_c_only),
        TEST(heaps_are_told_apart),
        TEST(nested_forms_belong_to_their_caller),
        TEST(a_redefined_function_is_one),
        TEST(parts_belong_to_their_function),
        TEST(names_come_from_the_elf_file),
        TEST(a_very_deep_chain_needs_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
