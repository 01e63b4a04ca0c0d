/* profile_json.c - all numbers as JSON of our own, see mprof-export(1): lists
 * whose members refer to each other by their numbers.
 */
#include <inttypes.h>

#include "report/export/chains.h"
#include "report/graph/lisp_types.h"

struct json {
    const struct report__export *e;
    FILE *out;
    struct report__chains *chains;
    struct report__lisp_types types;
    uint32_t count; /* of numbers */
    unsigned long samples;
};

static void put_lists(const struct json *j) {
    static const char *const numbers[MPROF_NUMBERS] = {
        [MPROF_NUMBER_ALLOCS] = "allocs",
        [MPROF_NUMBER_BYTES] = "bytes",
        [MPROF_NUMBER_KEPT_ALLOCS] = "keptAllocs",
        [MPROF_NUMBER_KEPT_BYTES] = "keptBytes",
        [MPROF_NUMBER_PEAK_ALLOCS] = "peakAllocs",
        [MPROF_NUMBER_PEAK_BYTES] = "peakBytes",
        [MPROF_NUMBER_TEMPORARY] = "temporary"};
    const char *const *classes =
        report__class_names[j->e->options->sampling.heap];

    for (uint32_t i = 0; report__put_list(j->out, "numbers", i, j->count); i++)
        report__put_json(j->out, numbers[i]);
    for (uint32_t i = 0; report__put_list(j->out, "classes", i, MPROF_CLASSES);
         i++)
        report__put_json(j->out, classes[i]);
}

/* Of Lisp: each has its kind of type, and is called so or as its class. */
static void put_types(const struct json *j) {
    for (uint32_t i = 0; report__put_list(j->out, "types", i, j->types.count);
         i++) {
        const struct report__lisp_type *type = &j->types.list[i];
        putc('[', j->out);
        report__put_text(j->out, j->e->pool, type->type);
        putc(',', j->out);
        report__put_text(j->out, j->e->pool, report__lisp_type_name(type));
        putc(']', j->out);
    }
}

static void put_threads(const struct json *j) {
    const struct report__profile *p = j->e->profile;

    for (uint32_t i = 0;
         report__put_list(j->out, "threads", i, p->thread_count); i++) {
        fprintf(j->out, "{\"tid\":%" PRIu32 ",\"name\":", p->threads[i].tid);
        report__put_text(j->out, j->e->pool, p->threads[i].name ?: "");
        putc('}', j->out);
    }
}

static void put_modules(const struct json *j) {
    const struct report__profile *p = j->e->profile;

    for (uint32_t i = 0;
         report__put_list(j->out, "modules", i, p->module_count); i++) {
        fputs("{\"path\":", j->out);
        report__put_text(j->out, j->e->pool, p->modules[i].path);
        fprintf(j->out, ",\"buildId\":\"%s\"}",
                report__build_id(j->e->pool, &p->modules[i]));
    }
}

static const char *kind_of(const struct report__shown *function) {
    if (function->is_inlined)
        return "inlined";
    switch (function->kind) {
    case MPROF_C:
        return "c";
    case MPROF_LISP:
    case MPROF_ENTRY:
        return "lisp";
    case MPROF_INTERPRETED:
        return "interpreted";
    default:
        return "other";
    }
}

static void put_functions(const struct json *j) {
    const struct report__functions *names = j->e->names;
    const char **clean = report__clean_names(j->e->pool, names, true);
    const uint32_t *modules =
        report__modules_of(j->e->pool, j->e->profile, j->e->names,
                           report__all_functions(j->e->names));
    uint32_t count = report__all_functions(names);

    for (uint32_t i = 0; report__put_list(j->out, "functions", i, count); i++) {
        fputs("{\"name\":", j->out);
        report__put_json(j->out, clean[i]);
        fprintf(j->out, ",\"kind\":\"%s\"",
                i < names->count ? kind_of(&names->list[i]) : "other");
        if (modules[i] != MPROF_NONE)
            fprintf(j->out, ",\"module\":%" PRIu32, modules[i]);
        putc('}', j->out);
    }
}

static void put_files(const struct json *j) {
    const char **names = report__file_names(j->e);
    const uint32_t count = report__file_count(j->e);

    for (uint32_t i = 0; report__put_list(j->out, "files", i, count); i++)
        report__put_json(j->out, names[i + 1]);
}

/* Files count from 0, -1 is none. */
static void put_frames(const struct json *j) {
    const struct report__pairs *frames = &j->chains->frames;

    for (uint32_t i = 0; report__put_list(j->out, "frames", i, frames->count);
         i++) {
        const struct report__pair place =
            report__frame_place(j->e->names, frames->list[i].b);
        fprintf(j->out, "[%" PRIu32 ",%" PRId64 ",%" PRIu32 "]",
                frames->list[i].a, (int64_t)place.a - 1, place.b);
    }
}

/* Callers, -1 for none, and frames. */
static void put_chains(const struct json *j) {
    const struct report__pairs *list = &j->chains->list;

    for (uint32_t i = 0; report__put_list(j->out, "chains", i, list->count);
         i++)
        fprintf(j->out, "[%" PRId64 ",%" PRIu32 "]",
                (int64_t)list->list[i].a - 1, list->list[i].b);
}

static void put_sample(void *data, const struct report__sample *s) {
    struct json *j = data;

    report__put_comma(j->out, &j->samples);
    fprintf(j->out, "\n[%" PRIu32 ",%" PRIu32 ",%" PRIu32,
            report__chain_of(j->chains, s), s->class_, s->thread);
    for (uint32_t i = 0; i < j->count; i++)
        fprintf(j->out, ",%" PRIu64, s->numbers[i]);
    if (j->e->options->sampling.heap == MPROF_LISP_HEAP)
        fprintf(j->out, ",%" PRId64,
                s->bin == MPROF_NONE ? -1 : (int64_t)j->types.of_bin[s->bin]);
    putc(']', j->out);
}

void report__export_json(const struct report__export *e) {
    enum mprof_heap heap = e->options->sampling.heap;
    struct json j = {.e = e,
                     .out = e->out,
                     .chains = report__make_chains(e, true),
                     .types = report__lisp_types(e->pool, e->profile),
                     .count = (uint32_t)report__numbers_of(heap)};

    fputs("{\"format\":\"mprof-chains\",\"version\":1,\n\"command\":", e->out);
    report__put_json(e->out, report__what_ran(e->pool, e->profile));
    fprintf(e->out,
            ",\n\"pid\":%" PRIu32 ",\"startTime\":%" PRIu64
            ",\"duration\":%" PRIu64 ",\"heap\":\"%s\"",
            e->profile->pid, e->profile->start_time, e->profile->duration,
            heap == MPROF_C_HEAP ? "c" : "lisp");
    if (report__sampling(e->profile, heap) != 0)
        fprintf(e->out, ",\"sampling\":%" PRIu32, e->profile->sampling);
    put_lists(&j);
    report__put_findings(e, "findings");
    report__put_kept(e, "keptBy");
    if (heap == MPROF_LISP_HEAP)
        put_types(&j);
    put_threads(&j);
    put_modules(&j);
    put_functions(&j);
    put_files(&j);
    put_frames(&j);
    put_chains(&j);
    fputs(",\n\"samples\":[", e->out);
    report__each_sample(e->samples, put_sample, &j);
    fputs("]}\n", e->out);
}
