/* heap.c - the numbers of one heap as JSON, which model.js reads.  Columns have
 * the numbers of many rows; frequent things get small numbers.
 */
#include <inttypes.h>
#include <string.h>

#include "report/base/dictionary.h"
#include "report/export/export.h"
#include "report/graph/graph.h"
#include "report/graph/groups.h"
#include "report/html/page.h"
#include "report/html/tree.h"
#include "report/tables/tables.h"

/* Hostile names have more. */
enum { MOST_GROUPS = 1000 };

struct put {
    FILE *out;
    const struct report__html_heap *heap;
    const struct report__export *e;
    const struct report__lisp_types *types; /* Lisp's, by number */
    const struct report__html_tree *tree;
};

static void put_text(const struct put *p, const char *text) {
    report__put_text(p->out, p->e->pool, text);
}

static void put_name(const struct put *p, const char *key, const char *text) {
    fprintf(p->out, ",\n\"%s\":", key);
    put_text(p, text);
}

/* A row of numbers, number *COUNT from 0 on. */
#define ROW(p, count, ...)                                                     \
    put_row(p, count, (const uint64_t[]){__VA_ARGS__},                         \
            sizeof(uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))
static void put_row(const struct put *p, unsigned long *count,
                    const uint64_t *numbers, size_t size) {
    report__put_comma(p->out, count);
    for (size_t i = 0; i < size; i++)
        fprintf(p->out, "%c%" PRIu64, i > 0 ? ',' : '[', numbers[i]);
    putc(']', p->out);
}

/* A column of COUNT numbers, where I counts, behind BEFORE. */
#define COLUMN(p, before, name, i, count, number)                              \
    do {                                                                       \
        fprintf((p)->out, "%s\n\"%s\":[", before, name);                       \
        for (uint32_t i = 0; i < (count); i++)                                 \
            fprintf((p)->out, i > 0 ? ",%" PRIu64 : "%" PRIu64,                \
                    (uint64_t)(number));                                       \
    } while (0)

/* The lines of TEXT. */
static void put_header(const struct put *p) {
    const char *at = p->heap->header;

    fputs(",\n\"header\":[", p->out);
    for (size_t length; *at != '\0'; at += length + (at[length] == '\n')) {
        length = strcspn(at, "\n");
        fputs(at > p->heap->header ? "," : "", p->out);
        put_text(p, report__copy(p->e->pool, at, length));
    }
    putc(']', p->out);
}

static void put_threads(const struct put *p) {
    const struct report__profile *profile = p->heap->profile;

    for (uint32_t i = 0;
         report__put_list(p->out, "threads", i, profile->thread_count); i++)
        report__put_json(p->out,
                         report__thread_name(p->e->pool, &profile->threads[i]));
}

/* Functions */

/* With the packages and files that they are in: numbers from 1 on. */
static void put_functions(const struct put *p) {
    const struct report__functions *names = p->heap->names;
    const char **clean = report__clean_names(p->e->pool, names, false);
    const enum report__origin *origins =
        report__origins(p->e->pool, p->heap->profile, names);
    const char **group_names =
        report__groups_of(p->e->pool, p->heap->profile, names);
    const uint32_t count = report__all_functions(names);
    const char *groups[MOST_GROUPS];
    struct report__dictionary numbers = {.slots = NULL};
    uint32_t group_count = 0;

    for (uint32_t i = 0; report__put_list(p->out, "functions", i, count + 1);
         i++) {
        const bool is_one = i < names->count;
        putc('[', p->out);
        report__put_json(p->out, i < count ? clean[i] : "<smaller>");
        const bool has_group = is_one && *group_names[i] != '\0';
        uint32_t group = has_group
                             ? report__intern(p->e->pool, &numbers,
                                              group_names[i], group_count + 1)
                             : 0;
        if (group > group_count && group_count < MOST_GROUPS)
            groups[group_count++] = group_names[i];
        fprintf(p->out, ",%d,%" PRIu32 "]",
                (int)(is_one ? origins[i] : MPROF_FROM_NOWHERE),
                group > group_count ? 0 : group);
    }
    for (uint32_t i = 0; report__put_list(p->out, "groups", i, group_count);
         i++)
        put_text(p, groups[i]);
}

/* Columns */

static void put_tree(const struct put *p) {
    const struct report__html_tree *t = p->tree;

    fprintf(p->out,
            ",\n\"leftOut\":%" PRIu32 ",\"leftOutBytes\":%" PRIu64
            ",\n\"tree\":{",
            t->left_out, t->left_out_bytes);
    COLUMN(p, "", "up", i, t->node_count, t->nodes[i].up);
    COLUMN(p, "],", "function", i, t->node_count, t->nodes[i].function);
    fputs("]}", p->out);
}

static void put_samples(const struct put *p) {
    /* In the order of enum report__number; of Lisp, what is alive. */
    static const char *const names[MPROF_NUMBERS] = {
        "allocs",     "bytes", "keptAllocs", "kept",
        "peakAllocs", "peak",  "temporary"};
    static const char *const alive_names[MPROF_NUMBERS] = {
        [MPROF_NUMBER_KEPT_ALLOCS] = "aliveAllocs",
        [MPROF_NUMBER_KEPT_BYTES] = "alive"};
    const struct report__html_sample *s = p->tree->samples;
    const uint32_t count = p->tree->sample_count;
    const enum mprof_heap heap = p->heap->sampling.heap;

    COLUMN(p, ",\n\"samples\":{", "node", i, count,
           s[i].node - (i > 0 ? s[i - 1].node : 0));
    COLUMN(p, "],", "class", i, count, s[i].class_);
    COLUMN(p, "],", "thread", i, count, s[i].thread);
    if (heap == MPROF_LISP_HEAP)
        COLUMN(p, "],", "type", i, count,
               s[i].type == MPROF_NONE ? 0 : s[i].type + UINT64_C(1));
    for (int k = 0; k < MPROF_NUMBERS; k++) {
        const char *name = k < report__numbers_of(heap)    ? names[k]
                           : p->e->options->sampling.alive ? alive_names[k]
                                                           : NULL;
        if (name)
            COLUMN(p, "],", name, i, count, s[i].numbers[k]);
    }
    fputs("]}", p->out);
}

/* Write rows of a function, a file, a line, and numbers like a sample's. */
static void put_lines(const struct put *p) {
    const char **files = report__file_names(p->e);
    const uint32_t file_count = report__file_count(p->e);
    const struct report__pairs *places = &p->tree->places;
    unsigned long count = 0;

    for (uint32_t i = 0; report__put_list(p->out, "files", i, file_count); i++)
        report__put_json(p->out, files[i + 1]);
    fputs(",\n\"lines\":[", p->out);
    for (uint32_t i = 0; i < places->count; i++) {
        const struct report__pair place =
            report__frame_place(p->e->names, places->list[i].b);
        const uint64_t *n = p->tree->lines[i].numbers;
        if (place.b > 0)
            ROW(p, &count, places->list[i].a, place.a - 1, place.b, n[0], n[1],
                n[2], n[3], n[4], n[5], n[6]);
    }
    putc(']', p->out);
    report__put_source(p->e, p->tree);
}

/* Write the tables' numbers, which are exact even for unknown chains: rows of a
 * function, its allocations and bytes; and of arcs, with both functions. */
static void put_exact(const struct put *p) {
    const struct report__graph *graph = report__graph_build(
        p->e->pool, p->heap->profile, p->heap->names, p->heap->sampling.heap,
        MPROF_ALL_THREADS, p->heap->sampling.all_frames);
    unsigned long count = 0;

    fputs(",\n\"totals\":[", p->out);
    for (uint32_t i = 0; i < p->heap->names->count; i++) {
        const struct report__counts *total = &graph->vertices[i].total;
        if (report__allocs(total) == 0 && report__bytes(total) == 0)
            continue;
        ROW(p, &count, i, report__allocs(total), report__bytes(total));
    }
    fputs("],\n\"arcs\":[", p->out);
    count = 0;
    for (uint32_t i = 0; i < graph->arc_count; i++) {
        const struct report__arc *arc = &graph->arcs[i];
        ROW(p, &count, arc->caller, arc->callee, report__allocs(&arc->counts),
            report__bytes(&arc->counts));
    }
    putc(']', p->out);
}

/* Types and sizes */

/* In the order of their numbers, which samples have from 1 on. */
static void put_types(const struct put *p) {
    const struct report__profile *profile = p->heap->profile;
    const struct report__lisp_types *types = p->types;
    struct report__bin *sums =
        report__alloc(p->e->pool, types->count, sizeof *sums);

    for (uint32_t i = 0; i < profile->bin_count; i++) {
        const struct report__bin *bin = &profile->bins[i];
        struct report__bin *sum = &sums[types->of_bin[i]];
        sum->class_ = bin->class_;
        report__add_count(&sum->objects, &bin->objects);
        report__add_count(&sum->storage, &bin->storage);
    }
    for (uint32_t i = 0; report__put_list(p->out, "types", i, types->count);
         i++) {
        const struct report__lisp_type *type = &types->list[i];
        const struct mprof_count o = sums[i].objects, s = sums[i].storage;
        putc('[', p->out);
        put_text(p, type->type);
        putc(',', p->out);
        put_text(p, type->name ?: "");
        fprintf(p->out, ",%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
                (int)sums[i].class_, o.allocs + s.allocs, o.bytes + s.bytes,
                o.allocs, s.bytes);
    }
}

static void put_type_names(const struct put *p, uint32_t size) {
    enum { FEW = 4 };
    uint32_t count = 0;
    const char *const *names =
        p->heap->types && size <= MPROF_LARGEST_BIN
            ? report__types_of_size(p->heap->types, size, &count)
            : NULL;

    putc('[', p->out);
    for (uint32_t i = 0; i < count && i < FEW; i++) {
        fputs(i > 0 ? "," : "", p->out);
        put_text(p, names[i]);
    }
    fputs(count > FEW ? ",\"...\"]" : "]", p->out);
}

static void put_sizes(const struct put *p) {
    const struct report__size_bin *bins =
        report__sizes_collect(p->e->pool, p->heap->profile, MPROF_ALL_THREADS);
    unsigned long count = 0;

    fputs(",\n\"sizes\":[", p->out);
    for (uint32_t i = 0; i < MPROF__SIZE_BINS; i++) {
        if (bins[i].allocated.allocs == 0)
            continue;
        report__put_comma(p->out, &count);
        fprintf(p->out,
                "\n[%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                ",",
                i, bins[i].allocated.allocs, bins[i].allocated.bytes,
                bins[i].allocated.allocs - bins[i].freed.allocs,
                bins[i].allocated.bytes - bins[i].freed.bytes);
        put_type_names(p, i);
        putc(']', p->out);
    }
    fprintf(p->out, "],\n\"largestBin\":%d", MPROF_LARGEST_BIN);
}

/* Rows of time, and of bytes then: for Lisp before and after a collection. */
static void put_curve(const struct put *p) {
    const struct report__profile *profile = p->heap->profile;
    unsigned long count = 0;

    fputs(",\n\"curve\":[", p->out);
    if (p->heap->sampling.heap == MPROF_LISP_HEAP)
        for (uint32_t i = 0; i < profile->collection_count; i++) {
            const struct mprof_collection *c = &profile->collections[i];
            ROW(p, &count, c->time, c->before);
            ROW(p, &count, c->time, c->after);
        }
    else
        for (uint32_t i = 0; i < profile->moment_count; i++)
            ROW(p, &count, profile->moments[i].time,
                profile->moments[i].live.bytes);
    putc(']', p->out);
    for (uint32_t i = 0;
         report__put_list(p->out, "marks", i, profile->mark_count); i++) {
        fprintf(p->out, "[%" PRIu64 ",", profile->marks[i].time);
        put_text(p, profile->marks[i].mark);
        putc(']', p->out);
    }
    fprintf(p->out, ",\n\"peak\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
            profile->peak_time, profile->at_peak.bytes,
            profile->at_peak.allocs);
}

/* Two profiles */

/* Rows of WHAT, a function or a name, and the numbers of both sides. */
static void put_changes(const struct put *p, const char *key,
                        const struct report__diff *diff) {
    static const enum report__diff_number numbers[] = {MPROF_DIFF_BYTES,
                                                       MPROF_DIFF_ALLOCS};
    unsigned long count = 0;

    fprintf(p->out, ",\n\"%s\":[", key);
    for (uint32_t i = 0; i < diff->count; i++) {
        const struct report__diff_row *row = &diff->rows[i];
        const struct report__change *allocs = &row->numbers[MPROF_DIFF_ALLOCS];
        if (allocs->numbers[MPROF_OLD] == 0 && allocs->numbers[MPROF_NEW] == 0)
            continue;
        report__put_comma(p->out, &count);
        putc('[', p->out);
        if (diff == p->heap->by_function)
            fprintf(p->out, "%" PRIu32, row->function);
        else
            put_text(p, row->name);
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
            for (int side = 0; side < MPROF_SIDES; side++)
                fprintf(p->out, ",%" PRIu64,
                        row->numbers[numbers[n]].numbers[side]);
        putc(']', p->out);
    }
    putc(']', p->out);
}

/* Write OLD's header, and the numbers of both sides, in place of threads. */
static void put_difference(const struct put *p) {
    const struct report__difference *d = p->heap->difference;
    const struct report__profile *old = d->joined->sides[MPROF_OLD];
    const struct report__totals total =
        report__total(old, p->heap->sampling.heap);

    put_name(p, "oldCommand", report__what_ran(p->e->pool, old));
    put_name(p, "oldFile", p->heap->old_file);
    fprintf(p->out,
            ",\n\"factor\":%.17g,\"oldAllocs\":%" PRIu64
            ",\"oldBytes\":%" PRIu64 ",\"oldFolded\":%" PRIu64,
            (double)d->factor.by / (double)d->factor.of, total.allocated.allocs,
            total.allocated.bytes, total.folded.allocs);
    fputs(",\n\"threads\":[\"old\",\"new\"]", p->out);
    put_changes(p, "changes", p->heap->by_function);
    if (p->heap->by_type)
        put_changes(p, "typeChanges", p->heap->by_type);
}

static void put_heap(const struct put *p) {
    const struct report__difference *difference = p->heap->difference;
    const struct report__profile *profile =
        difference ? difference->joined->sides[MPROF_NEW] : p->heap->profile;
    const bool is_c = p->heap->sampling.heap == MPROF_C_HEAP;
    const struct report__totals total =
        report__total(profile, p->heap->sampling.heap);

    fprintf(p->out, "\n{\"heap\":\"%s\"", is_c ? "c" : "lisp");
    put_name(p, "command", report__what_ran(p->e->pool, profile));
    put_name(p, "file", p->heap->file);
    fprintf(p->out,
            ",\n\"pid\":%" PRIu32 ",\"processes\":%" PRIu32
            ",\"start\":%" PRIu64 ",\"duration\":%" PRIu64
            ",\"allocs\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"folded\":%" PRIu64
            ",\"freed\":%" PRIu64,
            profile->pid, profile->process_count, profile->start_time,
            profile->duration, total.allocated.allocs, total.allocated.bytes,
            total.folded.allocs, total.freed.bytes);
    if (!is_c && profile->sampling != 0)
        fprintf(p->out, ",\"sampling\":%" PRIu32, profile->sampling);
    for (uint32_t i = 0; report__put_list(p->out, "classes", i, MPROF_CLASSES);
         i++)
        report__put_json(p->out,
                         report__class_names[p->heap->sampling.heap][i]);
    put_header(p);
    put_functions(p);
    if (difference) {
        put_difference(p);
    } else {
        put_threads(p);
        report__put_findings(p->e, "sentences");
        report__put_kept(p->e, "keptBy");
        (is_c ? put_sizes : put_types)(p);
        put_curve(p);
        put_exact(p);
    }
    put_tree(p);
    put_samples(p);
    if (!difference)
        put_lines(p);
    putc('}', p->out);
}

void report__put_html_heap(FILE *out, const struct report__html_heap *heap,
                           unsigned count, struct report__pool *pool) {
    struct report__export_options options = {.sampling = heap->sampling};
    options.sampling.alive = heap->sampling.heap == MPROF_LISP_HEAP &&
                             heap->profile->alive && heap->difference == NULL;
    const struct report__export e = {
        .out = out,
        .profile = heap->profile,
        .names = heap->names,
        .options = &options,
        .samples = report__samples_open(pool, heap->profile, heap->names,
                                        &options.sampling),
        .pool = pool,
        .difference = heap->difference};
    const struct report__lisp_types types =
        report__lisp_types(pool, heap->profile);
    const struct put p = {out, heap, &e, &types,
                          report__make_html_tree(&e, &types, heap->nodes)};

    if (count > 0)
        putc(',', out);
    put_heap(&p);
}
