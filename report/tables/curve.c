/* curve.c - the C heap over time: as a table, for gnuplot, or drawn. */
#include <inttypes.h>
#include <string.h>

#include "report/tables/tables.h"

/* What was resident last when MOMENT was, by *AT, which moves on; 0: nothing
 * was known. */
static uint64_t resident_at(const struct report__profile *p,
                            const struct report__moment *moment, uint32_t *at) {
    while (*at < p->resident_count && p->resident[*at].time <= moment->time)
        ++*at;
    return *at > 0 ? p->resident[*at - 1].bytes : 0;
}

static double seconds(uint64_t ns) {
    return (double)ns / 1e9;
}

static int grouped_width(uint64_t number) {
    return (int)strlen(report__grouped(number).text);
}

static void print_mark(FILE *out, const struct report__moment *moment) {
    if (moment->mark == NULL)
        return;
    fputs("  ", out);
    report__print_name(out, moment->mark);
}

static void print_table(FILE *out, const struct report__profile *p) {
    const struct report__moment *last = &p->moments[p->moment_count - 1];
    uint64_t most = 0, resident = 0;
    uint32_t sample = 0;

    for (uint32_t i = 0; i < p->moment_count; i++)
        if (p->moments[i].live.allocs > most)
            most = p->moments[i].live.allocs;
    for (uint32_t i = 0; i < p->resident_count; i++)
        if (p->resident[i].bytes > resident)
            resident = p->resident[i].bytes;
    int allocated = report__larger(9, grouped_width(last->allocated));
    int current = report__larger(7, grouped_width(p->at_peak.bytes));
    int objects = report__larger(7, grouped_width(most));
    int memory = report__larger(8, grouped_width(resident));

    int width = fprintf(out, "%12s  %*s  %*s  %*s  %*s\n", "seconds", allocated,
                        "allocated", current, "current", objects, "objects",
                        memory, "resident");
    report__rule(out, '-', width - 1);
    putc('\n', out);
    for (uint32_t i = 0; i < p->moment_count; i++) {
        const struct report__moment *m = &p->moments[i];
        uint64_t bytes = resident_at(p, m, &sample);
        fprintf(out, "%12.6f  %*s", seconds(m->time), allocated,
                report__grouped(m->allocated).text);
        fprintf(out, "  %*s", current, report__grouped(m->live.bytes).text);
        fprintf(out, "  %*s", objects, report__grouped(m->live.allocs).text);
        fprintf(out, "  %*s%s", memory,
                bytes == 0 ? "-" : report__grouped(bytes).text,
                m->is_peak ? "  peak" : "");
        print_mark(out, m);
        putc('\n', out);
    }
}

static void print_tsv(FILE *out, const struct report__profile *p) {
    uint32_t sample = 0;

    const char *mark = p->mark_count > 0 ? "start" : NULL;

    fprintf(out, "# seconds\tcurrent\tallocated\tobjects\tresident%s\n",
            mark != NULL ? "\tmark" : "");
    for (uint32_t i = 0; i < p->moment_count; i++) {
        const struct report__moment *m = &p->moments[i];
        uint64_t bytes = resident_at(p, m, &sample);
        fprintf(out, "%.9f\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64,
                seconds(m->time), m->live.bytes, m->allocated, m->live.allocs,
                bytes);
        if (m->mark != NULL)
            mark = m->mark;
        if (mark != NULL) {
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

void report__draw(FILE *out, const struct report__moment *moments,
                  uint32_t count, const struct report__curve_options *o,
                  struct report__pool *pool) {
    uint64_t top = 0;
    for (uint32_t i = 0; i < count; i++)
        if (moments[i].live.bytes > top)
            top = moments[i].live.bytes;
    int label = report__larger(1, grouped_width(top));
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
        /* What lives at all has its row. */
        uint64_t least = row == 1 ? 1 : value - top / rows / 2;
        while (used > 0 && heights[used - 1] < least)
            used--;
        for (uint32_t i = 0; i < used; i++)
            putc(heights[i] >= least && top > 0 ? '#' : ' ', out);
        putc('\n', out);
    }
    fprintf(out, "%*s +", label, "0");
    report__rule(out, '-', (int)columns);
    /* Cut, as in the first line. */
    uint64_t end = moments[count - 1].time / 1000000;
    int width = snprintf(last, sizeof last, "%" PRIu64 ".%03u s", end / 1000,
                         (unsigned)(end % 1000));
    fprintf(out, "\n%*s  0 s%*s\n", label, "",
            report__larger((int)columns - 3, width + 1), last);
}

static uint64_t distance(uint64_t a, uint64_t b) {
    return a > b ? a - b : b - a;
}

/* A copy of PROFILE with the points that OPTIONS ask for; the last one, the
 * peak and marks stay. */
static struct report__profile
choose_points(const struct report__profile *profile,
              const struct report__curve_options *options,
              struct report__pool *pool) {
    struct report__profile chosen = *profile;
    const struct report__moment *last = NULL;

    chosen.moments =
        report__alloc(pool, profile->moment_count, sizeof *chosen.moments);
    chosen.moment_count = 0;
    for (uint32_t i = 0; i < profile->moment_count; i++) {
        const struct report__moment *m = &profile->moments[i];
        bool is_far =
            last == NULL || i + 1 == profile->moment_count ||
            m->time - last->time >= options->least_ns ||
            distance(m->live.bytes, last->live.bytes) >= options->least_bytes;
        if (!is_far && !m->is_peak && m->mark == NULL)
            continue;
        chosen.moments[chosen.moment_count++] = *m;
        last = m;
    }
    return chosen;
}

void report__print_curve(FILE *out, const struct report__profile *profile,
                         const struct report__curve_options *options,
                         struct report__pool *pool) {
    struct report__profile chosen = choose_points(profile, options, pool);

    if (options->format == MPROF_CURVE_TSV) {
        print_tsv(out, &chosen);
        return;
    }
    fputs("\nC heap over time, in bytes\n\n", out);
    if (options->format == MPROF_CURVE_PLOT)
        report__draw(out, profile->moments, profile->moment_count, options,
                     pool);
    else
        print_table(out, &chosen);
}
