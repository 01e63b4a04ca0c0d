/* export.c - from a profile to one of the formats. */
#include "report/export/export.h"
#include "report/graph/inlining.h"
#include "report/tables/findings.h"

struct files {
    const struct report__export *e;
    uint32_t *by_function;
};

static void take_files(void *data, const struct report__sample *sample) {
    const struct files *f = data;

    for (uint32_t i = 0; i < sample->depth; i++) {
        const struct report__frame *frame = &sample->frames[i];
        uint32_t *file = &f->by_function[frame->function];
        if (*file == 0)
            *file = report__frame_place(f->e->names, frame->place).a;
    }
}

const uint32_t *report__files_of(const struct report__export *e) {
    struct files f = {e, report__alloc(e->pool, report__all_functions(e->names),
                                       sizeof *f.by_function)};

    report__each_sample(e->samples, take_files, &f);
    return f.by_function;
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

static struct report__context context_of(const struct report__export *e) {
    return (struct report__context){.pool = e->pool,
                                    .profile = e->profile,
                                    .part = e->profile,
                                    .names = e->names,
                                    .heap = e->options->sampling.heap,
                                    .thread = MPROF_ALL_THREADS,
                                    .choice = {.verbosity = MPROF_NORMAL},
                                    .all_frames =
                                        e->options->sampling.all_frames};
}

void report__put_kept(const struct report__export *e, const char *key) {
    const struct report__context c = context_of(e);
    uint32_t count = 0;
    const struct report__kept_row *rows =
        c.part->looked >> c.heap & 1 ? report__kept_rows(&c, &count) : NULL;

    for (uint32_t i = 0; report__put_list(e->out, key, i, count); i++) {
        fprintf(e->out, "[%" PRIu32 ",", rows[i].level);
        report__put_text(e->out, e->pool, rows[i].text);
        fprintf(e->out, ",%" PRIu64 ",%" PRIu64, rows[i].all.bytes,
                rows[i].all.allocs);
        if (rows[i].function == MPROF_NONE)
            fputs(",-1]", e->out);
        else
            fprintf(e->out, ",%" PRIu32 "]", rows[i].function);
    }
}

void report__put_findings(const struct report__export *e, const char *key) {
    const struct report__context c = context_of(e);
    const struct report__findings *found = report__find(&c);

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
