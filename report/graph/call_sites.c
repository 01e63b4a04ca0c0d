/* call_sites.c - the calls in the frames of a profile. */
#include "report/graph/call_sites.h"

struct report__call_sites {
    struct report__pool *pool;
    const struct report__profile *profile;
    const struct report__functions *names;
    bool places; /* they are wanted */
    /* By site. */
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
                             uint32_t number) {
    const struct report__site *site = &profile->sites[number];
    return site->module == MPROF_NONE
               ? site->return_address
               : site->return_address - profile->modules[site->module].bias;
}

/* The code of an interpreted function is the interpreter's; the source of a
 * Lisp function is what ECL made of it. */
static void look_up(struct report__call_sites *s, uint32_t site,
                    struct report__inlined *inlined) {
    const struct report__site *at = &s->profile->sites[site];
    enum mprof_function_kind kind = s->profile->functions[at->function].kind;
    struct report__inline *list = NULL;

    if (!mprof_is_native(kind))
        return;
    struct report__symbols *symbols = report__call_sites_symbols(s, at->module);
    if (symbols)
        inlined->count = report__symbols_inlines(
            symbols, s->pool, report__elf_address(s->profile, site) - 1, &list,
            s->places && kind == MPROF_C ? &inlined->place : NULL);
    inlined->list = list;
}

const struct report__inlined *
report__inlined_around(struct report__call_sites *sites, uint32_t site) {
    static const struct report__inlined nothing;

    if (site == MPROF_NONE)
        return &nothing;
    if (!sites->looked_up[site])
        look_up(sites, site, &sites->inlined[site]);
    sites->looked_up[site] = true;
    return &sites->inlined[site];
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
    s->inlined = report__alloc(pool, profile->site_count, sizeof *s->inlined);
    s->looked_up = report__alloc(pool, profile->site_count, sizeof(bool));
    s->symbols = report__alloc(pool, profile->module_count, sizeof *s->symbols);
    s->opened = report__alloc(pool, profile->module_count, sizeof *s->opened);
    return s;
}

void report__call_sites_close(struct report__call_sites *sites) {
    for (uint32_t m = 0; m < sites->profile->module_count; m++)
        report__symbols_close(sites->symbols[m]);
}
