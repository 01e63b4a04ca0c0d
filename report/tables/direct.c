/* direct.c - the direct allocation table: who called the allocator. */
#include "report/tables/paths.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const char *name;
    struct report__counts self, freed, kept;
    uint64_t total, at_peak; /* bytes */
    uint64_t bytes, main;    /* what it is sorted by, and then */
};

struct layout {
    FILE *out;
    enum mprof_heap heap;
    bool kept_too;        /* what was kept, in Lisp what is alive, is known */
    bool narrow;          /* no classes, nor what lived at the peak */
    uint64_t total, kept; /* bytes */
    int bytes_width, kept_width, peak_width, calls_width;
};

/* What is printed, and of what. */
struct table {
    struct row *rows, sum;
    uint32_t count, left;
    uint64_t left_bytes;
    const char *title, *what;
    uint32_t sampling;
};

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->main != y->main)
        return x->main > y->main ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The peak has a column for the C heap only. */
static void print_row(const struct layout *l, const char *percent,
                      const struct row *row) {
    fprintf(l->out, "%5s %*" PRIu64 " | ", percent, l->bytes_width,
            report__bytes(&row->self));
    if (!l->narrow)
        fprintf(l->out, "%s | ", report__breakdown(&row->self, l->total).text);
    if (l->kept_too)
        fprintf(l->out, "%*" PRIu64 " | ", l->kept_width,
                report__bytes(&row->kept));
    if (l->kept_too && !l->narrow)
        fprintf(l->out, "%s | ", report__breakdown(&row->kept, l->kept).text);
    if (l->heap == MPROF_C_HEAP && !l->narrow)
        fprintf(l->out, "%*" PRIu64 " | ", l->peak_width, row->at_peak);
    fprintf(l->out, "%*" PRIu64 "  ", l->calls_width,
            report__allocs(&row->self));
    report__print_name(l->out, row->name);
    putc('\n', l->out);
}

static void print_letters(const struct layout *l) {
    for (int i = 0; i < MPROF_CLASSES; i++)
        fprintf(l->out, "%c--", report__class_letters[l->heap][i]);
}

static void print_heading(const struct layout *l) {
    const bool c = l->heap == MPROF_C_HEAP, peak = c && !l->narrow;

    fprintf(l->out, "%% mem %*s | ", l->bytes_width, "bytes");
    if (!l->narrow)
        fprintf(l->out, "%% mem(%s) | ", c ? "size" : "type");
    if (l->kept_too)
        fprintf(l->out, "%*s | ", l->kept_width,
                c ? "bytes kept" : "bytes alive");
    if (l->kept_too && !l->narrow)
        fprintf(l->out, "%s | ", c ? " % all kept" : " % all alive");
    if (peak)
        fprintf(l->out, "%*s | ", l->peak_width, "at peak");
    fprintf(l->out, "%*s  name\n", l->calls_width, "calls");
    report__rule(l->out, '-', l->bytes_width + 9);
    if (!l->narrow)
        print_letters(l);
    if (l->kept_too)
        report__rule(l->out, '-', l->kept_width + (l->narrow ? 3 : 5));
    if (l->kept_too && !l->narrow)
        print_letters(l);
    if (peak)
        report__rule(l->out, '-', l->peak_width + 3);
    report__rule(l->out, '-', l->calls_width + 10);
    putc('\n', l->out);
}

static uint64_t measure(const struct row *row, enum report__sort sort) {
    switch (sort) {
    case MPROF_SORT_ALLOCS:
        return report__allocs(&row->self);
    case MPROF_SORT_TOTAL:
        return row->total;
    case MPROF_SORT_KEPT:
        return report__bytes(&row->kept);
    case MPROF_SORT_PEAK:
        return row->at_peak;
    default:
        return row->bytes;
    }
}

/* The rows to print come first, sorted; the others are left out. */
static void choose(const struct layout *l, struct table *t,
                   const struct report__choice *choice) {
    uint32_t count = 0;

    for (uint32_t i = 0; i < t->count; i++) {
        struct row *row = &t->rows[i];
        row->bytes = report__bytes(&row->self);
        if (report__allocs(&row->self) == 0 && row->bytes == 0)
            continue;
        report__subtract(&row->kept, &row->self, &row->freed);
        row->main = measure(row, choice->sort);
        if (report__below(row->bytes, l->total, choice->verbosity) &&
            report__below(report__bytes(&row->kept), l->kept,
                          choice->verbosity)) {
            t->left++;
            t->left_bytes += row->bytes;
            continue;
        }
        t->rows[count++] = *row;
    }
    t->count = count;
    if (count > 0)
        qsort(t->rows, count, sizeof *t->rows, compare_rows);
}

static void print_table(const struct report__context *c, bool alive,
                        struct table *t) {
    const struct report__choice *choice = &c->choice;
    const enum mprof_heap heap = c->heap;
    FILE *out = c->out;
    struct row *sum = &t->sum;
    struct layout l = {.out = out,
                       .heap = heap,
                       .kept_too = alive || heap == MPROF_C_HEAP,
                       .narrow = c->is_narrow};

    sum->name = "<TOTAL>";
    report__subtract(&sum->kept, &sum->self, &sum->freed);
    l.total = report__bytes(&sum->self);
    l.kept = report__bytes(&sum->kept);
    l.bytes_width = report__larger(10, report__digits(l.total));
    l.kept_width =
        report__larger(heap == MPROF_C_HEAP ? 10 : 11, report__digits(l.kept));
    l.peak_width = report__larger(10, report__digits(sum->at_peak));
    l.calls_width =
        report__larger(6, report__digits(report__allocs(&sum->self)));
    choose(&l, t, choice);
    uint32_t most =
        choice->rows > 0 && choice->rows < t->count ? choice->rows : t->count;

    report__print_title(out, t->title, t->sampling);
    print_heading(&l);
    print_row(&l, "", sum);
    for (uint32_t i = most; i < t->count; i++)
        t->left_bytes += t->rows[i].bytes;
    for (uint32_t i = 0; i < most; i++)
        print_row(&l, report__tenths(t->rows[i].bytes, l.total).text,
                  &t->rows[i]);
    report__print_left(out, choice, t->what, t->left, t->count - most,
                       t->left_bytes, "bytes");
}

static void print_by_function(struct report__context *c) {
    const struct report__graph *graph = report__graph_of(c);
    struct table t = {.title = "Direct allocation",
                      .sampling = graph->sampling,
                      .what = "function",
                      .count = graph->functions->count,
                      .sum = {.self = graph->total,
                              .freed = graph->freed,
                              .at_peak = graph->at_peak}};

    t.rows = report__alloc(c->pool, t.count, sizeof *t.rows);
    for (uint32_t v = 0; v < t.count; v++) {
        const struct report__vertex *vertex = &graph->vertices[v];
        t.rows[v] = (struct row){.name = graph->functions->list[v].name,
                                 .self = vertex->self,
                                 .freed = vertex->freed,
                                 .total = report__bytes(&vertex->total),
                                 .at_peak = vertex->at_peak};
    }
    print_table(c, graph->alive, &t);
}

/*
 * By call site or line
 */

static void add_class(struct report__counts *sum, uint32_t class_,
                      const struct mprof_count *count) {
    sum->by_class[class_].allocs += count->allocs;
    sum->by_class[class_].bytes += count->bytes;
}

/* To ROW, and to that of all. */
static void add_counter(struct row *row, struct row *sum,
                        const struct report__counter *counter, bool by_ends) {
    const struct report__lived *lived = report__lived(counter);
    for (int i = 0; i < 2; i++, row = sum) {
        add_class(&row->self, counter->class_, &counter->allocated);
        if (by_ends)
            add_class(&row->self, counter->class_, &lived->elsewhere);
        add_class(&row->freed, counter->class_, &lived->freed);
        row->at_peak += lived->at_peak.bytes;
    }
}

static void print_by_site(struct report__context *c) {
    const bool alive = c->part->alive && c->heap == MPROF_LISP_HEAP;
    struct report__context of = *c;
    of.by_ends = alive || c->heap == MPROF_C_HEAP;
    const struct report__paths paths = report__paths_build(&of);
    struct table t = {.title = c->lines ? "Direct allocation, by line"
                                        : "Direct allocation, by call "
                                          "site",
                      .what = c->lines ? "line" : "call site",
                      .sampling = report__sampling(c->part, c->heap),
                      .count = paths.label_count};
    bool merged = false;

    t.rows = report__alloc(c->pool, t.count, sizeof *t.rows);
    for (uint32_t i = 0; i < t.count; i++) {
        t.rows[i].name = paths.labels[i].text;
        merged |= paths.labels[i].merged;
    }
    for (uint32_t i = 0; i < c->part->counter_count; i++)
        if (paths.of_counter[i] != MPROF_NONE)
            add_counter(&t.rows[paths.list[paths.of_counter[i]].label], &t.sum,
                        &c->part->counters[i], of.by_ends);
    for (uint32_t i = 0; i < c->part->total_count; i++) {
        const struct report__total *total = &c->part->totals[i];
        if (paths.of_total[i] == MPROF_NONE)
            continue;
        add_class(&t.rows[paths.list[paths.of_total[i]].label].self,
                  total->class_, &total->count);
        add_class(&t.sum.self, total->class_, &total->count);
    }
    print_table(c, alive, &t);
    if (merged)
        fprintf(c->out,
                "a%s: calls from several places in a, recorded together\n",
                c->lines ? " (n,m)" : "+n,m");
}

void report__print_direct(struct report__context *c) {
    (c->lines || c->direct_by ? print_by_site : print_by_function)(c);
}
