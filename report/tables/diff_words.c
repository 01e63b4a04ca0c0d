/* diff_words.c - what grew and shrank, in sentences. */
#include "report/tables/diff.h"

/* "24,000 bytes more, 74,000 after 50,000 (+48.0%)" */
static void print_amount(FILE *out, const struct report__change *c,
                         const char *unit) {
    const uint64_t by = report__change(c);

    if (by == 0) {
        fprintf(out, "as many %s as before, %s", unit,
                report__grouped(c->numbers[MPROF_NEW]).text);
        return;
    }
    fprintf(out, "%s %s %s, %s after %s", report__grouped(by).text, unit,
            report__grew(c) ? "more" : "less",
            report__grouped(c->numbers[MPROF_NEW]).text,
            report__grouped(c->numbers[MPROF_OLD]).text);
    if (c->numbers[MPROF_OLD] > 0 && c->numbers[MPROF_NEW] > 0)
        fprintf(out, " (%s)", report__growth(c).text);
}

static void print_whole(FILE *out, const char *heap,
                        const struct report__diff *d) {
    fprintf(out, "%s allocates ", *heap ? heap : "It");
    print_amount(out, &d->total.numbers[MPROF_DIFF_BYTES], "bytes");
    fputs(",\nand makes ", out);
    print_amount(out, &d->total.numbers[MPROF_DIFF_ALLOCS], "allocations");
    fputs(".\n", out);
    if (!(d->numbers >> MPROF_DIFF_KEPT & 1))
        return;
    fputs("It keeps ", out);
    print_amount(out, &d->total.numbers[MPROF_DIFF_KEPT], "bytes");
    fputs(",\nand has at its peak ", out);
    print_amount(out, &d->total.numbers[MPROF_DIFF_PEAK], "bytes");
    fputs(".\n", out);
}

/* Whose the largest change of NUMBER is, which is much of that of all. */
static void print_mostly(FILE *out, const struct report__diff *d,
                         enum report__diff_number number, const char *what) {
    enum { MUCH = 10 };
    const struct report__change *all = &d->total.numbers[number];
    const struct report__diff_row *most =
        report__most_changed(d, number, report__grew(all), MPROF_NONE);

    if (!(d->numbers >> number & 1) || report__change(all) == 0 || !most ||
        report__change(&most->numbers[number]) < report__change(all) / MUCH)
        return;
    fprintf(out, "Of the bytes %s, those of ", what);
    report__print_name(out, most->name);
    fprintf(out, " changed most: %s (%s).\n",
            report__signed(&most->numbers[number], true).text,
            report__growth(&most->numbers[number]).text);
}

/* Where the chains of the function of MOST changed most in its way. */
static void print_way(FILE *out, const struct report__diff_row *most, bool grew,
                      const struct report__diff *chains,
                      struct report__pool *pool) {
    const struct report__diff_row *chain =
        report__most_changed(chains, MPROF_DIFF_BYTES, grew, most->function);

    if (chain == NULL) {
        fputs(".\n", out);
        return;
    }
    fprintf(out, ",\n%s of that by\n    ",
            report__signed(&chain->numbers[MPROF_DIFF_BYTES], true).text);
    report__print_diff_chain(out, chains, chain, pool);
    putc('\n', out);
}

/* What ROW's function changed by itself. */
static void print_own(FILE *out, const struct report__diff_row *row,
                      bool grew) {
    const struct report__change *own = &row->numbers[MPROF_DIFF_SELF];

    fprintf(out, "What %s most is what ", grew ? "grew" : "shrank");
    report__print_name(out, row->name);
    fprintf(out, " allocates itself: %s bytes (%s)",
            report__signed(own, true).text, report__growth(own).text);
}

void report__print_diff_words(FILE *out, const char *heap,
                              const struct report__diff *functions,
                              const struct report__diff *chains,
                              struct report__pool *pool) {
    enum { MUCH = 10 }; /* the part of the most that is worth a sentence */
    const struct report__change *all =
        &functions->total.numbers[MPROF_DIFF_BYTES];
    bool grew = report__grew(all) || report__change(all) == 0;
    const struct report__diff_row *most =
        report__most_changed(functions, MPROF_DIFF_SELF, grew, MPROF_NONE);
    const struct report__diff_row *other =
        report__most_changed(functions, MPROF_DIFF_SELF, !grew, MPROF_NONE);

    print_whole(out, heap, functions);
    print_mostly(out, functions, MPROF_DIFF_KEPT, "kept");
    print_mostly(out, functions, MPROF_DIFF_PEAK, "at the peak");
    if (most == NULL) {
        most = other;
        other = NULL;
        grew = !grew;
    }
    if (most == NULL) {
        fputs("No function itself allocates more or less than before.\n", out);
        return;
    }
    print_own(out, most, grew);
    print_way(out, most, grew, chains, pool);
    if (other == NULL ||
        report__change(&other->numbers[MPROF_DIFF_SELF]) <
            report__change(&most->numbers[MPROF_DIFF_SELF]) / MUCH)
        return;
    print_own(out, other, !grew);
    fputs(".\n", out);
}
