/* direct.c - the direct allocation table: who called the allocator. */
#include "tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct row {
    uint64_t bytes;
    const char *name;
    const struct mprof__vertex *vertex;
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

static void print_row(FILE *out, const char *percent, uint64_t total,
                      const struct mprof__counts *counts, const char *name,
                      int bytes_width, int calls_width) {
    fprintf(out, "%5s %*" PRIu64 " | %s | %*" PRIu64 "  ", percent, bytes_width,
            mprof__bytes(counts), mprof__breakdown(counts, total).text,
            calls_width, mprof__allocs(counts));
    mprof__print_name(out, name);
    putc('\n', out);
}

static void print_heading(FILE *out, int bytes_width, int calls_width) {
    fprintf(out, "%% mem %*s | %% mem(type) | %*s  name\n", bytes_width,
            "bytes", calls_width, "calls");
    mprof__rule(out, '-', bytes_width + 9);
    for (int i = 0; i < MPROF_CLASSES; i++)
        fprintf(out, "%c--", mprof__class_letters[i]);
    mprof__rule(out, '-', calls_width + 10);
    putc('\n', out);
}

void mprof__print_direct(FILE *out, const struct mprof__graph *graph,
                         enum mprof__verbosity verbosity,
                         struct mprof__pool *pool) {
    uint64_t total = mprof__bytes(&graph->total), left_bytes = 0;
    uint32_t count = 0, left = 0;
    struct row *rows =
        mprof__alloc(pool, graph->functions->count, sizeof *rows);
    int bytes_width = larger(10, mprof__digits(total));
    int calls_width = larger(6, mprof__digits(mprof__allocs(&graph->total)));

    for (uint32_t v = 0; v < graph->functions->count; v++) {
        const struct mprof__vertex *vertex = &graph->vertices[v];
        uint64_t bytes = mprof__bytes(&vertex->self);
        if (mprof__allocs(&vertex->self) == 0 && bytes == 0)
            continue;
        if (mprof__below(bytes, total, verbosity)) {
            left++;
            left_bytes += bytes;
            continue;
        }
        rows[count++] =
            (struct row){bytes, graph->functions->list[v].name, vertex};
    }
    qsort(rows, count, sizeof *rows, compare_rows);

    fputs("Direct allocation\n\n", out);
    print_heading(out, bytes_width, calls_width);
    print_row(out, "", total, &graph->total, "<TOTAL>", bytes_width,
              calls_width);
    for (uint32_t i = 0; i < count; i++)
        print_row(out, mprof__tenths(rows[i].bytes, total).text, total,
                  &rows[i].vertex->self, rows[i].name, bytes_width,
                  calls_width);
    if (left > 0)
        fprintf(out,
                "%s function%s below %s left out: %s bytes in all"
                " (--verbose shows them)\n",
                mprof__grouped(left).text, left == 1 ? "" : "s",
                mprof__limit(verbosity), mprof__grouped(left_bytes).text);
}
