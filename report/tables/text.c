/* text.c - numbers and names as the tables print them. */
#include "report/tables/tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

struct report__percent report__percent(uint64_t part, uint64_t whole) {
    struct report__percent p = {"  "};
    unsigned n = percents(part, whole);

    if (n >= 100) {
        memcpy(p.text, "**", 2);
    } else if (n > 0) {
        p.text[0] = n >= 10 ? (char)('0' + n / 10) : ' ';
        p.text[1] = (char)('0' + n % 10);
    } else if (part > 0) {
        p.text[1] = '.';
    }
    return p;
}

struct report__breakdown report__breakdown(const struct report__counts *parts,
                                           uint64_t whole) {
    struct report__breakdown b;
    for (int i = 0; i < MPROF_CLASSES; i++) {
        struct report__percent p =
            report__percent(parts->by_class[i].bytes, whole);
        memcpy(b.text + 3 * i, p.text, 2);
        b.text[3 * i + 2] = i < MPROF_CLASSES - 1 ? ' ' : '\0';
    }
    return b;
}

struct report__fraction report__fraction(uint64_t part, uint64_t whole) {
    struct report__fraction f;
    unsigned n = percents(part, whole);
    char digits[5] = ".";

    if (n > 0 || part == 0 || whole == 0)
        snprintf(digits, sizeof digits, "%u", n);
    size_t length = strlen(digits) + 2;
    memset(f.text, ' ', 5);
    f.text[5] = '\0';
    f.text[5 - length] = '(';
    memcpy(f.text + 6 - length, digits, length - 2);
    f.text[4] = ')';
    return f;
}

struct report__fraction report__tenths(uint64_t part, uint64_t whole) {
    struct report__fraction f = {""};
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

void report__print_left(FILE *out, const struct report__choice *choice,
                        const char *what, uint64_t count, uint64_t more,
                        uint64_t bytes, const char *unit) {
    const uint64_t all = count + more;

    if (all == 0)
        return;
    fprintf(out, "%s %s%s ", report__grouped(all).text, what,
            all == 1 ? "" : "s");
    if (more == 0)
        fprintf(out, "below %s left out", report__limit(choice->verbosity));
    else
        fputs("left out", out);
    if (unit)
        fprintf(out, ": %s %s in all", report__grouped(bytes).text, unit);
    fprintf(out, " (%s shows them)\n",
            more > 0 ? "--limit-rows=0 --verbose" : "--verbose");
}

static int compare_down(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

uint64_t report__least_of(uint64_t *values, uint32_t count, uint32_t most,
                          uint32_t *equal) {
    *equal = count;
    if (most == 0 || most >= count)
        return 0;
    qsort(values, count, sizeof *values, compare_down);
    for (*equal = 1; *equal < most; ++*equal)
        if (values[most - 1 - *equal] != values[most - 1])
            break;
    return values[most - 1];
}

int report__digits(uint64_t number) {
    int digits = 1;
    while (number >= 10) {
        number /= 10;
        digits++;
    }
    return digits;
}

struct report__grouped report__grouped(uint64_t number) {
    struct report__grouped g;
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
