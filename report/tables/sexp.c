/* sexp.c - the whole profile as one s-expression, for programs in Lisp.
 *
 *     (:mprof 1 :program STRING :command STRING :runtime STRING
 *      :start-time NS :duration NS :state :open-or-:closed
 *      :allocs N :bytes N :objects N :object-bytes N
 *      :storage N :storage-bytes N :folded N :cut N :unplaced N
 *      :heaps (:lisp :c)              those that were recorded
 *      :threads ((NAME TID :ended BOOLEAN :members N-if-not-1
 *                 :stack BYTES-if-known) ...)
 *      :bins ((:class C :type STRING :name STRING-or-NIL :objects N
 *              :object-bytes N :storage N :storage-bytes N) ...)
 *      :functions ((:id N :name STRING :kind K :self COUNTS :total COUNTS
 *                   :cycle N-or-NIL) ...)
 *      :arcs ((CALLER-ID CALLEE-ID . COUNTS) ...)
 *      :c-heap NIL or
 *       (:allocs N :bytes N :frees N :freed-bytes N :folded N :cut N
 *        :failed N :unknown-frees N :unplaced-frees N
 *        :unplaced-freed-bytes N :untracked N :untracked-bytes N
 *        :peak (:objects N :bytes N :nanoseconds NS)
 *        :threads as above
 *        :sizes ((SIZE ALLOCS BYTES FREES FREED-BYTES) ...)
 *        :functions as above, each with :freed COUNTS :at-peak BYTES behind
 *                   :self
 *        :arcs as above))
 *
 * COUNTS are eight numbers, allocations and bytes for each class: those of
 * Lisp are :cons, :float, :structure and :other, those of C small, medium,
 * large and extra large.  :freed is what was freed of :self.  SIZE is
 * NIL for all above the largest that has a row of its own.  :folded are missing
 * in totals and arcs, as the limit was too small even for sums.  Except
 * :unplaced, all before :c-heap is about the Lisp heap.
 *
 * `mprof summary` has the findings: (:mprof 1 :lisp (SENTENCE ...) :c (...)).
 */
#include "report/tables/findings.h"

static const char *const class_names[MPROF_CLASSES] = {":cons", ":float",
                                                       ":structure", ":other"};
static const char *const kind_names[] = {[MPROF_C] = ":c",
                                         [MPROF_LISP] = ":lisp",
                                         [MPROF_INTERPRETED] = ":interpreted",
                                         [MPROF_TOPLEVEL] = ":toplevel",
                                         [MPROF_UNKNOWN] = ":unknown",
                                         [MPROF_FOLDED] = ":folded",
                                         [MPROF_ENTRY] = ":entry"};

static void print_counts(FILE *out, const struct report__counts *counts) {
    for (int i = 0; i < MPROF_CLASSES; i++)
        SAY(out, i ? " @ @" : "@ @", counts->by_class[i].allocs,
            counts->by_class[i].bytes);
}

static void print_facts(FILE *out, const struct report__profile *p) {
    const struct report__totals t = report__total(p, MPROF_LISP_HEAP);

    fputs("(:mprof 1\n :program ", out);
    report__print_string(out, p->program);
    fputs(" :command ", out);
    report__print_string(out, p->command);
    fputs(" :runtime ", out);
    report__print_string(out, p->runtime);
    SAY(out, "\n :start-time @ :duration @ :state ", p->start_time,
        p->duration);
    fputs(p->open ? ":open" : ":closed", out);
    SAY(out,
        "\n :allocs @ :bytes @ :objects @ :object-bytes @ :storage @ "
        ":storage-bytes @\n :folded @ :cut @ :unplaced @\n :heaps (",
        t.allocated.allocs, t.allocated.bytes, t.objects.allocs,
        t.objects.bytes, t.storage.allocs, t.storage.bytes, t.lost.allocs,
        t.cut, p->unplaced_allocs);
    fprintf(out, "%s%s%s)", report__has_heap(p, MPROF_LISP_HEAP) ? ":lisp" : "",
            p->heaps == 3 ? " " : "",
            report__has_heap(p, MPROF_C_HEAP) ? ":c" : "");
    if (p->sampling != 0)
        SAY(out, " :sampling @", p->sampling);
}

static void print_threads(FILE *out, const struct report__profile *profile,
                          enum mprof_heap heap) {
    fputs("\n :threads (", out);
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        const struct report__thread *thread = &profile->threads[i];
        if (thread->heap != heap)
            continue;
        fputs("\n  (", out);
        report__print_string(out, thread->name);
        SAY(out,
            thread->flags & MPROF_THREAD_ENDED ? " @ :ended t"
                                               : " @ :ended nil",
            thread->tid);
        if (thread->members > 1)
            SAY(out, " :members @", thread->members);
        if (thread->stack > 0)
            SAY(out, " :stack @", thread->stack);
        putc(')', out);
    }
    putc(')', out);
}

static void print_bins(FILE *out, const struct report__bin *bins,
                       uint32_t count) {
    fputs("\n :bins (", out);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "\n  (:class %s :type ", class_names[bins[i].class_]);
        report__print_string(out, bins[i].type);
        fputs(" :name ", out);
        report__print_string(out, bins[i].name);
        SAY(out, " :objects @ :object-bytes @ :storage @ :storage-bytes @)",
            bins[i].objects.allocs, bins[i].objects.bytes,
            bins[i].storage.allocs, bins[i].storage.bytes);
    }
    putc(')', out);
}

static void print_functions(FILE *out, const struct report__graph *graph) {
    fputs("\n :functions (", out);
    for (uint32_t i = 0; i < graph->functions->count; i++) {
        const struct report__vertex *v = &graph->vertices[i];
        if (v->depth == MPROF_NONE)
            continue;
        fprintf(out, "\n  (:id %" PRIu32 " :name ", i);
        report__print_string(out, graph->functions->list[i].name);
        fprintf(out, " :kind %s :self (",
                kind_names[graph->functions->list[i].kind]);
        print_counts(out, &v->self);
        if (graph->alive) {
            fputs(") :dead (", out);
            print_counts(out, &v->freed);
        }
        if (graph->heap == MPROF_C_HEAP) {
            fputs(") :freed (", out);
            print_counts(out, &v->freed);
            SAY(out, ") :at-peak @ :total (", v->at_peak);
        } else {
            fputs(") :total (", out);
        }
        print_counts(out, &v->total);
        if (v->cycle == MPROF_NONE)
            fputs(") :cycle nil)", out);
        else
            SAY(out, ") :cycle @)", v->cycle + 1);
    }
    putc(')', out);
}

static void print_graph(struct report__context *c) {
    FILE *out = c->out;
    const struct report__graph *graph =
        report__graph_build(c->pool, c->profile, c->names, c->heap,
                            MPROF_ALL_THREADS, c->all_frames);

    print_functions(out, graph);
    fputs("\n :arcs (", out);
    for (uint32_t i = 0; i < graph->arc_count; i++) {
        const struct report__arc *arc = &graph->arcs[i];
        SAY(out, "\n  (@ @ ", arc->caller, arc->callee);
        print_counts(out, &arc->counts);
        putc(')', out);
    }
    putc(')', out);
}

static void print_sizes(FILE *out, const struct report__size_bin *bins) {
    fputs("\n :sizes (", out);
    for (uint32_t size = 0; size < MPROF__SIZE_BINS; size++) {
        const struct report__size_bin *bin = &bins[size];
        if (bin->allocated.allocs == 0)
            continue;
        fputs("\n  (", out);
        if (size > MPROF_LARGEST_BIN)
            fputs("nil", out);
        else
            SAY(out, "@", size);
        SAY(out, " @ @ @ @)", bin->allocated.allocs, bin->allocated.bytes,
            bin->freed.allocs, bin->freed.bytes);
    }
    putc(')', out);
}

static void print_c_heap(struct report__context *c) {
    const struct report__profile *p = c->profile;
    FILE *out = c->out;
    const struct report__totals t = report__total(p, MPROF_C_HEAP);

    SAY(out,
        "(:allocs @ :bytes @ :frees @ :freed-bytes @ :folded @ :cut @\n "
        ":failed @ :unknown-frees @ :unplaced-frees @ :unplaced-freed-bytes @ "
        ":untracked @ :untracked-bytes @\n :peak (:objects @ :bytes @ "
        ":nanoseconds @)",
        t.allocated.allocs, t.allocated.bytes, t.freed.allocs, t.freed.bytes,
        t.lost.allocs, t.cut, p->failed_allocs, p->unknown_frees,
        p->unplaced_frees, p->unplaced_freed_bytes, p->untracked_allocs,
        p->untracked_bytes, p->at_peak.allocs, p->at_peak.bytes, p->peak_time);
    c->heap = MPROF_C_HEAP;
    print_threads(out, p, MPROF_C_HEAP);
    print_sizes(out, report__sizes_collect(c->pool, p, MPROF_ALL_THREADS));
    print_graph(c);
    putc(')', out);
}

void report__print_sexp(struct report__context *c) {
    struct report__bin *bins;
    struct mprof_count untyped;
    const uint32_t bin_count = report__bins_collect(
        c->pool, c->profile, MPROF_ALL_THREADS, &bins, &untyped);

    print_facts(c->out, c->profile);
    c->heap = MPROF_LISP_HEAP;
    print_threads(c->out, c->profile, MPROF_LISP_HEAP);
    print_bins(c->out, bins, bin_count);
    print_graph(c);
    fputs("\n :c-heap ", c->out);
    if (report__has_heap(c->profile, MPROF_C_HEAP))
        print_c_heap(c);
    else
        fputs("nil", c->out);
    fputs(")\n", c->out);
}

void report__print_sexp_findings(struct report__context *c, unsigned heaps) {
    fputs("(:mprof 1", c->out);
    for (unsigned heap = 0; heap < MPROF_HEAPS; heap++) {
        if (!(heaps >> heap & 1))
            continue;
        c->heap = heap;
        const struct report__findings *found = report__find(c);
        fputs(heap == MPROF_C_HEAP ? "\n :c (" : "\n :lisp (", c->out);
        for (uint32_t i = 0; i < found->sentence_count; i++) {
            fputs("\n  ", c->out);
            report__print_string(
                c->out, report__sentence_text(c->pool, &found->sentences[i]));
        }
        putc(')', c->out);
    }
    fputs(")\n", c->out);
}
