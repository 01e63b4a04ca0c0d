/* world.c - profiles made up in memory. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/world.h"

void world_start(struct world *w) {
    *w = (struct world){.profile.program = ""};
    struct report__profile *p = &w->profile;
    p->modules = report__alloc(&w->pool, ROOM, sizeof *p->modules);
    p->functions = report__alloc(&w->pool, ROOM, sizeof *p->functions);
    p->threads = report__alloc(&w->pool, ROOM, sizeof *p->threads);
    p->nodes = report__alloc(&w->pool, ROOM, sizeof *p->nodes);
    p->sites = report__alloc(&w->pool, ROOM, sizeof *p->sites);
    p->counters = report__alloc(&w->pool, ROOM, sizeof *p->counters);
    w->names.list = report__alloc(&w->pool, ROOM, sizeof *w->names.list);
    w->names.shown = report__alloc(&w->pool, ROOM, sizeof *w->names.shown);
    w->names.fragment =
        report__alloc(&w->pool, ROOM, sizeof *w->names.fragment);
    w->names.list[w->names.count++] = (struct report__shown){
        .name = "<top level>", .kind = MPROF_TOPLEVEL, .plumbing = true};
}

void world_stop(struct world *w) {
    report__pool_free(&w->pool);
}

uint32_t world_function(struct world *w, const char *name) {
    uint32_t i = w->profile.function_count++;
    w->profile.functions[i] = (struct report__function){
        .address = 1000 * ((uint64_t)i + 1), .module = MPROF_NONE};
    w->names.shown[i] = w->names.count;
    w->names.list[w->names.count++] = (struct report__shown){.name = name};
    return i;
}

uint32_t world_plumbing(struct world *w, const char *name) {
    uint32_t i = world_function(w, name);
    w->names.list[w->names.shown[i]].plumbing = true;
    return i;
}

uint32_t world_part(struct world *w, uint32_t whole, const char *symbol) {
    uint32_t i = world_function(w, NULL);
    w->names.shown[i] = w->names.shown[whole];
    w->names.fragment[i] = true;
    w->profile.functions[i].symbol = symbol;
    return i;
}

uint32_t world_node(struct world *w, uint32_t parent, uint32_t function) {
    uint32_t i = w->profile.node_count++;
    w->profile.nodes[i] = (struct report__node){w->profile.nodes[parent].thread,
                                                parent, function, MPROF_NONE};
    return i;
}

uint32_t world_thread(struct world *w, enum mprof_heap heap) {
    uint32_t t = w->profile.thread_count++, i = w->profile.node_count++;
    w->profile.threads[t].heap = heap;
    w->profile.nodes[i] =
        (struct report__node){t, MPROF_NONE, MPROF_NONE, MPROF_NONE};
    return i;
}

uint32_t world_site(struct world *w, uint32_t node, uint64_t offset) {
    uint32_t f = w->profile.nodes[node].function;
    uint32_t site = w->profile.site_count++;
    w->profile.sites[site] = (struct report__site){
        f, MPROF_NONE, w->profile.functions[f].address + offset};
    if (w->profile.nodes[node].site == MPROF_NONE)
        w->profile.nodes[node].site = site;
    return site;
}

void world_move(struct world *w, uint32_t site, uint32_t module,
                uint64_t address) {
    w->profile.sites[site].module = module;
    w->profile.sites[site].return_address = address;
}

void world_counter_at(struct world *w, uint32_t node, uint32_t site,
                      uint64_t allocs, uint64_t bytes, uint64_t frees,
                      uint64_t freed) {
    struct report__lived *lived = report__alloc(&w->pool, 1, sizeof *lived);
    lived->freed = (struct mprof_count){frees, freed};
    uint32_t thread = w->profile.nodes[node].thread;
    w->profile.counters[w->profile.counter_count++] = (struct report__counter){
        .node = node,
        .site = site,
        .heap = (uint8_t)w->profile.threads[thread].heap,
        .class_ = MPROF_SMALL,
        .allocated = {allocs, bytes},
        .lived = lived};
}

void world_counter(struct world *w, uint32_t node, uint64_t allocs,
                   uint64_t bytes, uint64_t frees, uint64_t freed) {
    world_counter_at(w, node, MPROF_NONE, allocs, bytes, frees, freed);
}

char *world_leaks_of(struct world *w, uint32_t thread,
                     struct report__context options) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    options.out = out;
    options.pool = &w->pool;
    options.part = options.profile = &w->profile;
    options.names = &w->names;
    options.thread = thread;
    report__print_leaks(&options);
    fclose(out);
    return text;
}

char *world_leaks(struct world *w, struct report__context options) {
    return world_leaks_of(w, MPROF_ALL_THREADS, options);
}

const char *world_path_in(const char *line) {
    static const char *const starts[] = {"|| >", "... >", "<TOTAL>"};
    size_t length = strcspn(line, "\n");

    for (size_t i = 0; i < 3; i++) {
        const char *found = strstr(line, starts[i]);
        if (found && found < line + length)
            return found;
    }
    return NULL;
}

void world_paths_equal(char *table, const char *expected) {
    char *line = strstr(table, " path\n"), *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(line);
    line = strchr(strchr(line, '\n') + 1, '\n') + 1;
    for (; *line; line = strchr(line, '\n') + 1) {
        const char *path = world_path_in(line);
        path = path ? path : line;
        fprintf(out, "%.*s\n", (int)strcspn(path, "\n"), path);
    }
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
    free(table);
}
