/* test_graph.c - the call graph: recursion, cycles, plumbing and names. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include "tests/support/graph.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>

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
        TEST(heaps_are_told_apart),
        TEST(nested_forms_belong_to_their_caller),
        TEST(a_redefined_function_is_one),
        TEST(parts_belong_to_their_function),
        TEST(names_come_from_the_elf_file),
        TEST(a_very_deep_chain_needs_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
