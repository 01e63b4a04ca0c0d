/* direct.c - the direct allocation table: who called the allocator. */
#include "report/tables/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct row {
    uint64_t bytes, main; /* what it is sorted by */
    const char *name;
    const struct report__vertex *vertex;
    struct report__counts kept;
};

struct layout {
    FILE *out;
    enum mprof_heap heap;
    uint64_t total, kept; /* bytes */
    int bytes_width, kept_width, peak_width, calls_width;
};

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->main != y->main)
        return x->main > y->main ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    int names = strcmp(x->name, y->name);
    return names ? names : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* KEPT and AT_PEAK have columns for the C heap only. */
static void print_row(const struct layout *l, const char *percent,
                      const struct report__counts *counts,
                      const struct report__counts *kept, uint64_t at_peak,
                      const char *name) {
    fprintf(l->out, "%5s %*" PRIu64 " | %s | ", percent, l->bytes_width,
            report__bytes(counts), report__breakdown(counts, l->total).text);
    if (l->heap == MPROF_C_HEAP)
        fprintf(l->out, "%*" PRIu64 " | %s | %*" PRIu64 " | ", l->kept_width,
                report__bytes(kept), report__breakdown(kept, l->kept).text,
                l->peak_width, at_peak);
    fprintf(l->out, "%*" PRIu64 "  ", l->calls_width, report__allocs(counts));
    report__print_name(l->out, name);
    putc('\n', l->out);
}

static void print_letters(const struct layout *l) {
    for (int i = 0; i < MPROF_CLASSES; i++)
        fprintf(l->out, "%c--", report__class_letters[l->heap][i]);
}

static void print_heading(const struct layout *l) {
    bool c = l->heap == MPROF_C_HEAP;

    fprintf(l->out, "%% mem %*s | %% mem(%s) | ", l->bytes_width, "bytes",
            c ? "size" : "type");
    if (c)
        fprintf(l->out, "%*s |  %% all kept | %*s | ", l->kept_width,
                "bytes kept", l->peak_width, "at peak");
    fprintf(l->out, "%*s  name\n", l->calls_width, "calls");
    report__rule(l->out, '-', l->bytes_width + 9);
    print_letters(l);
    if (c) {
        report__rule(l->out, '-', l->kept_width + 5);
        print_letters(l);
        report__rule(l->out, '-', l->peak_width + 3);
    }
    report__rule(l->out, '-', l->calls_width + 10);
    putc('\n', l->out);
}

static uint64_t measure(const struct row *row, enum report__sort sort) {
    switch (sort) {
    case MPROF_SORT_ALLOCS:
        return report__allocs(&row->vertex->self);
    case MPROF_SORT_TOTAL:
        return report__bytes(&row->vertex->total);
    case MPROF_SORT_KEPT:
        return report__bytes(&row->kept);
    case MPROF_SORT_PEAK:
        return row->vertex->at_peak;
    default:
        return row->bytes;
    }
}

/* The rows to print, sorted.  *LEFT functions are left out. */
static uint32_t collect(const struct layout *l,
                        const struct report__graph *graph,
                        const struct report__choice *choice, struct row *rows,
                        uint32_t *left, uint64_t *left_bytes) {
    uint32_t count = 0;

    for (uint32_t v = 0; v < graph->functions->count; v++) {
        const struct report__vertex *vertex = &graph->vertices[v];
        struct row row = {.bytes = report__bytes(&vertex->self),
                          .name = graph->functions->list[v].name,
                          .vertex = vertex};
        if (report__allocs(&vertex->self) == 0 && row.bytes == 0)
            continue;
        report__subtract(&row.kept, &vertex->self, &vertex->freed);
        row.main = measure(&row, choice->sort);
        if (report__below(row.bytes, l->total, choice->verbosity) &&
            report__below(report__bytes(&row.kept), l->kept,
                          choice->verbosity)) {
            ++*left;
            *left_bytes += row.bytes;
            continue;
        }
        rows[count++] = row;
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    return count;
}

void report__print_direct(FILE *out, const struct report__graph *graph,
                          const struct report__choice *choice,
                          struct report__pool *pool) {
    struct layout l = {.out = out, .heap = graph->heap};
    struct report__counts kept;
    uint64_t left_bytes = 0;
    uint32_t left = 0;
    struct row *rows =
        report__alloc(pool, graph->functions->count, sizeof *rows);

    report__subtract(&kept, &graph->total, &graph->freed);
    l.total = report__bytes(&graph->total);
    l.kept = report__bytes(&kept);
    l.bytes_width = report__larger(10, report__digits(l.total));
    l.kept_width = report__larger(10, report__digits(l.kept));
    l.peak_width = report__larger(10, report__digits(graph->at_peak));
    l.calls_width =
        report__larger(6, report__digits(report__allocs(&graph->total)));
    uint32_t count = collect(&l, graph, choice, rows, &left, &left_bytes);
    uint32_t most =
        choice->rows > 0 && choice->rows < count ? choice->rows : count;

    fputs("Direct allocation\n\n", out);
    print_heading(&l);
    print_row(&l, "", &graph->total, &kept, graph->at_peak, "<TOTAL>");
    for (uint32_t i = most; i < count; i++)
        left_bytes += rows[i].bytes;
    for (uint32_t i = 0; i < most; i++)
        print_row(&l, report__tenths(rows[i].bytes, l.total).text,
                  &rows[i].vertex->self, &rows[i].kept, rows[i].vertex->at_peak,
                  rows[i].name);
    report__print_left(out, choice, "function", left, count - most, left_bytes,
                       "bytes");
}
