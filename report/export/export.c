/* export.c - from a profile to one of the formats. */
#include "report/export/export.h"
#include "report/graph/groups.h"
#include "report/graph/inlining.h"
#include "report/tables/findings.h"

static void take_file(uint32_t *files, const struct report__export *e,
                      uint32_t function, uint32_t place) {
    const struct report__places *places = &e->names->inlining->places;

    if (files[function] == 0)
        files[function] = report__place_at(places, place).a;
}

/* The places of FRAME, of the functions that it is inlined in, and of the real
 * one, which is FUNCTION; its call is at PLACE. */
static void take_frames(uint32_t *files, const struct report__export *e,
                        uint32_t frame, uint32_t function, uint32_t place) {
    while (frame != MPROF_NONE) {
        const struct report__inlined_frame *f =
            &e->names->inlining->frames[frame];
        take_file(files, e, f->function, place);
        place = f->call;
        frame = f->outer;
    }
    take_file(files, e, function, place);
}

const uint32_t *report__files_of(const struct report__export *e) {
    const struct report__profile *p = e->profile;
    const struct report__inlining *inlining = e->names->inlining;
    uint32_t *files =
        report__alloc(e->pool, report__all_functions(e->names), sizeof *files);

    for (uint32_t i = 0; inlining && i < p->edge_count; i++)
        take_frames(files, e, inlining->of_edge[i],
                    report__shown_of(
                        e->names, e->profile->nodes[p->edges[i].node].function),
                    inlining->edge_place[i]);
    for (uint32_t i = 0; inlining && i < p->node_count; i++)
        if (p->nodes[i].parent != MPROF_NONE)
            take_frames(
                files, e, inlining->of_caller[i],
                report__shown_of(
                    e->names, e->profile->nodes[p->nodes[i].parent].function),
                inlining->caller_place[i]);
    return files;
}

uint32_t report__file_count(const struct report__export *e) {
    return e->names->inlining ? e->names->inlining->places.file_count : 0;
}

const char **report__file_names(const struct report__export *e) {
    const struct report__inlining *inlining = e->names->inlining;
    uint32_t count = report__file_count(e);
    const char **names = report__alloc(e->pool, count + 1, sizeof *names);

    names[0] = "";
    for (uint32_t i = 0; i < count; i++)
        names[i + 1] = report__clean_name(e->pool, inlining->places.files[i]);
    return names;
}

const uint32_t *report__export_modules(const struct report__export *e) {
    return report__modules_of(e->pool, e->profile, e->names,
                              report__all_functions(e->names));
}

void report__put_findings(const struct report__export *e, const char *key) {
    const struct report__findings *found = report__find(&(
        struct report__context){.pool = e->pool,
                                .profile = e->profile,
                                .part = e->profile,
                                .names = e->names,
                                .heap = e->options->sampling.heap,
                                .all_frames = e->options->sampling.all_frames});

    for (uint32_t i = 0;
         report__put_list(e->out, key, i, found->sentence_count); i++) {
        const struct report__sentence *s = &found->sentences[i];
        for (uint32_t k = 0; k < s->count; k++) {
            const struct report__piece *piece = &s->pieces[k];
            putc(k > 0 ? ',' : '[', e->out);
            if (piece->function != MPROF_NONE)
                fprintf(e->out, "[%" PRIu32 ",", piece->function);
            report__put_text(e->out, e->pool, piece->text);
            fputs(piece->function != MPROF_NONE ? "]" : "", e->out);
        }
        putc(']', e->out);
    }
}

void report__export(FILE *out, const struct report__profile *profile,
                    const struct report__functions *names,
                    const struct report__difference *difference,
                    const struct report__export_options *options,
                    struct report__pool *pool) {
    static void (*const formats[])(const struct report__export *) = {
        [MPROF_EXPORT_FOLDED] = report__export_folded,
        [MPROF_EXPORT_PPROF] = report__export_pprof,
        [MPROF_EXPORT_SPEEDSCOPE] = report__export_speedscope,
        [MPROF_EXPORT_CALLGRIND] = report__export_callgrind,
        [MPROF_EXPORT_DHAT] = report__export_dhat,
        [MPROF_EXPORT_EMACS] = report__export_emacs,
        [MPROF_EXPORT_JSON] = report__export_json,
        [MPROF_EXPORT_TEXT] = report__export_text,
        [MPROF_EXPORT_SEXP] = report__export_sexp};
    const struct report__export e = {
        .out = out,
        .profile = profile,
        .names = names,
        .options = options,
        .samples =
            report__samples_open(pool, profile, names, &options->sampling),
        .pool = pool,
        .difference = difference};

    formats[options->format](&e);
}
