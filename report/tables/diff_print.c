/* diff_print.c - what grew and shrank, as text. */
#include "report/tables/diff.h"

bool report__grew(const struct report__change *c) {
    return c->numbers[MPROF_NEW] > c->numbers[MPROF_OLD];
}

uint64_t report__change(const struct report__change *c) {
    return report__grew(c) ? c->numbers[MPROF_NEW] - c->numbers[MPROF_OLD]
                           : c->numbers[MPROF_OLD] - c->numbers[MPROF_NEW];
}

struct report__text report__growth(const struct report__change *c) {
    const uint64_t old = c->numbers[MPROF_OLD], by = report__change(c);
    const char sign = report__grew(c) ? '+' : '-';
    struct report__text g = {""};

    if (by == 0)
        return g;
    if (old == 0 || c->numbers[MPROF_NEW] == 0) {
        strcpy(g.text, old == 0 ? "new" : "gone");
        return g;
    }
    unsigned __int128 tenths = ((unsigned __int128)by * 2000 / old + 1) / 2;
    /* All is gone, or nothing changed, only when that is so. */
    if (sign == '-' && tenths >= 1000)
        tenths = 999;
    if (tenths == 0)
        strcpy(g.text, "<0.1%");
    else if (tenths > 99999)
        strcpy(g.text, ">9999%");
    else
        snprintf(g.text, sizeof g.text, "%c%u.%u%%", sign,
                 (unsigned)tenths / 10, (unsigned)tenths % 10);
    return g;
}

struct report__text report__signed(const struct report__change *c,
                                   bool grouped) {
    const uint64_t by = report__change(c);
    struct report__text s = {""};

    if (by > 0)
        s.text[0] = report__grew(c) ? '+' : '-';
    strcat(s.text, (grouped ? report__grouped(by) : report__plain(by)).text);
    return s;
}

const struct report__diff_row *
report__most_changed(const struct report__diff *d,
                     enum report__diff_number number, bool grew,
                     uint32_t function) {
    const struct report__diff_row *most = NULL;
    uint64_t by = 0;

    for (uint32_t i = 0; i < d->count; i++) {
        const struct report__change *c = &d->rows[i].numbers[number];
        if (report__grew(c) == grew && report__change(c) > by &&
            (function == MPROF_NONE || d->rows[i].function == function)) {
            by = report__change(c);
            most = &d->rows[i];
        }
    }
    return most;
}

/* Columns */

struct layout {
    FILE *out;
    const struct report__diff *diff;
    struct report__pool *pool;
    enum report__diff_number main;
    int old, new, change; /* widths */
    int others[MPROF_DIFF_NUMBERS];
};

static bool has(const struct report__diff *d, int number) {
    return d->numbers >> number & 1;
}

/* How a number is called above a column; and, if the rows are sorted by it, in
 * sentences, without and with what functions called. */
static const struct {
    const char *title, *unit, *of_functions;
} names[] = {
    [MPROF_DIFF_BYTES] = {"bytes", "bytes", "bytes, with what they called"},
    [MPROF_DIFF_ALLOCS] = {"allocs", "allocations",
                           "allocations, with what they called"},
    [MPROF_DIFF_SELF] = {"itself", "", "bytes, themselves"},
    [MPROF_DIFF_KEPT] = {"kept", "bytes kept",
                         "bytes kept, of what they allocated themselves"},
    [MPROF_DIFF_PEAK] = {"at peak", "bytes at the peak",
                         "bytes at the peak, of what they allocated "
                         "themselves"}};

static const char *title_of(const struct report__diff *d, int number) {
    return number == MPROF_DIFF_BYTES && has(d, MPROF_DIFF_SELF)
               ? "in all"
               : names[number].title;
}

static enum report__diff_number main_of(const struct report__diff *d) {
    static const enum report__diff_number of[] = {
        [MPROF_SORT_USUAL] = MPROF_DIFF_BYTES,
        [MPROF_SORT_BYTES] = MPROF_DIFF_BYTES,
        [MPROF_SORT_ALLOCS] = MPROF_DIFF_ALLOCS,
        [MPROF_SORT_SELF] = MPROF_DIFF_SELF,
        [MPROF_SORT_TOTAL] = MPROF_DIFF_BYTES,
        [MPROF_SORT_KEPT] = MPROF_DIFF_KEPT,
        [MPROF_SORT_PEAK] = MPROF_DIFF_PEAK};
    enum report__diff_number main = of[d->options->choice.sort];

    return has(d, main) ? main : MPROF_DIFF_BYTES;
}

static void widen(struct layout *l, const struct report__diff_row *row) {
    const struct report__change *c = &row->numbers[l->main];

    l->old = report__width(l->old, c->numbers[MPROF_OLD]);
    l->new = report__width(l->new, c->numbers[MPROF_NEW]);
    l->change =
        report__larger(l->change, 1 + report__digits(report__change(c)));
    for (int n = 0; n < MPROF_DIFF_NUMBERS; n++)
        l->others[n] = report__larger(
            l->others[n], 1 + report__digits(report__change(&row->numbers[n])));
}

static void print_heading(const struct layout *l) {
    const struct report__diff *d = l->diff;
    static const char *const whats[] = {[MPROF_DIFF_BY_FUNCTION] = "function",
                                        [MPROF_DIFF_BY_CHAIN] = "chain",
                                        [MPROF_DIFF_BY_TYPE] = "type",
                                        [MPROF_DIFF_BY_LINE] = "line"};
    int width = fprintf(l->out, "%*s %*s %*s %8s | ", l->old, "old", l->new,
                        "new", l->change, "change", "");

    width += fprintf(l->out, "change of");
    for (int n = 0; n < MPROF_DIFF_NUMBERS; n++)
        if (has(d, n) && n != (int)l->main)
            width += fprintf(l->out, " %*s", l->others[n], title_of(d, n));
    width += fprintf(l->out, " | %s\n", whats[d->options->by]);
    report__underline(l->out, width - 1);
}

void report__print_diff_chain(FILE *out, const struct report__diff *d,
                              const struct report__diff_row *row,
                              struct report__pool *pool) {
    const struct report__path *list = d->paths.list;
    const uint32_t depth = list[row->path].depth;
    const bool is_cut = d->options->depth > 0 && depth > d->options->depth;
    const uint32_t count = is_cut ? d->options->depth : depth;
    const struct report__pool mark = *pool;
    uint32_t *frames = report__alloc(pool, count, sizeof *frames);
    uint32_t path = row->path;

    for (uint32_t i = count; i-- > 0; path = list[path].caller)
        frames[i] = list[path].label;
    fputs(is_cut ? "..." : "||", out);
    for (uint32_t i = 0; i < count; i++) {
        fputs(" > ", out);
        report__print_name(out, d->paths.labels[frames[i]].text);
    }
    report__pool_release(pool, &mark);
}

static void print_row(const struct layout *l,
                      const struct report__diff_row *row) {
    const struct report__change *c = &row->numbers[l->main];
    FILE *out = l->out;

    fprintf(out, "%*" PRIu64 " %*" PRIu64 " %*s %8s |          ", l->old,
            c->numbers[MPROF_OLD], l->new, c->numbers[MPROF_NEW], l->change,
            report__signed(c, false).text, report__growth(c).text);
    for (int n = 0; n < MPROF_DIFF_NUMBERS; n++)
        if (has(l->diff, n) && n != (int)l->main)
            fprintf(out, " %*s", l->others[n],
                    report__signed(&row->numbers[n], false).text);
    fputs(" | ", out);
    if (row == &l->diff->total)
        fputs("<TOTAL>", out);
    else if (row->name != NULL)
        report__print_name(out, row->name);
    else
        report__print_diff_chain(out, l->diff, row, l->pool);
    putc('\n', out);
}

/* Rows */

static int compare_chains(const struct report__diff *d, uint32_t a,
                          uint32_t b) {
    const struct report__path *list = d->paths.list;

    while (a != b && a != MPROF_NONE && b != MPROF_NONE) {
        int order = strcmp(d->paths.labels[list[a].label].text,
                           d->paths.labels[list[b].label].text);
        if (order != 0)
            return order;
        a = list[a].caller;
        b = list[b].caller;
    }
    return (a == MPROF_NONE) - (b == MPROF_NONE);
}

/* Of functions that changed alike the innermost one comes first: it is the one
 * that did it. */
static int compare_rows(const void *a, const void *b, void *layout) {
    const struct layout *l = layout;
    const struct report__diff_row *x = a, *y = b;

    return report__down(report__change(&x->numbers[l->main]),
                        report__change(&y->numbers[l->main]))
               ?: report__down(report__change(&x->numbers[MPROF_DIFF_BYTES]),
                               report__change(&y->numbers[MPROF_DIFF_BYTES]))
               ?: report__down(x->depth, y->depth)
               ?: (x->name && y->name
                       ? strcmp(x->name, y->name)
                       : compare_chains(l->diff, x->path, y->path))
               ?: (x > y) - (x < y);
}

/* Rows that are left out of a table, and their sum, if they do not overlap. */
struct left {
    uint64_t small, more;
    struct report__change sum;
};

static void leave_out(struct left *left, const struct report__change *c) {
    for (int side = 0; side < MPROF_SIDES; side++)
        left->sum.numbers[side] += c->numbers[side];
}

/* Whether a number of ROW changed by much of what there is in all; *ANY:
 * whether one did at all. */
static bool is_large(const struct report__diff *d,
                     const struct report__diff_row *row, bool *any) {
    bool large = false;

    for (int n = 0; n < MPROF_DIFF_NUMBERS; n++) {
        const struct report__change *all = &d->total.numbers[n];
        const uint64_t by = report__change(&row->numbers[n]);
        if (!has(d, n) || by == 0)
            continue;
        *any = true;
        large |= !report__below(by, all->numbers[report__grew(all)],
                                d->options->choice.verbosity);
    }
    return large;
}

/* The rows that changed, and enough; how many. */
static uint32_t choose_rows(const struct layout *l,
                            struct report__diff_row *rows, struct left *left) {
    const struct report__diff *d = l->diff;
    const struct report__choice *choice = &d->options->choice;
    uint32_t count = 0;

    for (uint32_t i = 0; i < d->count; i++) {
        bool any = false;
        const bool large = is_large(d, &d->rows[i], &any);
        if (large) {
            rows[count++] = d->rows[i];
        } else if (any) {
            left->small++;
            leave_out(left, &d->rows[i].numbers[l->main]);
        }
    }
    report__sort(rows, count, sizeof *rows, compare_rows, (void *)(uintptr_t)l);
    for (uint32_t i = choice->rows; choice->rows > 0 && i < count; i++) {
        left->more++;
        leave_out(left, &rows[i].numbers[l->main]);
    }
    return choice->rows > 0 && choice->rows < count ? choice->rows : count;
}

static void print_left(const struct layout *l, const struct left *left) {
    const bool overlaps =
        has(l->diff, MPROF_DIFF_SELF) &&
        (l->main == MPROF_DIFF_BYTES || l->main == MPROF_DIFF_ALLOCS);
    char sum[48] = "";

    if (!overlaps)
        snprintf(sum, sizeof sum, "%s in all",
                 report__signed(&left->sum, true).text);
    report__print_left_out(l->out, &l->diff->options->choice, "row",
                           left->small, left->more,
                           " that changed by less than %s of all", sum);
}

void report__print_diff(FILE *out, const struct report__diff *d,
                        struct report__pool *pool) {
    static const char *const titles[] = {
        [MPROF_DIFF_BY_FUNCTION] = "Functions that changed",
        [MPROF_DIFF_BY_CHAIN] = "Chains that changed",
        [MPROF_DIFF_BY_TYPE] = "Types that changed",
        [MPROF_DIFF_BY_LINE] = "Lines that changed"};
    struct layout l = {.out = out,
                       .diff = d,
                       .pool = pool,
                       .main = main_of(d),
                       .old = 10,
                       .new = 10,
                       .change = 10};
    struct report__diff_row *rows = report__alloc(pool, d->count, sizeof *rows);
    struct left left = {0, 0, {{0, 0}}};
    uint32_t count = choose_rows(&l, rows, &left);

    for (int n = 0; n < MPROF_DIFF_NUMBERS; n++)
        l.others[n] = 9;
    widen(&l, &d->total);
    for (uint32_t i = 0; i < count; i++)
        widen(&l, &rows[i]);
    fprintf(out, "%s: %s\n\n",
            d->options->by == MPROF_DIFF_BY_TYPE &&
                    d->options->heap == MPROF_C_HEAP
                ? "Sizes that changed"
                : titles[d->options->by],
            has(d, MPROF_DIFF_SELF) ? names[l.main].of_functions
                                    : names[l.main].unit);
    if (count + left.small + left.more == 0) {
        fputs("Nothing changed.\n", out);
        return;
    }
    print_heading(&l);
    print_row(&l, &d->total);
    for (uint32_t i = 0; i < count; i++)
        print_row(&l, &rows[i]);
    print_left(&l, &left);
}

/* In words */

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

/* Print the function with the largest change of NUMBER, if it is much of the
 * whole change. */
static void print_mostly(FILE *out, const struct report__diff *d,
                         enum report__diff_number number, const char *what) {
    enum { MUCH = 10 };
    const struct report__change *all = &d->total.numbers[number];
    const struct report__diff_row *most =
        report__most_changed(d, number, report__grew(all), MPROF_NONE);

    if (!(d->numbers >> number & 1) || report__change(all) == 0 || !most ||
        report__change(&most->numbers[number]) < report__change(all) / MUCH)
        return;
    fprintf(out, "Bytes %s: the largest change is in ", what);
    report__print_name(out, most->name);
    fprintf(out, ", %s (%s).\n",
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

/* Print the change of ROW's function itself. */
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
