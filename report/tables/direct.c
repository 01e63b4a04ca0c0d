/* direct.c - the direct allocation table: who called the allocator. */
#include "report/tables/paths.h"

struct row {
    const char *name;
    struct report__counts self, freed, kept;
    uint64_t total, at_peak; /* bytes */
    uint64_t bytes, main;    /* what it is sorted by, and then */
};

struct layout {
    const struct report__context *c;
    FILE *out;
    bool is_c;
    bool kept_too;        /* what was kept, in Lisp what is alive, is known */
    uint64_t total, kept; /* bytes */
    int bytes_width, kept_width, peak_width, calls_width;
};

/* A table that is printed. */
struct table {
    struct row *rows, sum;
    uint32_t count;
    struct report__left left;
    const char *title, *what;
};

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;

    return report__down(x->main, y->main) ?: report__down(x->bytes, y->bytes)
               ?: strcmp(x->name, y->name);
}

/* The peak has a column for the C heap only. */
static void print_row(const struct layout *l, const char *percent,
                      const struct row *row) {
    fprintf(l->out, "%5s %*" PRIu64 " | ", percent, l->bytes_width,
            report__bytes(&row->self));
    if (!l->c->is_narrow)
        fprintf(l->out, "%s | ", report__breakdown(&row->self, l->total).text);
    if (l->kept_too)
        fprintf(l->out, "%*" PRIu64 " | ", l->kept_width,
                report__bytes(&row->kept));
    if (l->kept_too && !l->c->is_narrow)
        fprintf(l->out, "%s | ", report__breakdown(&row->kept, l->kept).text);
    if (l->is_c && !l->c->is_narrow)
        fprintf(l->out, "%*" PRIu64 " | ", l->peak_width, row->at_peak);
    fprintf(l->out, "%*" PRIu64 "  ", l->calls_width,
            report__allocs(&row->self));
    report__print_name(l->out, row->name);
    putc('\n', l->out);
}

static void print_letters(const struct layout *l) {
    for (int i = 0; i < MPROF_CLASSES; i++)
        fprintf(l->out, "%c--", report__class_letters[l->c->heap][i]);
}

static void print_heading(const struct layout *l) {
    const bool wide = !l->c->is_narrow, peak = l->is_c && wide;

    fprintf(l->out, "%% mem %*s | ", l->bytes_width, "bytes");
    if (!l->c->is_narrow)
        fprintf(l->out, "%% mem(%s) | ", l->is_c ? "size" : "type");
    if (l->kept_too)
        fprintf(l->out, "%*s | ", l->kept_width,
                l->is_c ? "bytes kept" : "bytes alive");
    if (l->kept_too && !l->c->is_narrow)
        fprintf(l->out, "%s | ", l->is_c ? " % all kept" : " % all alive");
    if (peak)
        fprintf(l->out, "%*s | ", l->peak_width, "at peak");
    fprintf(l->out, "%*s  name\n", l->calls_width, "calls");
    report__rule(l->out, '-', l->bytes_width + 9);
    if (!l->c->is_narrow)
        print_letters(l);
    if (l->kept_too)
        report__rule(l->out, '-', l->kept_width + (l->c->is_narrow ? 3 : 5));
    if (l->kept_too && !l->c->is_narrow)
        print_letters(l);
    if (peak)
        report__rule(l->out, '-', l->peak_width + 3);
    report__underline(l->out, l->calls_width + 10);
}

static uint64_t measure(const struct row *row, enum report__sort sort) {
    return sort == MPROF_SORT_ALLOCS  ? report__allocs(&row->self)
           : sort == MPROF_SORT_TOTAL ? row->total
           : sort == MPROF_SORT_KEPT  ? report__bytes(&row->kept)
           : sort == MPROF_SORT_PEAK  ? row->at_peak
                                      : row->bytes;
}

/* The rows to print come first, sorted; the others are left out. */
static void choose(const struct layout *l, struct table *t) {
    const struct report__choice *choice = &l->c->choice;
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
            t->left.small++;
            t->left.sum += row->bytes;
            continue;
        }
        t->rows[count++] = *row;
    }
    if (count > 0)
        qsort(t->rows, count, sizeof *t->rows, compare_rows);
    t->count = choice->rows > 0 && choice->rows < count ? choice->rows : count;
    t->left.more = count - t->count;
    for (uint32_t i = t->count; i < count; i++)
        t->left.sum += t->rows[i].bytes;
}

static void print_table(const struct report__context *c, bool alive,
                        struct table *t) {
    struct row *sum = &t->sum;
    const bool is_c = c->heap == MPROF_C_HEAP;
    struct layout l = {
        .c = c, .out = c->out, .is_c = is_c, .kept_too = alive || is_c};

    sum->name = "<TOTAL>";
    report__subtract(&sum->kept, &sum->self, &sum->freed);
    l.total = report__bytes(&sum->self);
    l.kept = report__bytes(&sum->kept);
    l.bytes_width = report__width(10, l.total);
    l.kept_width = report__width(is_c ? 10 : 11, l.kept);
    l.peak_width = report__width(10, sum->at_peak);
    l.calls_width = report__width(6, report__allocs(&sum->self));
    choose(&l, t);
    report__print_title(c->out, t->title, report__sampling(c->part, c->heap));
    print_heading(&l);
    print_row(&l, "", sum);
    for (uint32_t i = 0; i < t->count; i++)
        print_row(&l, report__tenths(t->rows[i].bytes, l.total).text,
                  &t->rows[i]);
    report__print_left(c->out, &c->choice, t->what, &t->left, "bytes");
}

static void print_by_function(struct report__context *c) {
    const struct report__graph *graph = report__graph_of(c);
    struct table t = {.title = "Direct allocation",
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

/* By call site or line */

static void add(struct row *row, const struct report__at *at) {
    report__add_count(&row->self.by_class[at->class_], &at->allocated);
    report__add_count(&row->freed.by_class[at->class_], &at->lived->freed);
    row->at_peak += at->lived->at_peak.bytes;
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
                      .count = paths.label_count};
    struct report__at at;

    t.rows = report__alloc(c->pool, t.count, sizeof *t.rows);
    for (uint32_t i = 0; i < t.count; i++)
        t.rows[i].name = paths.labels[i].text;
    for (uint32_t i = 0; report__next_at(&paths, &i, &at);) {
        add(&t.rows[paths.list[at.path].label], &at);
        add(&t.sum, &at);
    }
    print_table(c, alive, &t);
}

void report__print_direct(struct report__context *c) {
    (c->direct_by ? print_by_site : print_by_function)(c);
}
