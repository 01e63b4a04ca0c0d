/* collections.c - the Lisp heap over time: in use before and after collections.
 */
#include <inttypes.h>
#include <string.h>

#include "report/tables/tables.h"

static int width_of(const char *heading, uint64_t number) {
    return report__larger((int)strlen(heading),
                          (int)strlen(report__grouped(number).text));
}

/* The name of the last mark before TIME, by *AT, which moves on; NULL: none. */
static const char *mark_at(const struct report__profile *p, uint64_t time,
                           uint32_t *at) {
    while (*at < p->mark_count && p->marks[*at].time <= time)
        ++*at;
    return *at > 0 ? p->marks[*at - 1].mark : NULL;
}

static void print_table(FILE *out, const struct report__profile *p) {
    const struct report__collection *last =
        &p->collections[p->collection_count - 1];
    uint64_t before = p->most_before;
    int number = width_of("collections", last->collections);
    int allocated = width_of("allocated", last->allocated);
    int in_use = width_of("before", before);

    int width = fprintf(out, "%12s  %*s  %*s  %*s  %*s  %12s\n", "seconds",
                        number, "collections", allocated, "allocated", in_use,
                        "before", in_use, "after", "collecting");
    report__rule(out, '-', width - 1);
    putc('\n', out);
    uint32_t mark = 0;
    for (uint32_t i = 0; i < p->collection_count; i++) {
        const struct report__collection *c = &p->collections[i];
        fprintf(out, "%12.6f  %*s", (double)c->time / 1e9, number,
                report__grouped(c->collections).text);
        fprintf(out, "  %*s", allocated, report__grouped(c->allocated).text);
        fprintf(out, "  %*s", in_use, report__grouped(c->before).text);
        fprintf(out, "  %*s  %12.6f", in_use, report__grouped(c->after).text,
                (double)c->ns / 1e9);
        uint32_t before_it = mark;
        const char *name = mark_at(p, c->time, &mark);
        if (mark != before_it) {
            fputs("  ", out);
            report__print_name(out, name);
        }
        putc('\n', out);
    }
}

static void print_tsv(FILE *out, const struct report__profile *p) {
    uint32_t mark = 0;

    fprintf(out,
            "# seconds\tafter\tallocated\tbefore\tcollections\tcollecting%s\n",
            p->mark_count > 0 ? "\tmark" : "");
    for (uint32_t i = 0; i < p->collection_count; i++) {
        const struct report__collection *c = &p->collections[i];
        fprintf(out,
                "%.9f\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
                "\t%.9f",
                (double)c->time / 1e9, c->after, c->allocated, c->before,
                c->collections, (double)c->ns / 1e9);
        if (p->mark_count > 0) {
            const char *name = mark_at(p, c->time, &mark);
            putc('\t', out);
            report__print_name(out, name == NULL ? "start" : name);
        }
        putc('\n', out);
    }
}

/* Each of them is a step down. */
static void draw(FILE *out, const struct report__profile *p,
                 const struct report__curve_options *options,
                 struct report__pool *pool) {
    uint32_t count = 0;
    struct report__moment *moments = report__alloc(
        pool, 2 * (size_t)p->collection_count + 1, sizeof *moments);

    for (uint32_t i = 0; i < p->collection_count; i++) {
        const struct report__collection *c = &p->collections[i];
        moments[count].time = moments[count + 1].time = c->time;
        moments[count++].live.bytes = c->before;
        moments[count++].live.bytes = c->after;
    }
    moments[count] = moments[count - 1];
    if (p->duration > moments[count].time)
        moments[count].time = p->duration;
    report__draw(out, moments, count + 1, options, pool);
}

void report__print_collections(FILE *out, const struct report__profile *profile,
                               const struct report__curve_options *options,
                               struct report__pool *pool) {
    if (options->format == MPROF_CURVE_TSV) {
        print_tsv(out, profile);
        return;
    }
    fputs("\nLisp heap at its collections, in bytes\n\n", out);
    if (profile->collection_count == 0)
        fputs("There was no collection.\n", out);
    else if (options->format == MPROF_CURVE_PLOT)
        draw(out, profile, options, pool);
    else
        print_table(out, profile);
}
