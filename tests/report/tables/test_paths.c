/* test_paths.c - the memory leak table: frames, call sites, inlined calls. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/graph/inlining.h"
#include "tests/support/self.h"
#include "tests/support/world.h"

static void plumbing_is_left_out_unless_asked_for(void **state) {
    struct world w;
    (void)state;

    world_start(&w);
    uint32_t start_ = world_node(&w, world_thread(&w, MPROF_C_HEAP),
                                 world_plumbing(&w, "_start"));
    uint32_t main_ = world_node(&w, start_, world_function(&w, "main"));
    uint32_t new_ = world_plumbing(&w, "operator new");
    world_counter(&w, world_node(&w, main_, new_), 1, 30, 0, 0);
    world_counter(&w, main_, 1, 20, 0, 0);
    world_counter(&w, start_, 1, 10, 0, 0);
    world_counter(&w,
                  world_node(&w, world_node(&w, main_, new_),
                             world_function(&w, "handler")),
                  1, 5, 0, 0);
    world_paths_equal(LEAKS(&w), "|| > main\n"
                                 "|| > <top level>\n"
                                 "|| > main > handler\n"
                                 "<TOTAL>\n");
    world_paths_equal(LEAKS(&w, .all_frames = true),
                      "|| > _start > main > operator new\n"
                      "|| > _start > main\n"
                      "|| > _start\n"
                      "|| > _start > main > operator new > handler\n"
                      "<TOTAL>\n");
    world_stop(&w);
}

static void offsets_tell_call_sites_apart(void **state) {
    struct world w;
    (void)state;

    world_start(&w);
    uint32_t main_ = world_node(&w, world_thread(&w, MPROF_C_HEAP),
                                world_function(&w, "main"));
    uint32_t f = world_node(&w, main_, world_function(&w, "f"));
    uint32_t g = world_node(&w, f, world_function(&w, "g"));
    world_site(&w, main_, 24);
    world_site(&w, f, 57);
    uint32_t again = world_node(&w, main_, w.profile.nodes[f].function);
    world_site(&w, again, 57); /* the library was unloaded and loaded again */
    world_counter_at(&w, g, world_site(&w, g, 10), 1, 50, 0, 0);
    world_counter_at(&w, g, world_site(&w, g, 20), 1, 40, 0, 0);
    world_counter_at(&w, g, world_site(&w, g, 20), 1, 5, 0, 0);
    world_counter_at(&w, main_, world_site(&w, main_, 24), 1, 30, 0, 0);
    world_counter(&w, main_, 1, 20, 0, 0);
    world_counter_at(&w, again, w.profile.nodes[again].site, 1, 15, 0, 0);
    world_counter_at(&w, f, w.profile.nodes[f].site, 1, 10, 0, 0);
    world_paths_equal(LEAKS(&w), "|| > main > f > g\n|| > main\n"
                                 "|| > main > f\n<TOTAL>\n");
    world_paths_equal(LEAKS(&w, .offsets = true), "|| > main+24 > f+57 > g+10\n"
                                                  "|| > main+24 > f+57 > g+20\n"
                                                  "|| > main+24\n"
                                                  "|| > main+24 > f+57\n"
                                                  "|| > main\n"
                                                  "<TOTAL>\n");
    world_stop(&w);
}

static void parts_count_offsets_from_their_own_start(void **state) {
    struct world w;
    (void)state;

    world_start(&w);
    uint32_t f = world_function(&w, "f"), g = world_function(&w, "g");
    uint32_t main_ = world_node(&w, world_thread(&w, MPROF_C_HEAP),
                                world_function(&w, "main"));
    uint32_t whole = world_node(&w, main_, f);
    uint32_t below = world_node(&w, whole, world_part(&w, f, "f.part.0"));
    uint32_t alone = world_node(&w, main_, world_part(&w, g, "g.cold@@V1"));
    world_site(&w, main_, 24);
    world_site(&w, whole, 7);
    world_counter_at(&w, below, world_site(&w, below, 3), 1, 20, 0, 0);
    world_counter_at(&w, alone, world_site(&w, alone, 4), 1, 10, 0, 0);
    world_paths_equal(LEAKS(&w), "|| > main > f\n|| > main > g\n<TOTAL>\n");
    world_paths_equal(LEAKS(&w, .offsets = true), "|| > main+24 > f.part.0+3\n"
                                                  "|| > main+24 > g.cold+4\n"
                                                  "<TOTAL>\n");
    world_stop(&w);
}

/* Inlined callers, in this program itself */

static const char *call_site;

__attribute__((noinline, noipa)) static void called(void) {
    call_site = __builtin_return_address(0);
}

__attribute__((always_inline)) static inline void inner(volatile int *n) {
    ++*n;
    called();
    ++*n;
}

__attribute__((noinline, noipa)) static void outer(volatile int *n) {
    inner(n);
}

/* The table with DEPTH callers and what was inlined; the caller frees it. */
static char *leaks_inlined(struct world *w, uint32_t depth) {
    const struct report__functions names = w->names;
    w->names.module_id = (uint32_t[ROOM]){0};
    report__find_inlining(&w->pool, &w->profile, &w->names, false);
    char *text = LEAKS(w, .depth = depth);
    w->names = names;
    return text;
}

static void inlined_callers_are_in_brackets(void **state) {
    struct world w;
    char path[4096];
    volatile int n = 0;
    (void)state;

    world_start(&w);
    w.profile.modules[w.profile.module_count++] =
        self_module((uintptr_t)outer, path, sizeof path);
    uint32_t main_ = world_node(&w, world_thread(&w, MPROF_C_HEAP),
                                world_function(&w, "main"));
    uint32_t f = world_node(&w, main_, world_function(&w, "outer"));
    uint32_t site = world_site(&w, f, 0);
    outer(&n);
    world_move(&w, site, 0, (uintptr_t)call_site);
    world_counter_at(&w, f, site, 1, 30, 0, 0);
    world_counter(&w, world_node(&w, f, world_function(&w, "g")), 1, 20, 0, 0);
    char *text = leaks_inlined(&w, 0);
    if (strstr(text, "|| > main > outer\n")) {
        free(text);
        world_stop(&w);
        leave_out("compiled without debug information");
    }
    world_paths_equal(text, "|| > main > outer > [inner]\n"
                            "|| > main > outer > [inner] > g\n"
                            "<TOTAL>\n");
    /* Inlined callers are frames, and not known where the call is not. */
    w.profile.nodes[f].site = MPROF_NONE;
    world_paths_equal(leaks_inlined(&w, 1), "... > [inner]\n"
                                            "... > g\n"
                                            "<TOTAL>\n");
    world_paths_equal(leaks_inlined(&w, 0), "|| > main > outer > [inner]\n"
                                            "|| > main > outer > g\n"
                                            "<TOTAL>\n");
    world_stop(&w);
}

static void functions_without_places_are_named(void **state) {
    struct world w;
    char *text;
    size_t size;
    (void)state;

    world_start(&w);
    uint32_t main_ = world_thread(&w, MPROF_LISP_HEAP);
    uint32_t f = world_node(&w, main_, world_function(&w, "F"));
    uint32_t g = world_node(&w, main_, world_function(&w, "G"));
    uint32_t h = world_node(&w, main_, world_function(&w, "H"));
    w.profile.functions[w.profile.nodes[h].function].kind = MPROF_INTERPRETED;
    world_counter(&w, f, 1, 50, 0, 0);
    world_counter_at(&w, g, world_site(&w, g, 5), 1, 100, 0, 0);
    world_counter(&w, world_node(&w, f, w.profile.nodes[h].function), 1, 30, 0,
                  0);
    world_counter(&w, h, 1, 20, 0, 0);
    FILE *out = open_memstream(&text, &size);
    const struct report__context c = {
        .pool = &w.pool, .part = &w.profile, .names = &w.names, .out = out};
    report__print_merged(&c);
    fclose(out);
    assert_string_equal(
        text, "The places of calls by 1 function are not known: F.\n"
              "Chains with them have 40.0% of the bytes.  Places are not "
              "distinguished where chains are\nvery many, nor in files of "
              "mprof 1.0.\n");
    free(text);
    world_stop(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plumbing_is_left_out_unless_asked_for),
        cmocka_unit_test(offsets_tell_call_sites_apart),
        cmocka_unit_test(parts_count_offsets_from_their_own_start),
        cmocka_unit_test(inlined_callers_are_in_brackets),
        cmocka_unit_test(functions_without_places_are_named),
    };
    return check_result(cmocka_run_group_tests(tests, NULL, NULL));
}
