/* call_sites.c - the calls in the frames of a profile. */
#include "report/elf/symbols.h"
#include "report/graph/call_sites.h"

#include <string.h>

#include "report/elf/calls.h"

/* From where on all calls of a node are taken to lead to each of its
 * children, to save time. */
enum { MOST_SITES = 1000 };

struct report__call_sites {
    struct report__pool *pool;
    const struct report__profile *profile;
    const struct report__functions *names;
    uint32_t *first_edge, *next_edge; /* the edges of each node */
    uint32_t *edges;                  /* memory for one node's */
    bool places;                      /* they are wanted */
    /* By edge. */
    struct report__inlined *inlined;
    bool *looked_up;
    /* By module, the first of each file. */
    struct report__symbols **symbols;
    bool *opened;
};

struct report__symbols *report__call_sites_symbols(struct report__call_sites *s,
                                                   uint32_t module) {
    if (module == MPROF_NONE)
        return NULL;
    module = s->profile->modules[module].file;
    if (!s->opened[module]) {
        s->symbols[module] = report__symbols_open(
            &s->profile->modules[module],
            report__program_path(s->profile, module, s->names->program));
        s->opened[module] = true;
    }
    return s->symbols[module];
}

uint64_t report__elf_address(const struct report__profile *profile,
                             uint32_t edge) {
    const struct report__site *site = report__site_of(profile, edge);
    return site->module == MPROF_NONE
               ? site->return_address
               : site->return_address - profile->modules[site->module].bias;
}

static enum mprof_function_kind kind_of(const struct report__call_sites *s,
                                        uint32_t node) {
    uint32_t function = s->profile->nodes[node].function;
    return function == MPROF_NONE ? MPROF_UNKNOWN
                                  : s->profile->functions[function].kind;
}

/* The code of an interpreted function is the interpreter's; the source of a
 * Lisp function is what ECL made of it. */
static const struct report__inlined *inlined_at(struct report__call_sites *s,
                                                uint32_t edge) {
    enum mprof_function_kind kind = kind_of(s, s->profile->edges[edge].node);
    struct report__inlined *inlined = &s->inlined[edge];
    struct report__inline *list = NULL;

    if (s->looked_up[edge])
        return inlined;
    s->looked_up[edge] = true;
    if (!mprof_is_native(kind))
        return inlined;
    struct report__symbols *symbols = report__call_sites_symbols(
        s, report__site_of(s->profile, edge)->module);
    if (symbols)
        inlined->count = report__symbols_inlines(
            symbols, s->pool, report__elf_address(s->profile, edge) - 1, &list,
            s->places && kind == MPROF_C ? &inlined->place : NULL);
    inlined->list = list;
    return inlined;
}

static bool same_functions(const struct report__inlined *a,
                           const struct report__inlined *b) {
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (strcmp(a->list[i].name, b->list[i].name) != 0)
            return false;
    return true;
}

static struct report__place common(struct report__place a,
                                   struct report__place b) {
    static const struct report__place unknown;

    return a.file && b.file && a.line == b.line && strcmp(a.file, b.file) == 0
               ? a
               : unknown;
}

/* *INLINED without its functions: the place is in the real one. */
static void drop_functions(struct report__inlined *inlined) {
    if (inlined->count > 0)
        inlined->place = inlined->list[0].call;
    inlined->count = 0;
}

/* *SUM becomes what it has in common with OTHER. */
static void restrict_to(struct report__call_sites *s,
                        struct report__inlined *sum,
                        struct report__inlined other) {
    if (!same_functions(sum, &other)) {
        drop_functions(sum);
        drop_functions(&other);
    }
    sum->place = common(sum->place, other.place);
    if (!s->places || sum->count == 0)
        return;
    struct report__inline *list =
        report__alloc(s->pool, sum->count, sizeof *list);
    for (uint32_t i = 0; i < sum->count; i++) {
        list[i] = sum->list[i];
        list[i].call = common(list[i].call, other.list[i].call);
    }
    sum->list = list;
}

struct report__inlined report__inlined_around(struct report__call_sites *sites,
                                              const uint32_t *edges,
                                              uint32_t count) {
    struct report__inlined all = {NULL, 0, {NULL, 0}};

    if (count > 0)
        all = *inlined_at(sites, edges[0]);
    for (uint32_t i = 1; i < count && (all.count > 0 || all.place.file); i++)
        restrict_to(sites, &all, *inlined_at(sites, edges[i]));
    return all;
}

/* Whether the call at EDGE may be the one that led to CHILD. */
static enum report__answer leads_to(struct report__call_sites *s, uint32_t edge,
                                    uint32_t child) {
    uint32_t function = s->profile->nodes[child].function;
    const struct report__function *f = &s->profile->functions[function];
    struct report__symbols *symbols = report__call_sites_symbols(
        s, report__site_of(s->profile, edge)->module);

    if (!symbols || !mprof_is_native(f->kind))
        return MPROF_UNDECIDED;
    return report__symbols_is_call(
        symbols, report__elf_address(s->profile, edge),
        report__call_sites_symbols(s, f->module), f->address);
}

uint32_t report__calls_to(struct report__call_sites *s, uint32_t child,
                          const uint32_t **edges, bool *all) {
    uint32_t node = s->profile->nodes[child].parent, count = 0, kept = 0;

    *edges = s->edges;
    for (uint32_t e = s->first_edge[node]; e != MPROF_NONE; e = s->next_edge[e])
        s->edges[count++] = e;
    *all = true;
    if (count < 2 || count > MOST_SITES)
        return count;
    for (uint32_t i = 0; i < count; i++)
        if (leads_to(s, s->edges[i], child) != MPROF_NO) {
            uint32_t edge = s->edges[kept];
            s->edges[kept++] = s->edges[i];
            s->edges[i] = edge;
        }
    *all = kept == 0 || kept == count;
    return kept ? kept : count;
}

static void index_edges(struct report__call_sites *s) {
    const struct report__profile *p = s->profile;
    uint32_t *count = report__alloc(s->pool, p->node_count, sizeof *count);
    uint32_t most = 1;

    s->first_edge = report__alloc(s->pool, p->node_count, sizeof(uint32_t));
    s->next_edge = report__alloc(s->pool, p->edge_count, sizeof(uint32_t));
    memset(s->first_edge, 0xff, p->node_count * sizeof(uint32_t));
    for (uint32_t e = p->edge_count; e-- > 0;) {
        s->next_edge[e] = s->first_edge[p->edges[e].node];
        s->first_edge[p->edges[e].node] = e;
        if (++count[p->edges[e].node] > most)
            most = count[p->edges[e].node];
    }
    s->edges = report__alloc(s->pool, most, sizeof *s->edges);
}

struct report__call_sites *
report__call_sites_open(struct report__pool *pool,
                        const struct report__profile *profile,
                        const struct report__functions *names, bool places) {
    struct report__call_sites *s = report__alloc(pool, 1, sizeof *s);

    s->pool = pool;
    s->profile = profile;
    s->names = names;
    s->places = places;
    s->inlined = report__alloc(pool, profile->edge_count, sizeof *s->inlined);
    s->looked_up = report__alloc(pool, profile->edge_count, sizeof(bool));
    s->symbols = report__alloc(pool, profile->module_count, sizeof *s->symbols);
    s->opened = report__alloc(pool, profile->module_count, sizeof *s->opened);
    index_edges(s);
    return s;
}

void report__call_sites_close(struct report__call_sites *sites) {
    for (uint32_t m = 0; m < sites->profile->module_count; m++)
        report__symbols_close(sites->symbols[m]);
}
