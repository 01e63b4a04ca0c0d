/* curve.c - the heaps over time: as a table, for gnuplot, or drawn. */

#include "report/tables/tables.h"

/* A line: numbers in the order of the table's columns. */
struct point {
    uint64_t time;
    uint64_t numbers[4];
    uint64_t ns;      /* Lisp: of collections */
    const char *mark; /* one that is new here, or NULL */
    bool is_peak;
};

struct series {
    struct point *list;
    uint32_t count;
    int widths[4];
    const char *headings[4];
    int order[4]; /* of the columns for gnuplot */
    bool is_lisp, has_marks;
};

static double seconds(uint64_t ns) {
    return (double)ns / 1e9;
}

static void print_table(FILE *out, const struct series *s) {
    int width = fprintf(out, "%12s", "seconds");

    for (int n = 0; n < 4; n++)
        width += fprintf(out, "  %*s", s->widths[n], s->headings[n]);
    width += fprintf(out, "%s\n", s->is_lisp ? "    collecting" : "");
    report__underline(out, width - 1);
    for (const struct point *p = s->list; p < s->list + s->count; p++) {
        fprintf(out, "%12.6f", seconds(p->time));
        for (int n = 0; n < 4; n++)
            fprintf(out, "  %*s", s->widths[n],
                    n == 3 && !s->is_lisp && p->numbers[n] == 0
                        ? "-"
                        : report__grouped(p->numbers[n]).text);
        if (s->is_lisp)
            fprintf(out, "  %12.6f", seconds(p->ns));
        fputs(p->is_peak ? "  peak" : "", out);
        if (p->mark != NULL) {
            fputs("  ", out);
            report__print_name(out, p->mark);
        }
        putc('\n', out);
    }
}

static void print_tsv(FILE *out, const struct series *s) {
    const char *mark = "start";

    fprintf(out, "# seconds");
    for (int n = 0; n < 4; n++)
        fprintf(out, "\t%s", s->headings[s->order[n]]);
    fprintf(out, "%s%s\n", s->is_lisp ? "\tcollecting" : "",
            s->has_marks ? "\tmark" : "");
    for (const struct point *p = s->list; p < s->list + s->count; p++) {
        fprintf(out, "%.9f", seconds(p->time));
        for (int n = 0; n < 4; n++)
            fprintf(out, "\t%" PRIu64, p->numbers[s->order[n]]);
        if (s->is_lisp)
            fprintf(out, "\t%.9f", seconds(p->ns));
        mark = p->mark ? p->mark : mark;
        if (s->has_marks) {
            putc('\t', out);
            report__print_name(out, mark);
        }
        putc('\n', out);
    }
}

/* For each of COLUMNS, the most that lived in its part of the time. */
static void find_heights(const struct report__moment *moments, uint32_t count,
                         uint64_t *heights, uint32_t columns) {
    uint64_t end = moments[count - 1].time, now = 0;
    uint32_t column = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct report__moment *m = &moments[i];
        uint32_t to =
            end == 0
                ? 0
                : (uint32_t)((unsigned __int128)m->time * (columns - 1) / end);
        for (; column < to; column++)
            if (heights[column + 1] < now)
                heights[column + 1] = now;
        now = m->live.bytes;
        if (heights[to] < now)
            heights[to] = now;
    }
}

static void draw(FILE *out, const struct report__moment *moments,
                 uint32_t count, const struct report__curve_options *o,
                 struct report__pool *pool) {
    uint64_t top = 0;
    for (uint32_t i = 0; i < count; i++)
        if (moments[i].live.bytes > top)
            top = moments[i].live.bytes;
    int label = report__grouped_width(1, top);
    uint32_t rows = o->height > 8 ? o->height - 7 : 2;
    uint32_t columns =
        o->width > (uint32_t)label + 12 ? o->width - (uint32_t)label - 2 : 10;
    uint64_t *heights = report__alloc(pool, columns, sizeof *heights);
    char last[32];

    find_heights(moments, count, heights, columns);
    for (uint32_t row = rows; row > 0; row--) {
        bool is_named = row == rows || row == (rows + 1) / 2;
        uint64_t value = (uint64_t)((unsigned __int128)top * row / rows);
        uint32_t used = columns;
        fprintf(out, "%*s |", label,
                is_named ? report__grouped(value).text : "");
        /* Live bytes have at least one row. */
        uint64_t least = row == 1 ? 1 : value - top / rows / 2;
        while (used > 0 && heights[used - 1] < least)
            used--;
        for (uint32_t i = 0; i < used; i++)
            putc(heights[i] >= least && top > 0 ? '#' : ' ', out);
        putc('\n', out);
    }
    fprintf(out, "%*s +", label, "0");
    report__rule(out, '-', (int)columns);
    int width =
        snprintf(last, sizeof last, "%.3f s", seconds(moments[count - 1].time));
    fprintf(out, "\n%*s  0 s%*s\n", label, "",
            report__larger((int)columns - 3, width + 1), last);
}

/* The points that OPTIONS ask for; the last one, the peak and marks stay. */
static struct series c_series(const struct report__profile *p,
                              const struct report__curve_options *options,
                              struct report__pool *pool) {
    struct series s = {
        .list = report__alloc(pool, p->moment_count, sizeof *s.list),
        .headings = {"allocated", "current", "objects", "resident"},
        .order = {1, 0, 2, 3},
        .has_marks = p->mark_count > 0};
    const struct report__moment *last = NULL;
    uint64_t most = 0, resident = 0;
    uint32_t at = 0;

    for (uint32_t i = 0; i < p->resident_count; i++)
        if (p->resident[i].bytes > resident)
            resident = p->resident[i].bytes;
    for (uint32_t i = 0; i < p->moment_count; i++) {
        const struct report__moment *m = &p->moments[i];
        bool is_far = last == NULL || i + 1 == p->moment_count ||
                      m->time - last->time >= options->least_ns ||
                      report__left(m->live.bytes, last->live.bytes) +
                              report__left(last->live.bytes, m->live.bytes) >=
                          options->least_bytes;
        if (!is_far && !m->is_peak && m->mark == NULL)
            continue;
        last = m;
        while (at < p->resident_count && p->resident[at].time <= m->time)
            ++at;
        if (m->live.allocs > most)
            most = m->live.allocs;
        s.list[s.count++] = (struct point){
            .time = m->time,
            .numbers = {m->allocated, m->live.bytes, m->live.allocs,
                        at > 0 ? p->resident[at - 1].bytes : 0},
            .mark = m->mark,
            .is_peak = m->is_peak};
    }
    s.widths[0] = report__grouped_width(9, last->allocated);
    s.widths[1] = report__grouped_width(7, p->at_peak.bytes);
    s.widths[2] = report__grouped_width(7, most);
    s.widths[3] = report__grouped_width(8, resident);
    return s;
}

void report__print_curve(FILE *out, const struct report__profile *profile,
                         const struct report__curve_options *options,
                         struct report__pool *pool) {
    const struct series s = c_series(profile, options, pool);

    if (options->format != MPROF_CURVE_TSV)
        fputs("\nC heap over time, in bytes\n\n", out);
    if (options->format == MPROF_CURVE_PLOT)
        draw(out, profile->moments, profile->moment_count, options, pool);
    else
        (options->format == MPROF_CURVE_TSV ? print_tsv : print_table)(out, &s);
}

/* The Lisp heap at its collections. */
static struct series lisp_series(const struct report__profile *p,
                                 struct report__pool *pool) {
    struct series s = {
        .list = report__alloc(pool, p->collection_count, sizeof *s.list),
        .count = p->collection_count,
        .headings = {"collections", "allocated", "before", "after"},
        .order = {3, 1, 2, 0},
        .is_lisp = true,
        .has_marks = p->mark_count > 0};
    uint32_t at = 0;

    for (uint32_t i = 0; i < p->collection_count; i++) {
        const struct mprof_collection *c = &p->collections[i];
        s.list[i] = (struct point){
            .time = c->time,
            .numbers = {c->collections, c->allocated, c->before, c->after},
            .ns = c->ns};
        for (; at < p->mark_count && p->marks[at].time <= c->time; at++)
            s.list[i].mark = p->marks[at].mark;
        s.widths[0] = report__grouped_width(11, c->collections);
        s.widths[1] = report__grouped_width(9, c->allocated);
    }
    s.widths[2] = s.widths[3] = report__grouped_width(6, p->most_before);
    return s;
}

/* Each of them is a step down. */
static void draw_collections(FILE *out, const struct report__profile *p,
                             const struct report__curve_options *options,
                             struct report__pool *pool) {
    uint32_t count = 0;
    struct report__moment *moments = report__alloc(
        pool, 2 * (size_t)p->collection_count + 1, sizeof *moments);

    for (uint32_t i = 0; i < p->collection_count; i++) {
        const struct mprof_collection *c = &p->collections[i];
        moments[count].time = moments[count + 1].time = c->time;
        moments[count++].live.bytes = c->before;
        moments[count++].live.bytes = c->after;
    }
    moments[count] = moments[count - 1];
    if (p->duration > moments[count].time)
        moments[count].time = p->duration;
    draw(out, moments, count + 1, options, pool);
}

void report__print_collections(FILE *out, const struct report__profile *profile,
                               const struct report__curve_options *options,
                               struct report__pool *pool) {
    const struct series s = lisp_series(profile, pool);

    if (options->format != MPROF_CURVE_TSV)
        fputs("\nLisp heap at its collections, in bytes\n\n", out);
    if (options->format != MPROF_CURVE_TSV && s.count == 0)
        fputs("There was no collection.\n", out);
    else if (options->format == MPROF_CURVE_PLOT)
        draw_collections(out, profile, options, pool);
    else
        (options->format == MPROF_CURVE_TSV ? print_tsv : print_table)(out, &s);
}
