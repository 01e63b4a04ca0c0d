/* test_leaks.c - the memory leak table: rows, numbers, notes. */
#include "tests/support/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/world.h"

static void equals(char *text, const char *expected) {
    assert_string_equal(text, expected);
    free(text);
}

/* Figure 2 of the paper. */
static void figure_two_is_printed(void **state) {
    struct world w;
    (void)state;

    world_start(&w);
    uint32_t root = world_thread(&w, MPROF_C_HEAP);
    uint32_t libc_start =
        world_node(&w, root, world_plumbing(&w, "__libc_start_main"));
    uint32_t main_ = world_node(&w, libc_start, world_function(&w, "main"));
    uint32_t widget = world_function(&w, "make_widget");
    uint32_t red = world_node(&w, main_, world_function(&w, "make_red_widget"));
    uint32_t blue =
        world_node(&w, main_, world_function(&w, "make_blue_widget"));
    world_counter(&w, world_node(&w, red, widget), 5019, 1023876, 0, 0);
    world_counter(&w, world_node(&w, blue, widget), 4981, 1016124, 4981,
                  1016124);
    equals(LEAKS(&w, .depth = 5),
           "Memory leaks\n"
           "\n"
           "kept bytes (%)     allocs      bytes (%)   path\n"
           "------------------------------------------------------------------"
           "--------\n"
           "   1023876 (100)     5019    1023876 (100)  || > main > "
           "make_red_widget > make_widget\n"
           "   1023876           5019    1023876        <TOTAL>\n");
    world_stop(&w);
}

static void frees_have_columns_where_there_were_any(void **state) {
    struct world w;
    (void)state;

    world_start(&w);
    uint32_t main_ = world_node(&w, world_thread(&w, MPROF_C_HEAP),
                                world_function(&w, "main"));
    world_counter(&w, world_node(&w, main_, world_function(&w, "a")), 4, 400, 1,
                  100);
    world_counter(&w, world_node(&w, main_, world_function(&w, "b")), 1, 100, 0,
                  0);
    world_counter(&w, world_node(&w, main_, world_function(&w, "none kept")), 9,
                  90, 9, 90);
    equals(
        LEAKS(&w),
        "Memory leaks\n"
        "\n"
        "kept bytes (%)     allocs      bytes (%)      frees      bytes "
        "(%)   path\n"
        "------------------------------------------------------------------"
        "----------------------------------\n"
        "       300  (75)        4        400  (80)        1        100 "
        "(100)  || > main > a\n"
        "       100  (25)        1        100  (20)                          "
        "  || > main > b\n"
        "       400              5        500              1        100  "
        "      <TOTAL>\n");
    world_stop(&w);
}

static void rows_come_by_bytes_then_objects_then_path(void **state) {
    struct world w;
    (void)state;

    world_start(&w);
    uint32_t root = world_thread(&w, MPROF_C_HEAP);
    uint32_t main_ = world_node(&w, root, world_function(&w, "main"));
    uint32_t c = world_node(&w, main_, world_function(&w, "c"));
    uint32_t b = world_node(&w, main_, world_function(&w, "b"));
    world_counter(&w, c, 1, 100, 0, 0);
    world_counter(&w, b, 1, 100, 0, 0);
    world_counter(&w, world_node(&w, b, world_function(&w, "z")), 2, 100, 0, 0);
    world_counter(&w, world_node(&w, b, world_function(&w, "y")), 1, 101, 0, 0);
    world_counter(&w, world_node(&w, root, world_function(&w, "b")), 1, 100, 0,
                  0);
    world_counter(&w, world_node(&w, c, world_function(&w, "a")), 1, 100, 0, 0);
    world_paths_equal(LEAKS(&w), "|| > main > b > y\n"
                                 "|| > main > b > z\n"
                                 "|| > b\n"
                                 "|| > main > b\n"
                                 "|| > main > c\n"
                                 "|| > main > c > a\n"
                                 "<TOTAL>\n");
    world_stop(&w);
}

/* main > f > f > ... > f, N times f; returns the innermost. */
static uint32_t recurse(struct world *w, uint32_t from, uint32_t f, int n) {
    while (n-- > 0)
        from = world_node(w, from, f);
    return from;
}

static void functions_of_one_name_have_rows_of_their_own(void **state) {
    struct world w;
    (void)state;

    world_start(&w);
    uint32_t main_ = world_node(&w, world_thread(&w, MPROF_C_HEAP),
                                world_function(&w, "main"));
    world_counter(&w, world_node(&w, main_, world_function(&w, "twin")), 1, 10,
                  0, 0);
    world_counter(&w, world_node(&w, main_, world_function(&w, "twin")), 1, 20,
                  0, 0);
    world_paths_equal(LEAKS(&w), "|| > main > twin\n"
                                 "|| > main > twin\n"
                                 "<TOTAL>\n");
    world_stop(&w);
}

static void a_whole_chain_is_none_that_is_cut(void **state) {
    struct world w;
    (void)state;

    world_start(&w);
    uint32_t root = world_thread(&w, MPROF_C_HEAP);
    uint32_t f = world_function(&w, "f"), g = world_function(&w, "g");
    uint32_t whole = world_node(&w, root, f);
    uint32_t cut = world_node(&w, world_node(&w, root, g), f);
    world_counter(&w, world_node(&w, whole, g), 1, 100, 0, 0);
    world_counter(&w, world_node(&w, cut, g), 1, 90, 0, 0);
    world_paths_equal(LEAKS(&w, .depth = 2), "|| > f > g\n"
                                             "... > f > g\n"
                                             "<TOTAL>\n");
    world_stop(&w);
}

static void chains_are_cut_at_the_depth(void **state) {
    struct world w;
    (void)state;

    world_start(&w);
    uint32_t main_ = world_node(&w, world_thread(&w, MPROF_C_HEAP),
                                world_function(&w, "main"));
    uint32_t f = world_function(&w, "f"), g = world_function(&w, "g");
    world_counter(&w, recurse(&w, main_, f, 2), 1, 100, 0, 0);
    world_counter(&w, world_node(&w, recurse(&w, main_, f, 2), g), 1, 90, 0, 0);
    world_counter(&w, world_node(&w, recurse(&w, main_, f, 3), g), 1, 80, 1,
                  80);
    world_counter(&w, world_node(&w, recurse(&w, main_, f, 4), g), 1, 70, 0, 0);
    world_paths_equal(LEAKS(&w, .depth = 3), "... > f > f > g\n"
                                             "|| > main > f > f\n"
                                             "<TOTAL>\n");
    world_paths_equal(LEAKS(&w, .depth = 4), "|| > main > f > f\n"
                                             "|| > main > f > f > g\n"
                                             "... > f > f > f > g\n"
                                             "<TOTAL>\n");
    world_paths_equal(LEAKS(&w, .depth = 0), "|| > main > f > f\n"
                                             "|| > main > f > f > g\n"
                                             "|| > main > f > f > f > f > g\n"
                                             "<TOTAL>\n");
    world_paths_equal(LEAKS(&w, .depth = 1), "... > g\n... > f\n<TOTAL>\n");
    world_stop(&w);
}

static void threads_share_rows_unless_one_is_asked_for(void **state) {
    struct world w;
    (void)state;

    world_start(&w);
    uint32_t f = world_function(&w, "f");
    uint32_t lisp = world_node(&w, world_thread(&w, MPROF_LISP_HEAP), f);
    uint32_t a = world_node(&w, world_thread(&w, MPROF_C_HEAP), f);
    uint32_t b = world_node(&w, world_thread(&w, MPROF_C_HEAP), f);
    world_counter(&w, lisp, 1, 1000, 0, 0);
    world_counter(&w, a, 2, 20, 0, 0);
    world_counter(&w, b, 3, 30, 0, 0);
    /* The second thread frees what the first one allocated. */
    world_counter(&w, a, 0, 0, 1, 10);
    char *text = LEAKS(&w);
    assert_non_null(strstr(text, " 40 (100)        5         50 (100)"));
    world_paths_equal(text, "|| > f\n<TOTAL>\n");
    text = world_leaks_of(
        &w, 1, (struct report__context){.choice.verbosity = MPROF_VERBOSE});
    assert_non_null(strstr(text, " 10 (100)        2         20 (100)"));
    world_paths_equal(text, "|| > f\n<TOTAL>\n");
    equals(
        world_leaks_of(
            &w, 0, (struct report__context){.choice.verbosity = MPROF_VERBOSE}),
        "Memory leaks\n\n"
        "Nothing was kept: every recorded object was freed.\n");
    world_stop(&w);
}

static void small_leaks_are_left_out_unless_verbose(void **state) {
    struct world w;
    char *text;
    (void)state;

    world_start(&w);
    uint32_t main_ = world_node(&w, world_thread(&w, MPROF_C_HEAP),
                                world_function(&w, "main"));
    world_counter(&w, world_node(&w, main_, world_function(&w, "a")), 1, 9900,
                  0, 0);
    world_counter(&w, world_node(&w, main_, world_function(&w, "b")), 1, 51, 0,
                  0);
    world_counter(&w, world_node(&w, main_, world_function(&w, "c")), 1, 49, 0,
                  0);
    world_counter(&w, world_node(&w, main_, world_function(&w, "empty")), 1, 0,
                  0, 0);
    world_paths_equal(LEAKS(&w), "|| > main > a\n"
                                 "|| > main > b\n"
                                 "|| > main > c\n"
                                 "|| > main > empty\n"
                                 "<TOTAL>\n");
    text = world_leaks(
        &w, (struct report__context){.choice.verbosity = MPROF_NORMAL});
    world_paths_equal(text, "|| > main > a\n"
                            "|| > main > b\n"
                            "<TOTAL>\n"
                            "2 paths below 0.5% left out: 49 bytes kept in all "
                            "(--verbose shows them)\n");
    text = world_leaks(
        &w, (struct report__context){.choice.verbosity = MPROF_TERSE});
    world_paths_equal(text, "|| > main > a\n"
                            "<TOTAL>\n"
                            "3 paths below 1% left out: 100 bytes kept in all "
                            "(--verbose shows them)\n");
    world_stop(&w);
}

static void it_says_what_it_cannot_know(void **state) {
    struct world w;
    (void)state;

    world_start(&w);
    equals(LEAKS(&w), "Memory leaks\n\n"
                      "Nothing was kept: every recorded object was freed.\n");
    world_counter(
        &w,
        world_node(&w, world_thread(&w, MPROF_C_HEAP), world_function(&w, "f")),
        1, 1, 0, 0);
    w.profile.untracked_allocs = 1000;
    w.profile.untracked_bytes = 20000;
    w.profile.unplaced_frees = 1;
    w.profile.unplaced_freed_bytes = 16;
    world_paths_equal(
        LEAKS(&w),
        "|| > f\n"
        "<TOTAL>\n"
        "what became of 1,000 allocations (20,000 bytes) is not known: "
        "the table may list objects that were freed\n"
        "1 free (16 bytes) could not be counted with what it freed: "
        "the table may list objects that were freed\n");
    world_stop(&w);
}

/* Frees that a running program counted before what they free. */
static void more_frees_than_allocations_are_no_leak(void **state) {
    struct world w;
    (void)state;

    world_start(&w);
    world_counter(
        &w,
        world_node(&w, world_thread(&w, MPROF_C_HEAP), world_function(&w, "f")),
        1, 10, 2, 20);
    equals(LEAKS(&w), "Memory leaks\n\n"
                      "Nothing was kept: every recorded object was freed.\n");
    world_stop(&w);
}

/* An obviously right table: each counter's path as text, added up. */

struct naive_row {
    char path[256];
    int64_t allocs, bytes, frees;
};

static void naive_path(const struct world *w, uint32_t node, uint32_t depth,
                       char *text) {
    const struct report__profile *p = &w->profile;
    const char *names[64];
    uint32_t count = 0;

    for (; node != MPROF_NONE; node = p->nodes[node].parent) {
        uint32_t f = p->nodes[node].function;
        if (f != MPROF_NONE && !w->names.list[w->names.shown[f]].plumbing)
            names[count++] = w->names.list[w->names.shown[f]].name;
    }
    if (count == 0)
        names[count++] = "<top level>";
    bool cut = depth > 0 && count > depth;
    strcpy(text, cut ? "..." : "||");
    for (uint32_t i = cut ? depth : count; i-- > 0;)
        sprintf(text + strlen(text), " > %s", names[i]);
}

static int naive_order(const void *a, const void *b) {
    const struct naive_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->allocs - x->frees != y->allocs - y->frees)
        return x->allocs - x->frees > y->allocs - y->frees ? -1 : 1;
    return strcmp(x->path, y->path);
}

static char *naive_table(const struct world *w, uint32_t depth) {
    const struct report__profile *p = &w->profile;
    struct naive_row *rows = calloc(p->counter_count, sizeof *rows);
    uint32_t count = 0;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (uint32_t i = 0; i < p->counter_count; i++) {
        const struct report__counter *c = &p->counters[i];
        char path[256];
        uint32_t k = 0;
        naive_path(w, c->node, depth, path);
        while (k < count && strcmp(rows[k].path, path) != 0)
            k++;
        if (k == count)
            strcpy(rows[count++].path, path);
        rows[k].allocs += (int64_t)c->allocated.allocs;
        rows[k].frees += (int64_t)report__lived(c)->freed.allocs;
        rows[k].bytes += (int64_t)c->allocated.bytes -
                         (int64_t)report__lived(c)->freed.bytes;
    }
    qsort(rows, count, sizeof *rows, naive_order);
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].allocs > rows[i].frees)
            fprintf(out, "%" PRId64 " %" PRId64 " %" PRId64 " %s\n",
                    rows[i].bytes, rows[i].allocs, rows[i].frees, rows[i].path);
    fclose(out);
    free(rows);
    return text;
}

/* The rows of a table in the same form. */
static char *rows_of(char *table) {
    char *text, *line = table;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (; *line; line = strchr(line, '\n') + 1) {
        const char *path = world_path_in(line);
        uint64_t bytes, allocs, frees = 0;
        int end;
        if (!path || *path == '<' ||
            sscanf(line, "%" SCNu64 " (%*[^)]) %" SCNu64 " %*u (%*[^)])%n",
                   &bytes, &allocs, &end) < 2)
            continue;
        if (line[end + (int)strspn(line + end, " ")] != *path)
            sscanf(line + end, "%" SCNu64, &frees);
        fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %.*s\n", bytes,
                allocs, frees, (int)strcspn(path, "\n"), path);
    }
    fclose(out);
    free(table);
    return text;
}

static void make_random(struct world *w) {
    static const char *const letters[] = {"a", "b", "c", "d", "e", "f"};
    uint32_t functions[6];

    for (int i = 0; i < 6; i++)
        functions[i] = rand() % 4 == 0 ? world_plumbing(w, letters[i])
                                       : world_function(w, letters[i]);
    for (int t = 1 + rand() % 3; t > 0; t--) {
        uint32_t root = world_thread(w, MPROF_C_HEAP), last = root;
        for (int n = rand() % 60; n > 0; n--)
            last = world_node(
                w,
                rand() % 2 ? last : root + (uint32_t)rand() % (last - root + 1),
                functions[rand() % 6]);
        for (int n = rand() % 60; n > 0; n--) {
            uint64_t allocs = (uint64_t)rand() % 4, size = (uint64_t)rand() % 3;
            uint64_t frees = (uint64_t)rand() % (allocs + 1);
            world_counter(w, root + (uint32_t)rand() % (last - root + 1),
                          allocs, allocs * size, frees, frees * size);
        }
    }
}

static void random_profiles_equal_a_naive_table(void **state) {
    (void)state;
    srand(20);
    for (int i = 0; i < 300; i++) {
        struct world w;
        uint32_t depth = (uint32_t)rand() % 7;
        world_start(&w);
        make_random(&w);
        char *naive = naive_table(&w, depth);
        char *table = rows_of(LEAKS(&w, .depth = depth));
        assert_string_equal(table, naive);
        free(naive);
        free(table);
        world_stop(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_two_is_printed),
        cmocka_unit_test(frees_have_columns_where_there_were_any),
        cmocka_unit_test(rows_come_by_bytes_then_objects_then_path),
        cmocka_unit_test(functions_of_one_name_have_rows_of_their_own),
        cmocka_unit_test(a_whole_chain_is_none_that_is_cut),
        cmocka_unit_test(chains_are_cut_at_the_depth),
        cmocka_unit_test(threads_share_rows_unless_one_is_asked_for),
        cmocka_unit_test(small_leaks_are_left_out_unless_verbose),
        cmocka_unit_test(it_says_what_it_cannot_know),
        cmocka_unit_test(more_frees_than_allocations_are_no_leak),
        cmocka_unit_test(random_profiles_equal_a_naive_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
