/* direct.c - the direct allocation table: who called the allocator. */
#include "report/tables/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct row {
    uint64_t bytes;
    const char *name;
    const struct mprof__vertex *vertex;
    struct mprof__counts kept;
};

struct layout {
    FILE *out;
    enum mprof_heap heap;
    uint64_t total, kept; /* bytes */
    int bytes_width, kept_width, calls_width;
};

static int compare_rows(const void *a, const void *b) {
    const struct row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    int names = strcmp(x->name, y->name);
    return names ? names : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

static int larger(int a, int b) {
    return a > b ? a : b;
}

/* KEPT has columns for the C heap only. */
static void print_row(const struct layout *l, const char *percent,
                      const struct mprof__counts *counts,
                      const struct mprof__counts *kept, const char *name) {
    fprintf(l->out, "%5s %*" PRIu64 " | %s | ", percent, l->bytes_width,
            mprof__bytes(counts), mprof__breakdown(counts, l->total).text);
    if (l->heap == MPROF_C_HEAP)
        fprintf(l->out, "%*" PRIu64 " | %s | ", l->kept_width,
                mprof__bytes(kept), mprof__breakdown(kept, l->kept).text);
    fprintf(l->out, "%*" PRIu64 "  ", l->calls_width, mprof__allocs(counts));
    mprof__print_name(l->out, name);
    putc('\n', l->out);
}

static void print_letters(const struct layout *l) {
    for (int i = 0; i < MPROF_CLASSES; i++)
        fprintf(l->out, "%c--", mprof__class_letters[l->heap][i]);
}

static void print_heading(const struct layout *l) {
    bool c = l->heap == MPROF_C_HEAP;

    fprintf(l->out, "%% mem %*s | %% mem(%s) | ", l->bytes_width, "bytes",
            c ? "size" : "type");
    if (c)
        fprintf(l->out, "%*s |  %% all kept | ", l->kept_width, "bytes kept");
    fprintf(l->out, "%*s  name\n", l->calls_width, "calls");
    mprof__rule(l->out, '-', l->bytes_width + 9);
    print_letters(l);
    if (c) {
        mprof__rule(l->out, '-', l->kept_width + 5);
        print_letters(l);
    }
    mprof__rule(l->out, '-', l->calls_width + 10);
    putc('\n', l->out);
}

/* The rows to print, sorted.  *LEFT functions are left out. */
static uint32_t collect(const struct layout *l,
                        const struct mprof__graph *graph,
                        enum mprof__verbosity verbosity, struct row *rows,
                        uint32_t *left, uint64_t *left_bytes) {
    uint32_t count = 0;

    for (uint32_t v = 0; v < graph->functions->count; v++) {
        const struct mprof__vertex *vertex = &graph->vertices[v];
        struct row row = {mprof__bytes(&vertex->self),
                          graph->functions->list[v].name,
                          vertex,
                          {{{0, 0}}}};
        if (mprof__allocs(&vertex->self) == 0 && row.bytes == 0)
            continue;
        mprof__subtract(&row.kept, &vertex->self, &vertex->freed);
        if (mprof__below(row.bytes, l->total, verbosity) &&
            mprof__below(mprof__bytes(&row.kept), l->kept, verbosity)) {
            ++*left;
            *left_bytes += row.bytes;
            continue;
        }
        rows[count++] = row;
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    return count;
}

void mprof__print_direct(FILE *out, const struct mprof__graph *graph,
                         enum mprof__verbosity verbosity,
                         struct mprof__pool *pool) {
    struct layout l = {.out = out, .heap = graph->heap};
    struct mprof__counts kept;
    uint64_t left_bytes = 0;
    uint32_t left = 0;
    struct row *rows =
        mprof__alloc(pool, graph->functions->count, sizeof *rows);

    mprof__subtract(&kept, &graph->total, &graph->freed);
    l.total = mprof__bytes(&graph->total);
    l.kept = mprof__bytes(&kept);
    l.bytes_width = larger(10, mprof__digits(l.total));
    l.kept_width = larger(10, mprof__digits(l.kept));
    l.calls_width = larger(6, mprof__digits(mprof__allocs(&graph->total)));
    uint32_t count = collect(&l, graph, verbosity, rows, &left, &left_bytes);

    fputs("Direct allocation\n\n", out);
    print_heading(&l);
    print_row(&l, "", &graph->total, &kept, "<TOTAL>");
    for (uint32_t i = 0; i < count; i++)
        print_row(&l, mprof__tenths(rows[i].bytes, l.total).text,
                  &rows[i].vertex->self, &rows[i].kept, rows[i].name);
    if (left > 0)
        fprintf(out,
                "%s function%s below %s left out: %s bytes in all"
                " (--verbose shows them)\n",
                mprof__grouped(left).text, left == 1 ? "" : "s",
                mprof__limit(verbosity), mprof__grouped(left_bytes).text);
}
