/* peak.c - what lived at the peak of the C heap, and what lived hardly at all:
 * by which paths it was allocated.
 */
#include <inttypes.h>
#include <string.h>

#include "report/tables/rows.h"

/* Widths of columns; `first` is that of the measure. */
struct layout {
    FILE *out;
    int first, objects, allocs, bytes, lifetime;
};

static struct layout make_layout(FILE *out, const struct report__rows *rows,
                                 int least) {
    const struct report__row *total = &rows->total;
    struct layout layout = {
        .out = out,
        .first = report__larger(least, report__digits(total->main)),
        .objects = report__larger(8, report__digits(total->at_peak.allocs)),
        .allocs = report__larger(8, report__digits(total->allocated.allocs)),
        .bytes = report__larger(10, report__digits(total->allocated.bytes)),
        .lifetime = 10};
    for (uint32_t i = 0; i < rows->count; i++) {
        const char *text = report__row_lifetime(&rows->list[i]).text;
        layout.lifetime = report__larger(layout.lifetime, (int)strlen(text));
    }
    return layout;
}

static void print_peak_heading(const void *layout) {
    const struct layout *l = layout;
    int width =
        fprintf(l->out, "%*s (%%)   %*s %*s %*s (%%)   %*s   path\n", l->first,
                "peak bytes", l->objects, "objects", l->allocs, "allocs",
                l->bytes, "bytes", l->lifetime, "lifetime");
    report__rule(l->out, '-', width + 26);
    putc('\n', l->out);
}

static void print_peak_row(const void *layout, struct report__rows *rows,
                           const struct report__row *row) {
    const struct layout *l = layout;
    const struct report__row *total = &rows->total;

    report__print_row_part(l->out, l->first, rows, row, row->at_peak.bytes,
                           total->at_peak.bytes);
    fprintf(l->out, " %*" PRIu64 " %*" PRIu64 " ", l->objects,
            row->at_peak.allocs, l->allocs, row->allocated.allocs);
    report__print_row_part(l->out, l->bytes, rows, row, row->allocated.bytes,
                           total->allocated.bytes);
    fprintf(l->out, " %*s   ", l->lifetime, report__row_lifetime(row).text);
    report__print_row_path(l->out, rows, row);
}

static void print_temporary_heading(const void *layout) {
    const struct layout *l = layout;
    int width = fprintf(l->out, "%*s (%%)   %*s (%%)   %*s %*s   path\n",
                        l->first, "temporary", l->allocs, "of allocs", l->bytes,
                        "bytes", l->lifetime, "lifetime");
    report__rule(l->out, '-', width + 26);
    putc('\n', l->out);
}

static void print_temporary_row(const void *layout, struct report__rows *rows,
                                const struct report__row *row) {
    const struct layout *l = layout;
    const struct report__row *total = &rows->total;

    report__print_row_part(l->out, l->first, rows, row, row->temporary,
                           total->temporary);
    fprintf(l->out, " %*" PRIu64 " %s %*" PRIu64 " %*s   ", l->allocs,
            row->allocated.allocs,
            report__fraction(row->temporary, row->allocated.allocs).text,
            l->bytes, row->allocated.bytes, l->lifetime,
            report__row_lifetime(row).text);
    report__print_row_path(l->out, rows, row);
}

static const struct report__row_table peak_table = {
    .title = "Peak",
    .nothing = "Nothing was allocated.",
    .what = "bytes that lived at the peak",
    .print_heading = print_peak_heading,
    .print_row = print_peak_row};

void report__print_peak(struct report__context *c) {
    struct report__rows rows = report__rows_make(c, MPROF_BY_PEAK);
    struct layout layout = make_layout(c->out, &rows, 10);

    report__print_row_table(c->out, &peak_table, &layout, &rows, &c->choice);
}

static const struct report__row_table temporary_table = {
    .title = "Temporary allocations",
    .nothing = "No allocation was freed by the next event of its thread.",
    .what = "temporary allocations",
    .print_heading = print_temporary_heading,
    .print_row = print_temporary_row};

void report__print_temporary(struct report__context *c) {
    struct report__rows rows = report__rows_make(c, MPROF_BY_TEMPORARY);
    struct layout layout = make_layout(c->out, &rows, 9);

    layout.allocs = report__larger(layout.allocs, 9);
    report__print_row_table(c->out, &temporary_table, &layout, &rows,
                            &c->choice);
}
