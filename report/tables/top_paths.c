/* top_paths.c - the chains that allocated most, of any heap. */
#include <inttypes.h>
#include <string.h>

#include "report/tables/rows.h"

struct layout {
    FILE *out;
    bool is_c;  /* which has columns for what was kept, and the peak */
    bool alive; /* of Lisp: what is alive is known for each whole chain */
    int bytes, allocs, kept, peak;
};

static void print_heading(const void *layout) {
    const struct layout *l = layout;
    int width = fprintf(l->out, "%*s (%%)   %*s (%%)  ", l->bytes, "bytes",
                        l->allocs, "allocs");
    if (l->is_c)
        width += fprintf(l->out, " %*s %*s  ", l->kept, "kept bytes", l->peak,
                         "at peak");
    if (l->alive)
        width += fprintf(l->out, " %*s (%%)  ", l->kept, "alive bytes");
    fputs(" path\n", l->out);
    report__rule(l->out, '-', width + 30);
    putc('\n', l->out);
}

static void print_row(const void *layout, struct report__rows *rows,
                      const struct report__row *row) {
    const struct layout *l = layout;
    const struct report__row *total = &rows->total;

    report__print_row_part(l->out, l->bytes, rows, row, row->allocated.bytes,
                           total->allocated.bytes);
    putc(' ', l->out);
    report__print_row_part(l->out, l->allocs, rows, row, row->allocated.allocs,
                           total->allocated.allocs);
    if (l->is_c)
        fprintf(l->out, " %*" PRIu64 " %*" PRIu64 "  ", l->kept,
                row->kept.bytes, l->peak, row->at_peak.bytes);
    if (l->alive) {
        putc(' ', l->out);
        report__print_row_part(l->out, l->kept, rows, row, row->kept.bytes,
                               total->kept.bytes);
    }
    fputs("  ", l->out);
    report__print_row_path(l->out, rows, row);
}

static const char *const whats[] = {
    [MPROF_SORT_USUAL] = "bytes",           [MPROF_SORT_BYTES] = "bytes",
    [MPROF_SORT_ALLOCS] = "allocations",    [MPROF_SORT_SELF] = "bytes",
    [MPROF_SORT_TOTAL] = "bytes",           [MPROF_SORT_KEPT] = "bytes kept",
    [MPROF_SORT_PEAK] = "bytes at the peak"};

/* Of chains that were summed up only the ends tell what became of them. */
static bool knows_alive(const struct report__profile *profile,
                        enum mprof_heap heap) {
    if (!profile->alive || heap != MPROF_LISP_HEAP)
        return false;
    for (uint32_t i = 0; i < profile->counter_count; i++)
        if (report__lived(&profile->counters[i])->elsewhere.allocs > 0)
            return false;
    return true;
}

void report__print_paths(struct report__context *c) {
    const struct report__row_table table = {.title = "Paths",
                                            .nothing = "Nothing was allocated.",
                                            .what = whats[c->choice.sort],
                                            .print_heading = print_heading,
                                            .print_row = print_row};
    struct report__rows rows = report__rows_make(c, MPROF_BY_SORT);
    const struct report__row *total = &rows.total;
    const struct layout layout = {
        .out = c->out,
        .is_c = c->heap == MPROF_C_HEAP,
        .alive = knows_alive(c->part, c->heap),
        .bytes = report__larger(10, report__digits(total->allocated.bytes)),
        .allocs = report__larger(8, report__digits(total->allocated.allocs)),
        .kept = report__larger(c->heap == MPROF_C_HEAP ? 10 : 11,
                               report__digits(total->kept.bytes)),
        .peak = report__larger(10, report__digits(total->at_peak.bytes))};

    report__print_row_table(c->out, &table, &layout, &rows, &c->choice);
}
