/* sexp.c - the whole profile as one s-expression, for programs in Lisp. */
#include "tables.h"

#include <inttypes.h>
#include <string.h>

static const char *const class_names[MPROF_CLASSES] = {":cons", ":float",
                                                       ":structure", ":other"};
static const char *const kind_names[] = {[MPROF_C] = ":c",
                                         [MPROF_LISP] = ":lisp",
                                         [MPROF_INTERPRETED] = ":interpreted",
                                         [MPROF_TOPLEVEL] = ":toplevel",
                                         [MPROF_UNKNOWN] = ":unknown",
                                         [MPROF_FOLDED] = ":folded"};

/* NULL is NIL. */
static void print_string(FILE *out, const char *text) {
    if (!text) {
        fputs("nil", out);
        return;
    }
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void print_counts(FILE *out, const struct mprof__counts *counts) {
    for (int i = 0; i < MPROF_CLASSES; i++)
        fprintf(out, "%s%" PRIu64 " %" PRIu64, i ? " " : "",
                counts->by_class[i].allocs, counts->by_class[i].bytes);
}

static void print_facts(FILE *out, const struct mprof__profile *profile) {
    struct mprof__totals t = mprof__total(profile);

    fputs("(:mprof 1\n :program ", out);
    print_string(out, profile->program);
    fputs(" :command ", out);
    print_string(out, profile->command);
    fputs(" :runtime ", out);
    print_string(out, profile->runtime);
    fprintf(out,
            "\n :start-time %" PRIu64 " :duration %" PRIu64 " :state %s"
            "\n :allocs %" PRIu64 " :bytes %" PRIu64 " :objects %" PRIu64
            " :object-bytes %" PRIu64 " :storage %" PRIu64
            " :storage-bytes %" PRIu64 "\n :folded %" PRIu64 " :cut %" PRIu64
            " :unplaced %" PRIu64,
            profile->start_time, profile->duration,
            profile->open ? ":open" : ":closed", t.allocs, t.bytes,
            t.objects.allocs, t.objects.bytes, t.storage.allocs,
            t.storage.bytes, t.folded, t.cut, profile->unplaced_allocs);
}

static void print_threads(FILE *out, const struct mprof__profile *profile) {
    fputs("\n :threads (", out);
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        const struct mprof__thread *thread = &profile->threads[i];
        fputs(i ? "\n  (" : "(", out);
        print_string(out, thread->name);
        fprintf(out, " %" PRIu32 " :ended %s)", thread->tid,
                thread->flags & MPROF_THREAD_ENDED ? "t" : "nil");
    }
    putc(')', out);
}

static void print_bins(FILE *out, const struct mprof__bin *bins,
                       uint32_t count) {
    fputs("\n :bins (", out);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "%s(:class %s :type ", i ? "\n  " : "",
                class_names[bins[i].class_]);
        print_string(out, bins[i].type);
        fputs(" :name ", out);
        print_string(out, bins[i].name);
        fprintf(out,
                " :objects %" PRIu64 " :object-bytes %" PRIu64
                " :storage %" PRIu64 " :storage-bytes %" PRIu64 ")",
                bins[i].objects.allocs, bins[i].objects.bytes,
                bins[i].storage.allocs, bins[i].storage.bytes);
    }
    putc(')', out);
}

static void print_functions(FILE *out, const struct mprof__graph *graph) {
    bool first = true;
    fputs("\n :functions (", out);
    for (uint32_t i = 0; i < graph->functions->count; i++) {
        const struct mprof__vertex *v = &graph->vertices[i];
        if (v->depth == MPROF_NONE)
            continue;
        fprintf(out, "%s(:id %" PRIu32 " :name ", first ? "" : "\n  ", i);
        print_string(out, graph->functions->list[i].name);
        fprintf(out, " :kind %s :self (",
                kind_names[graph->functions->list[i].kind]);
        print_counts(out, &v->self);
        fputs(") :total (", out);
        print_counts(out, &v->total);
        if (v->cycle == MPROF_NONE)
            fputs(") :cycle nil)", out);
        else
            fprintf(out, ") :cycle %" PRIu32 ")", v->cycle + 1);
        first = false;
    }
    putc(')', out);
}

void mprof__print_sexp(FILE *out, const struct mprof__profile *profile,
                       const struct mprof__graph *graph,
                       struct mprof__pool *pool) {
    struct mprof__bin *bins;
    uint32_t bin_count =
        mprof__bins_collect(pool, profile, MPROF_ALL_THREADS, &bins);

    print_facts(out, profile);
    print_threads(out, profile);
    print_bins(out, bins, bin_count);
    print_functions(out, graph);
    fputs("\n :arcs (", out);
    for (uint32_t i = 0; i < graph->arc_count; i++) {
        const struct mprof__arc *arc = &graph->arcs[i];
        fprintf(out, "%s(%" PRIu32 " %" PRIu32 " ", i ? "\n  " : "",
                arc->caller, arc->callee);
        print_counts(out, &arc->counts);
        putc(')', out);
    }
    fputs("))\n", out);
}
