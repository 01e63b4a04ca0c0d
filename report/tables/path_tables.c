/* path_tables.c - the tables of paths: of kept, lost or all blocks, of objects
 * that are live now or were at the peak, and of temporary ones. */

#include "report/tables/rows.h"

/* How a column is printed. */
enum {
    SHARE = 1,  /* with its percentage of the total */
    FREES = 2,  /* blank in rows of which nothing was freed */
    TIGHT = 4,  /* without a blank before it */
    PASSING = 8 /* with the percentage of it that was temporary */
};

/* A column has a number of each row, or a text. */
struct column {
    const char *heading;
    int width; /* at least; 0: it is left out */
    size_t at; /* offset of the number in struct report__row */
    unsigned flags;
    struct report__text (*text)(const struct report__rows *rows,
                                const struct report__row *row);
};
#define OF(member) .at = REPORT__OF(member)

/* What stands around the columns, which end with one that has no heading. */
struct table {
    const char *title;
    const char *nothing; /* a sentence in place of no rows */
    const char *what;    /* the rows are sorted by: "bytes kept" */
    int gap;             /* before the paths; before their heading: */
    int heading_gap;
    int rule; /* dashes behind the heading */
};

static void print_heading(FILE *out, const struct table *table,
                          const struct column *columns) {
    int width = 0;

    for (const struct column *c = columns; c->heading; c++)
        if (c->width > 0)
            width += fprintf(out, "%s%*s%s",
                             c == columns || c->flags & TIGHT ? "" : " ",
                             c->width, c->heading,
                             c->flags & (SHARE | PASSING) ? " (%)  "
                             : c->flags & TIGHT           ? " "
                                                          : "");
    width += fprintf(out, "%*spath\n", table->heading_gap, "");
    report__underline(out, width + table->rule);
}

static void print_cell(FILE *out, const struct report__rows *rows,
                       const struct report__row *row, const struct column *c) {
    const uint64_t number = report__row_number(row, c->at);
    const bool is_total = row == &rows->total;

    if (c->text)
        fprintf(out, "%*s", c->width, c->text(rows, row).text);
    else if (c->flags & FREES && row->freed.allocs == 0)
        fprintf(out, "%*s", c->width + (c->flags & SHARE ? 6 : 0), "");
    else
        fprintf(out, "%*" PRIu64, c->width, number);
    if (c->flags & PASSING)
        fprintf(out, " %s", report__fraction(row->temporary, number).text);
    else if (c->flags & SHARE && !(c->flags & FREES && row->freed.allocs == 0))
        fprintf(out, " %5s",
                is_total ? ""
                         : report__fraction(
                               number, report__row_number(&rows->total, c->at))
                               .text);
}

static void print_row(FILE *out, struct report__rows *rows,
                      const struct report__row *row, const struct table *table,
                      const struct column *columns) {
    for (const struct column *c = columns; c->heading; c++) {
        if (c->width == 0)
            continue;
        fputs(c == columns || c->flags & TIGHT ? "" : " ", out);
        print_cell(out, rows, row, c);
    }
    fprintf(out, "%*s", table->gap, "");
    report__print_row_path(out, rows, row);
}

/* Title, a line for each of ROWS and one for their total, and notes below. */
static void print(const struct report__context *c, struct report__rows *rows,
                  const struct table *table, struct column *columns) {
    report__print_title(c->out, table->title, rows->sampling);
    for (struct column *of = columns; of->heading; of++)
        if (of->width > 0 && !of->text)
            of->width = report__width(of->width,
                                      report__row_number(&rows->total, of->at));
    if (rows->count + rows->left.small + rows->left.more > 0) {
        print_heading(c->out, table, columns);
        for (uint32_t i = 0; i < rows->count; i++)
            print_row(c->out, rows, &rows->list[i], table, columns);
        print_row(c->out, rows, &rows->total, table, columns);
    } else {
        fprintf(c->out, "%s\n", table->nothing);
    }
    report__print_row_notes(c->out, rows, &c->choice, table->what);
}

/* Kept blocks */

/* WHAT follows for the table. */
static void print_unknown(FILE *out, const struct report__profile *profile,
                          const char *what) {
    if (profile->untracked_allocs > 0) {
        SAY(out, "what became of # allocation~ (# bytes) is not known: ",
            profile->untracked_allocs, profile->untracked_bytes);
        fprintf(out, "%s\n", what);
    }
}

/* Of several processes some were not looked at. */
static void print_unscanned(FILE *out, const struct report__profile *p) {
    if (p->unscanned > 0 && p->scan != 0)
        SAY(out, "of # of # processes it is not known what they lost\n",
            p->unscanned, p->process_count);
}

/* Whose the last rows are, and what is doubtful. */
static void print_doubts(FILE *out, const struct report__profile *p,
                         const struct report__rows *rows) {
    if (rows->held[MPROF__STREAM_BUFFERS] > 0)
        SAY(out, "no leak: # bytes are buffers of the C library's streams\n",
            rows->held[MPROF__STREAM_BUFFERS]);
    if (rows->held[MPROF__EXCEPTION_POOL] > 0)
        SAY(out,
            "no leak: # bytes are memory that the C++ library keeps for "
            "exceptions\n",
            rows->held[MPROF__EXCEPTION_POOL]);
    print_unknown(out, p, "the table may list objects that were freed");
    if (p->unplaced_frees > 0)
        SAY(out,
            p->unplaced_frees == 1
                ? "# free (# bytes) could not be counted with what it freed: "
                  "the table may list objects that were freed\n"
                : "# frees (# bytes) could not be counted with what they "
                  "freed: the table may list objects that were freed\n",
            p->unplaced_frees, p->unplaced_freed_bytes);
    if (p->scan == 0 || p->scan_flags & MPROF_SCAN_FAILED)
        return;
    if (rows->total.lost.bytes == 0)
        SAY(out, "of the # bytes kept none are lost\n", rows->total.kept.bytes);
    else
        SAY(out,
            "# of the # bytes kept are lost: nothing in the program led to "
            "them at its end (--table=lost)\n",
            rows->total.lost.bytes, rows->total.kept.bytes);
    print_unscanned(out, p);
}

void report__print_leaks(struct report__context *c) {
    struct report__rows rows = report__rows_make(c, MPROF_BY_KEPT);
    const bool frees = !c->is_narrow && rows.total.freed.allocs > 0;
    struct column columns[] = {
        {"kept bytes", 10, OF(kept.bytes), SHARE},
        {"allocs", 8, OF(allocated.allocs)},
        {"bytes", c->is_narrow ? 0 : 10, OF(allocated.bytes), SHARE},
        {"frees", frees ? 8 : 0, OF(freed.allocs), FREES},
        {"bytes", frees ? 10 : 0, OF(freed.bytes), SHARE | FREES},
        {.heading = NULL}};
    const struct table table = {
        "Memory leaks",
        "Nothing was kept: every recorded object was freed.",
        "bytes kept",
        c->is_narrow ? 3 : 2,
        c->is_narrow ? 3 : 1,
        c->is_narrow ? 46 : 26};

    print(c, &rows, &table, columns);
    print_doubts(c->out, c->part, &rows);
}

static void print_scan_doubts(FILE *out, const struct report__profile *p) {
    if (p->scan_flags & MPROF_SCAN_RUNNING)
        fputs("other threads could not be stopped for the scan: the table may "
              "list blocks that\nthey used\n",
              out);
    if (p->scan_flags & MPROF_SCAN_LATE)
        fputs("the program had allocated before the recording: blocks to which "
              "this memory points\nare not listed\n",
              out);
    print_unscanned(out, p);
    print_unknown(out, p, "blocks to which only\nthey point are listed");
    if (p->lost_unplaced.objects > 0)
        SAY(out,
            p->lost_unplaced.objects == 1
                ? "# more object (# bytes) is lost; there was no space for its "
                  "callers\n"
                : "# more objects (# bytes) are lost; there was no space for "
                  "their callers\n",
            p->lost_unplaced.objects, p->lost_unplaced.bytes);
}

void report__print_lost(struct report__context *c) {
    struct report__rows rows = report__rows_make(c, MPROF_BY_LOST);
    const int least = report__width(8, rows.total.lost.objects);
    struct column columns[] = {{"lost bytes", 10, OF(lost.bytes), SHARE},
                               {"objects", 8, OF(lost.objects)},
                               {"indirect", least, OF(indirect)},
                               {.heading = NULL}};
    static const struct table table = {
        "Lost memory",
        "Nothing was lost: a pointer led to every block that was not freed.",
        "bytes lost",
        3,
        3,
        27};

    if (c->part->scan == 0 || c->part->scan_flags & MPROF_SCAN_FAILED) {
        report__print_title(c->out, table.title, 0);
        fputs(c->part->scan == 0
                  ? "No scan for lost blocks was recorded.  Record one with: "
                    "mprof run --scan PROGRAM\n"
                  : "The scan for lost blocks failed: memory was missing, or "
                    "the system did not show\nwhat memory the program has "
                    "(/proc/self/maps).\n",
              c->out);
        return;
    }
    print(c, &rows, &table, columns);
    print_scan_doubts(c->out, c->part);
}

/* How long it lived */

/* The mean of the allocations of ROW. */
static struct report__text lifetime_of(const struct report__rows *rows,
                                       const struct report__row *row) {
    uint64_t allocs = row->allocated.allocs;
    unsigned __int128 mean = allocs ? row->lifetime / allocs : 0;

    (void)rows;
    return report__grouped(mean >> 64 ? UINT64_MAX : (uint64_t)mean);
}

static int lifetime_width(const struct report__rows *rows) {
    int width = 10;

    for (uint32_t i = 0; i < rows->count; i++)
        width = report__larger(
            width, (int)strlen(lifetime_of(rows, &rows->list[i]).text));
    return width;
}

void report__print_peak(struct report__context *c) {
    struct report__rows rows = report__rows_make(c, MPROF_BY_PEAK);
    struct column columns[] = {
        {"peak bytes", 10, OF(at_peak.bytes), SHARE},
        {"objects", 8, OF(at_peak.allocs)},
        {"allocs", 8, OF(allocated.allocs)},
        {"bytes", 10, OF(allocated.bytes), SHARE},
        {"lifetime", lifetime_width(&rows), .text = lifetime_of},
        {.heading = NULL}};
    static const struct table table = {
        "Peak", "Nothing was allocated.", "bytes that lived at the peak", 3, 3,
        26};

    print(c, &rows, &table, columns);
}

void report__print_temporary(struct report__context *c) {
    struct report__rows rows = report__rows_make(c, MPROF_BY_TEMPORARY);
    struct column columns[] = {
        {"temporary", 9, OF(temporary), SHARE},
        {"of allocs", 9, OF(allocated.allocs), PASSING},
        {"bytes", 10, OF(allocated.bytes)},
        {"lifetime", lifetime_width(&rows), .text = lifetime_of},
        {.heading = NULL}};
    static const struct table table = {
        "Temporary allocations",
        "No allocation was freed by the next event of its thread.",
        "temporary allocations",
        3,
        3,
        26};

    print(c, &rows, &table, columns);
}

/* Live objects */

/* How many collections the objects of ROW have survived, on the average. */
static struct report__text age_of(const struct report__rows *rows,
                                  const struct report__row *row) {
    struct report__text text = {""};

    (void)rows;
    if (row->kept.allocs > 0)
        snprintf(text.text, sizeof text.text, "%.1f",
                 (double)row->lifetime / (double)row->kept.allocs);
    return text;
}

static struct report__text error_of(const struct report__rows *rows,
                                    const struct report__row *row) {
    struct report__text text = {""};

    if (row->kept.bytes > 0)
        snprintf(text.text, sizeof text.text, "%.1f%%",
                 report__standard_error(row->kept.bytes, rows->sampling));
    return text;
}

void report__print_alive(struct report__context *c) {
    const struct report__profile *p = c->part;
    const uint64_t n = p->alive_collections;
    const int gap = c->is_narrow ? 3 : 2;
    const struct table table = {"What is alive",
                                "Nothing is alive of what was allocated.",
                                "bytes alive",
                                gap,
                                gap,
                                27};

    if (!p->alive) {
        report__print_title(c->out, table.title, p->sampling);
        fputs("No live objects were recorded.  Record them with: ecl --mprof "
              "--live, or\n(mprof:start :live t).\n",
              c->out);
        return;
    }
    struct report__rows rows = report__rows_make(c, MPROF_BY_ALIVE);
    struct column columns[] = {
        {"alive bytes", 11, OF(kept.bytes), SHARE},
        {"error", p->sampling ? 6 : 0, 0, TIGHT, error_of},
        {"objects", 8, OF(kept.allocs)},
        {"age", report__larger(5, 2 + report__digits(n)), .text = age_of},
        {"allocs", c->is_narrow ? 0 : 8, OF(allocated.allocs)},
        {"bytes", c->is_narrow ? 0 : 10, OF(allocated.bytes), SHARE},
        {.heading = NULL}};
    print(c, &rows, &table, columns);
    SAY(c->out,
        p->alive_at_end
            ? "age: the collections that it survived, of #; the last one ended "
              "the recording\n"
            : "age: the collections that it survived, of #; objects allocated "
              "since the last\none count as alive\n",
        n);
    if (p->untracked_allocs > 0)
        SAY(c->out,
            "# allocations (# bytes) count as alive, because there was no "
            "memory to\nfollow them\n",
            p->untracked_allocs, p->untracked_bytes);
}

void report__print_equal(struct report__context *c) {
    static const struct table table = {
        "Equal contents",
        "No two live strings or vectors of numbers have equal contents.",
        "equal bytes",
        2,
        2,
        27};

    if (!report__is_looked_at(c, table.title))
        return;
    struct report__rows rows = report__rows_make(c, MPROF_BY_EQUAL);
    struct column columns[] = {
        {"equal bytes", 11, OF(equal.bytes), SHARE},
        {"blocks", 8, OF(equal.allocs)},
        {"of bytes", 10, OF(compared.bytes)},
        {"blocks", c->is_narrow ? 0 : 8, OF(compared.allocs)},
        {.heading = NULL}};
    print(c, &rows, &table, columns);
    fputs("equal: another live string or vector of numbers has these "
          "contents; one of each\ndoes not count\n",
          c->out);
}

/* Allocations */

/* Frees of chains that were summed up are only known at their ends. */
static bool knows_alive(const struct report__profile *profile,
                        enum mprof_heap heap) {
    bool knows = profile->alive && heap == MPROF_LISP_HEAP;

    for (uint32_t i = 0; i < profile->counter_count; i++)
        knows &= report__lived(&profile->counters[i])->elsewhere.allocs == 0;
    return knows;
}

void report__print_paths(struct report__context *c) {
    const enum report__sort sort = c->choice.sort;
    const char *what = sort == MPROF_SORT_ALLOCS ? "allocations"
                       : sort == MPROF_SORT_KEPT ? "bytes kept"
                       : sort == MPROF_SORT_PEAK ? "bytes at the peak"
                                                 : "bytes";
    struct report__rows rows = report__rows_make(c, MPROF_BY_SORT);
    const bool is_c = c->heap == MPROF_C_HEAP;
    struct column columns[] = {{"bytes", 10, OF(allocated.bytes), SHARE},
                               {"allocs", 8, OF(allocated.allocs), SHARE},
                               {"kept bytes", is_c ? 10 : 0, OF(kept.bytes)},
                               {"at peak", is_c ? 10 : 0, OF(at_peak.bytes)},
                               {"alive bytes",
                                knows_alive(c->part, c->heap) ? 11 : 0,
                                OF(kept.bytes), SHARE},
                               {.heading = NULL}};
    const struct table table = {"Paths",      "Nothing was allocated.",
                                what,         is_c ? 4 : 2,
                                is_c ? 3 : 1, 24};

    print(c, &rows, &table, columns);
}
