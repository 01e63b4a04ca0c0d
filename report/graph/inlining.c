/* inlining.c - functions that the compiler inlined, as frames of the trees. */
#include "report/graph/inlining.h"

#include <inttypes.h>
#include <string.h>

#include "report/base/dictionary.h"
#include "report/graph/call_sites.h"

struct search {
    struct report__pool *pool;
    const struct report__profile *profile;
    struct report__functions *names;
    struct report__call_sites *sites;
    struct report__inlining *out;
    struct report__dictionary functions, frames;
    size_t function_capacity, frame_capacity;
};

static uint32_t function_of(struct search *s, uint32_t module,
                            const char *name) {
    struct report__functions *names = s->names;
    const char *key = report__format(
        s->pool, "%" PRIu32 ":%s",
        module == MPROF_NONE ? module : names->module_id[module], name);
    uint32_t function =
        report__intern(s->pool, &s->functions, key, names->count);

    if (function < names->count)
        return function;
    names->list = report__grow(s->pool, names->list, names->count,
                               &s->function_capacity, sizeof *names->list);
    names->list[names->count++] = (struct report__shown){
        .name = report__format(s->pool, "%s" MPROF_INLINED, name),
        .kind = MPROF_C,
        .is_inlined = true,
        .is_cxx = strpbrk(name, "(:") != NULL,
        .module = module == MPROF_NONE ? module : names->module_id[module]};
    return function;
}

static uint32_t frame_of(struct search *s, uint32_t outer, uint32_t function,
                         uint32_t call) {
    struct report__inlining *out = s->out;
    const char *key = report__format(
        s->pool, "%" PRIu32 ":%" PRIu32 ":%" PRIu32, outer, function, call);
    uint32_t frame = report__intern(s->pool, &s->frames, key, out->count);

    if (frame < out->count)
        return frame;
    REPORT__PUSH(s->pool, out->frames, out->count, s->frame_capacity,
                 (struct report__inlined_frame){outer, function, call});
    return frame;
}

/* Set the innermost frame of the call at SITE, and its place in that. */
static void find_frame(struct search *s, uint32_t site) {
    struct report__places *places = &s->out->places;
    const struct report__inlined *inlined =
        report__inlined_around(s->sites, site);
    uint32_t frame = MPROF_NONE;

    for (uint32_t i = 0; i < inlined->count; i++)
        frame = frame_of(
            s, frame,
            function_of(s, s->profile->sites[site].module,
                        inlined->list[i].name),
            report__place_number(s->pool, places, &inlined->list[i].call));
    s->out->of_site[site] = frame;
    s->out->site_place[site] =
        report__place_number(s->pool, places, &inlined->place);
}

/* Where the functions of Lisp were defined, whose lines are not known. */
static void place_lisp(struct search *s) {
    const struct report__place *sources = s->names->sources;

    for (uint32_t i = 0; i < s->profile->function_count; i++)
        s->out->defined[i] =
            report__place_number(s->pool, &s->out->places, &sources[i]);
}

void report__find_inlining(struct report__pool *pool,
                           const struct report__profile *profile,
                           struct report__functions *names, bool places) {
    struct search s = {.pool = pool,
                       .profile = profile,
                       .names = names,
                       .function_capacity = names->count};
    const uint32_t sites = profile->site_count;

    s.out = report__alloc(pool, 1, sizeof *s.out);
    s.out->of_site = report__alloc(pool, sites, sizeof(uint32_t));
    s.out->site_place = report__alloc(pool, sites, sizeof(uint32_t));
    s.out->defined =
        report__alloc(pool, profile->function_count, sizeof(uint32_t));
    s.sites = report__call_sites_open(pool, profile, names, places);
    for (uint32_t i = 0; i < sites; i++)
        find_frame(&s, i);
    report__call_sites_close(s.sites);
    if (places) {
        if (!names->sources)
            names->sources = report__find_sources(pool, profile);
        place_lisp(&s);
    }
    names->inlining = s.out;
}

static uint32_t file_number(struct report__pool *pool, struct report__places *p,
                            const char *file) {
    uint32_t number = report__intern(pool, &p->numbers, file, p->file_count);

    if (number < p->file_count)
        return number;
    REPORT__PUSH(pool, p->files, p->file_count, p->capacity,
                 report__copy(pool, file, strlen(file)));
    return number;
}

uint32_t report__place_number(struct report__pool *pool,
                              struct report__places *places,
                              const struct report__place *place) {
    if (!place->file)
        return 0;
    report__pair_number(pool, &places->pairs, 0, 0);
    return report__pair_number(pool, &places->pairs,
                               file_number(pool, places, place->file) + 1,
                               place->line);
}

static void set_file(struct report__pool *pool, const char **file,
                     const struct report__place *place) {
    if (!*file && place->file)
        *file = report__copy(pool, place->file, strlen(place->file));
}

const char **report__source_files(struct report__pool *pool,
                                  const struct report__profile *p,
                                  const struct report__functions *names) {
    const char **files = report__alloc(pool, names->count, sizeof *files);
    struct report__call_sites *sites =
        report__call_sites_open(pool, p, names, true);

    for (uint32_t i = 0; i < p->function_count; i++)
        if (p->functions[i].file)
            files[names->shown[i]] = p->functions[i].file;
    for (uint32_t i = 0; i < p->site_count; i++) {
        uint32_t frame =
            names->inlining ? names->inlining->of_site[i] : MPROF_NONE;
        const struct report__inlined *around = report__inlined_around(sites, i);
        struct report__place place = around->place;
        for (uint32_t k = around->count; k-- > 0;
             place = around->list[k].call) {
            if (frame == MPROF_NONE)
                continue;
            set_file(pool, &files[names->inlining->frames[frame].function],
                     &place);
            frame = names->inlining->frames[frame].outer;
        }
        set_file(pool, &files[names->shown[p->sites[i].function]], &place);
    }
    report__call_sites_close(sites);
    return files;
}
