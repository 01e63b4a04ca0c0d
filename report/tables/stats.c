/* stats.c - see stats.h. */
#include "report/tables/stats.h"

#include <inttypes.h>

#include "report/tables/tables.h"

static void print_large(FILE *out, unsigned __int128 number) {
    char digits[40];
    int n = 0;
    do
        digits[n++] = (char)('0' + (int)(number % 10));
    while ((number /= 10) > 0);
    while (n > 0)
        putc(digits[--n], out);
}

/* NAME in front of each number, or blanks between them. */
static void print_load(FILE *out, const struct report__load *load, bool plain) {
    static const char *const names[] = {
        "duration [ns]", "load_max [byte]", "load_current [byte]",
        "load_total [byte ns]", "load_avg [byte]"};
    enum { NUMBERS = sizeof names / sizeof *names };
    const unsigned __int128 numbers[NUMBERS] = {
        load->duration, load->most, load->current, load->total,
        load->duration == 0 ? 0 : load->total / load->duration};

    for (int i = 0; i < NUMBERS; i++) {
        if (!plain)
            fprintf(out, "%s: ", names[i]);
        print_large(out, numbers[i]);
        putc(plain && i + 1 < NUMBERS ? ' ' : '\n', out);
    }
}

static void print_name(FILE *out, const struct report__loaded *l) {
    report__print_name(out, l->name);
    if (l->pid != 0)
        fprintf(out, ": process %" PRIu32, l->pid);
    if (l->command[0] != '\0') {
        fputs(", ", out);
        report__print_name(out, l->command);
    }
    putc('\n', out);
}

static void print_remarks(FILE *out, const struct report__loaded *l) {
    if (l->source == MPROF_LOAD_CURVE)
        fputs("load_total and load_avg are estimated from the curve; with "
              "`mprof run --stats` they are exact.\n",
              out);
    if (l->unplaced > 0)
        fprintf(out,
                "%s allocation%s not in these, as the monitor had no place "
                "for %s.\n",
                report__grouped(l->unplaced).text,
                l->unplaced == 1 ? " is" : "s are",
                l->unplaced == 1 ? "it" : "them");
    if (l->is_open)
        fprintf(out,
                "The %s has no end: the program runs, or was killed, or "
                "executed another one%s.\n",
                l->is_log ? "log" : "data file",
                l->is_log ? ", or its disk was full" : "");
}

static void print_group_remarks(FILE *out, const struct report__loads *loads) {
    if (loads->source == MPROF_GROUP_CURVES)
        fputs("load_max is the most of the sum of the curves; with `mprof run "
              "--group`, and from logs, it is exact.\n",
              out);
    if (loads->source == MPROF_GROUP_SUM && loads->killed > 0)
        fprintf(out,
                "%s bytes of processes that were killed are in load_max from "
                "their end on.\n",
                report__grouped(loads->killed).text);
}

void report__print_loads(FILE *out, const struct report__loads *loads,
                         bool plain) {
    uint32_t count = loads->count;

    for (uint32_t i = 0; i < count; i++) {
        const struct report__loaded *l = &loads->list[i];
        if (!plain)
            print_name(out, l);
        print_load(out, &l->load, plain);
        if (!plain)
            print_remarks(out, l);
        if (!plain && count > 1)
            putc('\n', out);
    }
    if (count == 1)
        return;
    if (!plain)
        fprintf(out, "All %" PRIu32 " processes\n", count);
    print_load(out, &loads->group, plain);
    if (!plain)
        print_group_remarks(out, loads);
}
