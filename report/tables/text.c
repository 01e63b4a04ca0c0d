/* text.c - numbers and names as the tables print them. */
#include "report/tables/tables.h"

#include <math.h>

const char report__class_letters[MPROF_HEAPS][MPROF_CLASSES] = {
    [MPROF_LISP_HEAP] = {'c', 'f', 's', 'o'},
    [MPROF_C_HEAP] = {'s', 'm', 'l', 'x'}};

/* Whole percents, cut.  A running program may give parts above the whole. */
static unsigned percents(uint64_t part, uint64_t whole) {
    if (whole == 0)
        return 0;
    if (part >= whole)
        return 100;
    return (unsigned)((unsigned __int128)part * 100 / whole);
}

struct report__text report__percent(uint64_t part, uint64_t whole) {
    struct report__text p = {"**"};
    unsigned n = percents(part, whole);

    if (n == 0)
        strcpy(p.text, part > 0 ? " ." : "  ");
    else if (n < 100)
        snprintf(p.text, sizeof p.text, "%2u", n);
    return p;
}

struct report__text report__breakdown(const struct report__counts *parts,
                                      uint64_t whole) {
    struct report__text b = {""};
    for (int i = 0; i < MPROF_CLASSES; i++)
        snprintf(b.text + 3 * i - (i > 0), sizeof b.text - 3 * i,
                 i > 0 ? " %s" : "%s",
                 report__percent(parts->by_class[i].bytes, whole).text);
    return b;
}

struct report__text report__fraction(uint64_t part, uint64_t whole) {
    struct report__text digits = {"(.)"}, f;
    unsigned n = percents(part, whole);

    if (n > 0 || part == 0 || whole == 0)
        snprintf(digits.text, sizeof digits.text, "(%u)", n);
    snprintf(f.text, sizeof f.text, "%5s", digits.text);
    return f;
}

struct report__text report__tenths(uint64_t part, uint64_t whole) {
    struct report__text f = {""};
    if (whole == 0 || part == 0)
        return f;
    unsigned n = 1000;
    if (part < whole)
        n = (unsigned)(((unsigned __int128)part * 2000 / whole + 1) / 2);
    if (n >= 1000 && part < whole)
        n = 999;
    snprintf(f.text, sizeof f.text, "%u.%u", n / 10 % 1000, n % 10);
    return f;
}

static unsigned per_mille(enum report__verbosity verbosity) {
    return verbosity == MPROF_TERSE ? 10 : verbosity == MPROF_NORMAL ? 5 : 0;
}

bool report__below(uint64_t part, uint64_t whole,
                   enum report__verbosity verbosity) {
    return (unsigned __int128)part * 1000 <
           (unsigned __int128)whole * per_mille(verbosity);
}

const char *report__limit(enum report__verbosity verbosity) {
    return verbosity == MPROF_TERSE ? "1%" : "0.5%";
}

void report__print_left_out(FILE *out, const struct report__choice *choice,
                            const char *what, uint64_t small, uint64_t more,
                            const char *below, const char *sum) {
    if (small + more == 0)
        return;
    fprintf(out, "%s %s%s", report__grouped(small + more).text, what,
            report__plural(small + more));
    if (more == 0)
        fprintf(out, below, report__limit(choice->verbosity));
    fprintf(out, " left out%s%s (%s shows them)\n", *sum ? ": " : "", sum,
            more > 0 ? "--limit-rows=0 --verbose" : "--verbose");
}

void report__print_left(FILE *out, const struct report__choice *choice,
                        const char *what, const struct report__left *left,
                        const char *unit) {
    char sum[64];

    snprintf(sum, sizeof sum, "%s %s in all", report__grouped(left->sum).text,
             unit);
    report__print_left_out(out, choice, what, left->small, left->more,
                           " below %s", sum);
}

static int compare_down(const void *a, const void *b) {
    return report__down(*(const uint64_t *)a, *(const uint64_t *)b);
}

void report__cut(struct report__cut *cut, uint64_t *values, uint32_t count,
                 uint32_t most) {
    cut->least = 0;
    cut->equal = count;
    if (most == 0 || most >= count)
        return;
    qsort(values, count, sizeof *values, compare_down);
    cut->least = values[most - 1];
    for (cut->equal = 1; cut->equal < most; ++cut->equal)
        if (values[most - 1 - cut->equal] != cut->least)
            break;
}

bool report__leave_out(struct report__cut *cut, uint64_t value, bool is_small) {
    const bool is_more =
        value < cut->least || (value == cut->least && cut->equal == 0);

    if (is_small || is_more)
        cut->left.sum += value;
    else
        cut->equal -= value == cut->least;
    cut->left.small += is_small;
    cut->left.more += is_more && !is_small;
    return is_small || is_more;
}

int report__grouped_width(int least, uint64_t number) {
    return report__larger(least, (int)strlen(report__grouped(number).text));
}

int report__digits(uint64_t number) {
    return snprintf(NULL, 0, "%" PRIu64, number);
}

struct report__text report__grouped(uint64_t number) {
    struct report__text g;
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, number), to = 0;

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            g.text[to++] = ',';
        g.text[to++] = digits[i];
    }
    g.text[to] = '\0';
    return g;
}

void report__subtract(struct report__counts *kept,
                      const struct report__counts *allocated,
                      const struct report__counts *freed) {
    for (int i = 0; i < MPROF_CLASSES; i++)
        kept->by_class[i] =
            report__count_left(allocated->by_class[i], &freed->by_class[i]);
}

double report__standard_error(uint64_t bytes, uint32_t sampling) {
    double b = bytes > 0 ? (double)bytes : 1;
    return 100 * sqrt((double)sampling / b);
}

void report__print_title(FILE *out, const char *title, uint32_t sampling) {
    report__print_strong(out, title);
    if (sampling != 0)
        report__print_strong(out, ", estimated");
    fputs("\n\n", out);
}

void report__rule(FILE *out, char c, int count) {
    for (int i = 0; i < count; i++)
        putc(c, out);
}

void report__underline(FILE *out, int count) {
    report__rule(out, '-', count);
    putc('\n', out);
}

struct report__text report__plain(uint64_t number) {
    struct report__text text;

    snprintf(text.text, sizeof text.text, "%" PRIu64, number);
    return text;
}

void report__say(FILE *out, const char *text, const uint64_t *numbers) {
    for (; *text != '\0'; text++)
        if (*text == '#')
            fputs(report__grouped(*numbers++).text, out);
        else if (*text == '@')
            fprintf(out, "%" PRIu64, *numbers++);
        else if (*text == '~')
            fputs(report__plural(numbers[-1]), out);
        else
            putc(*text, out);
}
