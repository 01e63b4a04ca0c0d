/* profile_json.c - JSON of our own, described in the manual page mprof(1): all
 * that the other formats have, by numbers into lists.
 */
#include <inttypes.h>

#include "report/export/chains.h"
#include "report/graph/lisp_types.h"

struct json {
    const struct report__export *e;
    FILE *out;
    struct report__chains *chains;
    struct report__lisp_types types;
    int count; /* of numbers */
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

    for (int i = 0; i < j->count; i++)
        fprintf(j->out, "%s\"%s\"", i ? "," : ",\n\"numbers\":[", numbers[i]);
    for (int i = 0; i < MPROF_CLASSES; i++)
        fprintf(j->out, "%s\"%s\"", i ? "," : "],\n\"classes\":[", classes[i]);
    putc(']', j->out);
}

/* Of Lisp: each has its kind of type, and is called so or as its class. */
static void put_types(const struct json *j) {
    fputs(",\n\"types\":[", j->out);
    for (uint32_t i = 0; i < j->types.count; i++) {
        const struct report__lisp_type *type = &j->types.list[i];
        fputs(i ? ",\n[" : "\n[", j->out);
        report__put_json(j->out, report__clean_name(j->e->pool, type->type));
        putc(',', j->out);
        report__put_json(j->out, report__clean_name(
                                     j->e->pool, report__lisp_type_name(type)));
        putc(']', j->out);
    }
    putc(']', j->out);
}

static void put_threads(const struct json *j) {
    const struct report__profile *p = j->e->profile;

    for (uint32_t i = 0; i < p->thread_count; i++) {
        fprintf(j->out, "%s\n{\"tid\":%" PRIu32 ",\"name\":",
                i ? "," : ",\n\"threads\":[", p->threads[i].tid);
        report__put_json(
            j->out, p->threads[i].name
                        ? report__clean_name(j->e->pool, p->threads[i].name)
                        : "");
        putc('}', j->out);
    }
    fputs(p->thread_count ? "]" : ",\n\"threads\":[]", j->out);
}

static void put_modules(const struct json *j) {
    const struct report__profile *p = j->e->profile;

    fputs(",\n\"modules\":[", j->out);
    for (uint32_t i = 0; i < p->module_count; i++) {
        fputs(i ? ",\n{\"path\":" : "\n{\"path\":", j->out);
        report__put_json(j->out,
                         report__clean_name(j->e->pool, p->modules[i].path));
        fprintf(j->out, ",\"buildId\":\"%s\"}",
                report__build_id(j->e->pool, &p->modules[i]));
    }
    putc(']', j->out);
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
    const uint32_t *modules = report__export_modules(j->e);
    uint32_t count = report__all_functions(names);

    fputs(",\n\"functions\":[", j->out);
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", j->out);
        report__put_json(j->out, clean[i]);
        fprintf(j->out, ",\"kind\":\"%s\"",
                i < names->count ? kind_of(&names->list[i]) : "other");
        if (modules[i] != MPROF_NONE)
            fprintf(j->out, ",\"module\":%" PRIu32, modules[i]);
        putc('}', j->out);
    }
    putc(']', j->out);
}

static void put_files(const struct json *j) {
    const char **names = report__file_names(j->e);
    uint32_t count = report__file_count(j->e);

    fputs(",\n\"files\":[", j->out);
    for (uint32_t i = 1; i <= count; i++) {
        fputs(i > 1 ? ",\n" : "\n", j->out);
        report__put_json(j->out, names[i]);
    }
    putc(']', j->out);
}

/* Files count from 0, -1 is none. */
static void put_frames(const struct json *j) {
    const struct report__pairs *frames = &j->chains->frames;

    fputs(",\n\"frames\":[", j->out);
    for (uint32_t i = 0; i < frames->count; i++) {
        const struct report__pair place =
            report__frame_place(j->e->names, frames->list[i].b);
        fprintf(j->out, "%s[%" PRIu32 ",%" PRId64 ",%" PRIu32 "]",
                i ? ",\n" : "\n", frames->list[i].a, (int64_t)place.a - 1,
                place.b);
    }
    putc(']', j->out);
}

/* Callers, -1 for none, and frames. */
static void put_chains(const struct json *j) {
    const struct report__pairs *list = &j->chains->list;

    fputs(",\n\"chains\":[", j->out);
    for (uint32_t i = 0; i < list->count; i++)
        fprintf(j->out, "%s[%" PRId64 ",%" PRIu32 "]", i ? ",\n" : "\n",
                (int64_t)list->list[i].a - 1, list->list[i].b);
    putc(']', j->out);
}

static void put_sample(void *data, const struct report__sample *s) {
    struct json *j = data;

    report__put_comma(j->out, &j->samples);
    fprintf(j->out, "\n[%" PRIu32 ",%" PRIu32 ",%" PRIu32,
            report__chain_of(j->chains, s), s->class_, s->thread);
    for (int i = 0; i < j->count; i++)
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
                     .count = report__numbers_of(heap)};

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
