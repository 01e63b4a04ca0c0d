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
    uint32_t *edges;                  /* room for those of one node */
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
    const struct report__edge *e = &profile->edges[edge];
    return e->module == MPROF_NONE
               ? e->return_address
               : e->return_address - profile->modules[e->module].bias;
}

/* The code of an interpreted function is the interpreter's. */
static bool is_in_own_code(const struct report__call_sites *s, uint32_t node) {
    uint32_t function = s->profile->nodes[node].function;
    if (function == MPROF_NONE)
        return false;
    return mprof_is_native(s->profile->functions[function].kind);
}

static const struct report__inlined *inlined_at(struct report__call_sites *s,
                                                uint32_t edge) {
    const struct report__edge *e = &s->profile->edges[edge];
    struct report__inlined *inlined = &s->inlined[edge];

    if (s->looked_up[edge])
        return inlined;
    s->looked_up[edge] = true;
    if (!is_in_own_code(s, e->node))
        return inlined;
    struct report__symbols *symbols = report__call_sites_symbols(s, e->module);
    if (symbols)
        inlined->count = report__symbols_inlines(
            symbols, s->pool, report__elf_address(s->profile, edge) - 1,
            &inlined->names);
    return inlined;
}

static bool same(const struct report__inlined *a,
                 const struct report__inlined *b) {
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (strcmp(a->names[i], b->names[i]) != 0)
            return false;
    return true;
}

struct report__inlined report__inlined_around(struct report__call_sites *sites,
                                              const uint32_t *edges,
                                              uint32_t count) {
    static const struct report__inlined none;

    if (count == 0)
        return none;
    const struct report__inlined *first = inlined_at(sites, edges[0]);
    for (uint32_t i = 1; first->count > 0 && i < count; i++)
        if (!same(first, inlined_at(sites, edges[i])))
            return none;
    return *first;
}

/* Whether the call at EDGE may be the one that led to CHILD. */
static enum report__answer leads_to(struct report__call_sites *s, uint32_t edge,
                                    uint32_t child) {
    uint32_t function = s->profile->nodes[child].function;
    const struct report__function *f = &s->profile->functions[function];
    struct report__symbols *symbols =
        report__call_sites_symbols(s, s->profile->edges[edge].module);

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
                        const struct report__functions *names) {
    struct report__call_sites *s = report__alloc(pool, 1, sizeof *s);

    s->pool = pool;
    s->profile = profile;
    s->names = names;
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
