/* alive.c - the table of what is alive in the Lisp heap: by which paths it was
 * allocated. */
#include <inttypes.h>
#include <string.h>

#include "report/tables/rows.h"

enum { ERROR_WIDTH = 6 };

struct layout {
    FILE *out;
    int alive, objects, age, allocs, bytes;
    uint32_t sampling; /* then there is a column for the standard error */
    bool narrow;       /* there are no columns for what was allocated */
};

/* How many collections the objects of ROW have survived, on the average. */
static struct report__grouped age_of(const struct report__row *row) {
    struct report__grouped text = {""};
    const uint64_t objects = row->kept.allocs;

    if (objects > 0)
        snprintf(text.text, sizeof text.text, "%.1f",
                 (double)row->lifetime / (double)objects);
    return text;
}

/* Of what is alive. */
static struct report__grouped error_of(const struct layout *l,
                                       const struct report__row *row) {
    struct report__grouped text = {""};

    if (row->kept.bytes > 0)
        snprintf(text.text, sizeof text.text, "%.1f%%",
                 report__standard_error(row->kept.bytes, l->sampling));
    return text;
}

static void print_heading(const void *layout) {
    const struct layout *l = layout;
    int width = fprintf(l->out, "%*s (%%) ", l->alive, "alive bytes");
    if (l->sampling != 0)
        width += fprintf(l->out, " %*s", ERROR_WIDTH, "error");
    width += fprintf(l->out, "  %*s %*s", l->objects, "objects", l->age, "age");
    if (!l->narrow)
        width += fprintf(l->out, " %*s %*s (%%) ", l->allocs, "allocs",
                         l->bytes, "bytes");
    width += fprintf(l->out, "   path\n");
    report__rule(l->out, '-', width + 27);
    putc('\n', l->out);
}

static void print_row(const void *layout, struct report__rows *rows,
                      const struct report__row *row) {
    const struct layout *l = layout;
    const struct report__row *total = &rows->total;

    report__print_row_part(l->out, l->alive, rows, row, row->kept.bytes,
                           total->kept.bytes);
    if (l->sampling != 0)
        fprintf(l->out, "%*s", ERROR_WIDTH, error_of(l, row).text);
    fprintf(l->out, " %*" PRIu64 " %*s ", l->objects, row->kept.allocs, l->age,
            age_of(row).text);
    if (!l->narrow) {
        fprintf(l->out, "%*" PRIu64 " ", l->allocs, row->allocated.allocs);
        report__print_row_part(l->out, l->bytes, rows, row,
                               row->allocated.bytes, total->allocated.bytes);
    }
    fputs("  ", l->out);
    report__print_row_path(l->out, rows, row);
}

static const struct report__row_table table = {
    .title = "What is alive",
    .nothing = "Nothing is alive of what was allocated.",
    .what = "bytes alive",
    .print_heading = print_heading,
    .print_row = print_row};

/* As of when that is. */
static void print_moment(FILE *out, const struct report__profile *profile) {
    const uint64_t n = profile->alive_collections;

    if (profile->alive_at_end)
        fprintf(out,
                "age: the collections that it survived, of %s; the last one "
                "ended the recording\n",
                report__grouped(n).text);
    else
        fprintf(out,
                "age: the collections that it survived, of %s; what was "
                "allocated since the last\none counts as alive\n",
                report__grouped(n).text);
    if (profile->untracked_allocs > 0)
        fprintf(out,
                "what became of %s allocations (%s bytes) is not known, as "
                "there was no memory\nto note them: they count as alive\n",
                report__grouped(profile->untracked_allocs).text,
                report__grouped(profile->untracked_bytes).text);
}

void report__print_alive(struct report__context *c) {
    if (!c->part->alive) {
        report__print_title(c->out, table.title, c->part->sampling);
        fputs("It was not recorded what is alive: (mprof:start :live t), or "
              "ecl --mprof --live,\ndoes that.\n",
              c->out);
        return;
    }
    struct report__rows rows = report__rows_make(c, MPROF_BY_ALIVE);
    const struct report__row *total = &rows.total;
    struct layout layout = {
        .out = c->out,
        .narrow = c->is_narrow,
        .sampling = c->part->sampling,
        .alive = report__larger(11, report__digits(total->kept.bytes)),
        .objects = report__larger(8, report__digits(total->kept.allocs)),
        .age =
            report__larger(5, 2 + report__digits(c->part->alive_collections)),
        .allocs = report__larger(8, report__digits(total->allocated.allocs)),
        .bytes = report__larger(10, report__digits(total->allocated.bytes))};

    report__print_row_table(c->out, &table, &layout, &rows, &c->choice);
    print_moment(c->out, c->part);
}
