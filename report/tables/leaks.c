/* leaks.c - the memory leak table: by which paths memory was kept. */
#include <inttypes.h>

#include "report/tables/rows.h"

struct layout {
    FILE *out;
    int kept_width, allocs_width, bytes_width, frees_width, freed_width;
    bool frees;  /* whether there are columns for them */
    bool narrow; /* there are none but for what is kept, and allocations */
};

static struct layout make_layout(FILE *out, const struct report__row *total) {
    return (struct layout){
        .out = out,
        .frees = total->freed.allocs > 0,
        .kept_width = report__larger(10, report__digits(total->kept.bytes)),
        .allocs_width =
            report__larger(8, report__digits(total->allocated.allocs)),
        .bytes_width =
            report__larger(10, report__digits(total->allocated.bytes)),
        .frees_width = report__larger(8, report__digits(total->freed.allocs)),
        .freed_width = report__larger(10, report__digits(total->freed.bytes))};
}

static void print_narrow_heading(const struct layout *l) {
    int width = fprintf(l->out, "%*s (%%)   %*s   path\n", l->kept_width,
                        "kept bytes", l->allocs_width, "allocs");
    report__rule(l->out, '-', width + 46);
    putc('\n', l->out);
}

static void print_heading(const void *layout) {
    const struct layout *l = layout;

    if (l->narrow) {
        print_narrow_heading(l);
        return;
    }
    int width = fprintf(l->out, "%*s (%%)   %*s %*s (%%)  ", l->kept_width,
                        "kept bytes", l->allocs_width, "allocs", l->bytes_width,
                        "bytes");
    if (l->frees)
        width += fprintf(l->out, " %*s %*s (%%)  ", l->frees_width, "frees",
                         l->freed_width, "bytes");
    fputs(" path\n", l->out);
    report__rule(l->out, '-', width + 32);
    putc('\n', l->out);
}

static void print_row(const void *layout, struct report__rows *rows,
                      const struct report__row *row) {
    const struct layout *l = layout;
    const struct report__row *total = &rows->total;

    report__print_row_part(l->out, l->kept_width, rows, row, row->kept.bytes,
                           total->kept.bytes);
    fprintf(l->out, " %*" PRIu64 " ", l->allocs_width, row->allocated.allocs);
    if (l->narrow) {
        fputs("  ", l->out);
        report__print_row_path(l->out, rows, row);
        return;
    }
    report__print_row_part(l->out, l->bytes_width, rows, row,
                           row->allocated.bytes, total->allocated.bytes);
    if (l->frees && row->freed.allocs > 0) {
        fprintf(l->out, " %*" PRIu64 " ", l->frees_width, row->freed.allocs);
        report__print_row_part(l->out, l->freed_width, rows, row,
                               row->freed.bytes, total->freed.bytes);
    } else if (l->frees) {
        report__rule(l->out, ' ', l->frees_width + l->freed_width + 8);
    }
    fputs("  ", l->out);
    report__print_row_path(l->out, rows, row);
}

/* WHAT follows for the table. */
static void print_unknown(FILE *out, const struct report__profile *profile,
                          const char *what) {
    if (profile->untracked_allocs > 0)
        fprintf(out,
                "what became of %s allocation%s (%s bytes) is not known: %s\n",
                report__grouped(profile->untracked_allocs).text,
                profile->untracked_allocs == 1 ? "" : "s",
                report__grouped(profile->untracked_bytes).text, what);
}

/* Of several processes some were not looked at. */
static void print_unscanned(FILE *out, const struct report__profile *p) {
    if (p->unscanned > 0 && p->scan != 0)
        fprintf(out, "of %s of %s processes it is not known what they lost\n",
                report__grouped(p->unscanned).text,
                report__grouped(p->process_count).text);
}

static void print_doubts(FILE *out, const struct report__profile *profile) {
    print_unknown(out, profile, "the table may list objects that were freed");
    if (profile->unplaced_frees > 0)
        fprintf(out,
                "%s free%s (%s bytes) could not be counted with what %s: the "
                "table may list objects that were freed\n",
                report__grouped(profile->unplaced_frees).text,
                profile->unplaced_frees == 1 ? "" : "s",
                report__grouped(profile->unplaced_freed_bytes).text,
                profile->unplaced_frees == 1 ? "it freed" : "they freed");
}

/* Whose the last rows are. */
static void print_held(FILE *out, const struct report__rows *rows) {
    static const char *const whats[] = {
        [MPROF__STREAM_BUFFERS] = "buffers of the C library's streams",
        [MPROF__EXCEPTION_POOL] =
            "memory that the C++ library keeps for exceptions"};

    for (int i = MPROF__NOT_HELD + 1; i < MPROF__HELD; i++)
        if (rows->held[i] > 0)
            fprintf(out, "no leak: %s bytes are %s\n",
                    report__grouped(rows->held[i]).text, whats[i]);
}

/* Of the table of what is kept, when it is known. */
static void print_share_lost(FILE *out, const struct report__profile *profile,
                             const struct report__rows *rows) {
    const struct report__row *total = &rows->total;
    if (profile->scan == 0 || profile->scan_flags & MPROF_SCAN_FAILED)
        return;
    fprintf(out,
            "%s of the %s bytes kept are lost: nothing in the program led to "
            "them at its end (--table=lost)\n",
            report__grouped(total->lost.bytes).text,
            report__grouped(total->kept.bytes).text);
    print_unscanned(out, profile);
}

static const struct report__row_table kept_table = {
    .title = "Memory leaks",
    .nothing = "Nothing was kept: every recorded object was freed.",
    .what = "bytes kept",
    .print_heading = print_heading,
    .print_row = print_row};

void report__print_leaks(struct report__context *c) {
    struct report__rows rows = report__rows_make(c, MPROF_BY_KEPT);
    struct layout layout = make_layout(c->out, &rows.total);
    layout.narrow = c->is_narrow;

    report__print_row_table(c->out, &kept_table, &layout, &rows, &c->choice);
    print_held(c->out, &rows);
    print_doubts(c->out, c->part);
    print_share_lost(c->out, c->part, &rows);
}

/*
 * What is lost
 */

static void print_lost_heading(const void *layout) {
    const struct layout *l = layout;
    int width = fprintf(l->out, "%*s (%%)   %*s %*s   path\n", l->kept_width,
                        "lost bytes", l->allocs_width, "objects",
                        l->frees_width, "indirect");
    report__rule(l->out, '-', width + 27);
    putc('\n', l->out);
}

static void print_lost_row(const void *layout, struct report__rows *rows,
                           const struct report__row *row) {
    const struct layout *l = layout;
    report__print_row_part(l->out, l->kept_width, rows, row, row->lost.bytes,
                           rows->total.lost.bytes);
    fprintf(l->out, " %*" PRIu64 " %*" PRIu64 "   ", l->allocs_width,
            row->lost.objects, l->frees_width,
            row->lost.objects - row->lost.roots);
    report__print_row_path(l->out, rows, row);
}

static void print_scan_doubts(FILE *out, const struct report__profile *p) {
    if (p->scan_flags & MPROF_SCAN_RUNNING)
        fputs("other threads could not be stopped while it was looked for what "
              "is lost: the\ntable may list what they used\n",
              out);
    if (p->scan_flags & MPROF_SCAN_LATE)
        fputs("the program had allocated before it was recorded: what that, or "
              "what was freed of\nit, happened to point to is not listed\n",
              out);
    print_unscanned(out, p);
    print_unknown(out, p, "what only they point to\nis listed");
    if (p->lost_unplaced.objects > 0)
        fprintf(out,
                "%s more object%s (%s bytes) %s lost, whose callers there was "
                "no room to note\n",
                report__grouped(p->lost_unplaced.objects).text,
                p->lost_unplaced.objects == 1 ? "" : "s",
                report__grouped(p->lost_unplaced.bytes).text,
                p->lost_unplaced.objects == 1 ? "is" : "are");
}

static const struct report__row_table lost_table = {
    .title = "Lost memory",
    .nothing = "Nothing was lost: something led to every object that was kept.",
    .what = "bytes lost",
    .print_heading = print_lost_heading,
    .print_row = print_lost_row};

void report__print_lost(struct report__context *c) {
    struct report__rows rows = report__rows_make(c, MPROF_BY_LOST);
    const struct mprof_lost_count *total = &rows.total.lost;
    struct layout layout = {
        .out = c->out,
        .kept_width = report__larger(10, report__digits(total->bytes)),
        .allocs_width = report__larger(8, report__digits(total->objects)),
        .frees_width = report__larger(8, report__digits(total->objects))};

    if (c->part->scan == 0 || c->part->scan_flags & MPROF_SCAN_FAILED) {
        report__print_title(c->out, lost_table.title, 0);
        fprintf(c->out, "%s",
                c->part->scan == 0
                    ? "It was not looked for what is lost: `mprof run --scan` "
                      "does, when the program\nexits.\n"
                    : "What is lost is not known: memory for that was lacking, "
                      "or the system did not\ntell what memory the program "
                      "has (/proc/self/maps).\n");
        return;
    }
    report__print_row_table(c->out, &lost_table, &layout, &rows, &c->choice);
    print_scan_doubts(c->out, c->part);
}
