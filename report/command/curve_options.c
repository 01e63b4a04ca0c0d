/* curve_options.c - the options of `mprof curve`. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "monitor/format/bytes.h"
#include "report/command/command.h"
#include "report/command/option.h"

/* Where nobody tells the size of the terminal */
enum { WIDTH = 80, HEIGHT = 24, LARGEST = 1000 };

static bool set_format(void *options, const char *value, FILE *err) {
    static const char *const names[] = {"table", "tsv", "plot"};
    static const enum report__curve_format formats[] = {
        MPROF_CURVE_TABLE, MPROF_CURVE_TSV, MPROF_CURVE_PLOT};
    struct report__options *o = options;
    int format = report__choose(REPORT__CHOICES("no format", names), value,
                                strlen(value), err);

    if (format >= 0)
        o->curve.format = formats[format];
    return format >= 0;
}

static bool set_seconds(void *options, const char *value, FILE *err) {
    struct report__options *o = options;
    char *end;
    double seconds = strtod(value, &end);

    if (value[0] < '0' || value[0] > '9' || *end || !(seconds <= 1e9)) {
        fprintf(err, "mprof: '%s' is not a number of seconds\n", value);
        return false;
    }
    o->curve.least_ns = (uint64_t)(seconds * 1e9);
    if (o->curve.least_bytes == 0)
        o->curve.least_bytes = UINT64_MAX;
    return true;
}

static bool set_bytes(void *options, const char *value, FILE *err) {
    struct report__options *o = options;

    if (!mprof__read_bytes(value, &o->curve.least_bytes)) {
        fprintf(err, "mprof: '%s' is not a number of bytes\n", value);
        return false;
    }
    if (o->curve.least_ns == 0)
        o->curve.least_ns = UINT64_MAX;
    return true;
}

REPORT__TAKES(set_output, struct report__options, output)
REPORT__SETS(give_help, struct report__options, help, true)

static const struct report__option list[] = {
    {"format", "FORMAT",
     "table; tsv, for gnuplot; or plot, drawn.  Without it drawn\n"
     "on a terminal, and a table elsewhere",
     set_format},
    {"time-resolution", "SECONDS",
     "of C's points, leave out what is nearer to the last one", set_seconds},
    {"size-resolution", "BYTES",
     "the same, in bytes; with both, nearer in both", set_bytes},
    {"heap", "HEAP", "lisp or c, where both were recorded", report__set_heap},
    {"output", "FILE", "write to FILE, which appears when it is complete",
     set_output},
    {"help", NULL, "print this", give_help},
    {NULL, NULL, NULL, NULL}};

void report__curve_help(FILE *out) {
    fputs("Usage: mprof curve [OPTION]... [PROGRAM [DATA] | DATA]\n"
          "Print how the heap of a program grew and shrank over time.\n"
          "\n",
          out);
    report__describe_options(list, out);
}

static void choose_format(struct report__options *o, FILE *out) {
    struct winsize size;
    bool is_terminal = o->output == NULL && isatty(fileno(out));

    o->curve.width = WIDTH;
    o->curve.height = HEIGHT;
    if (o->curve.format == MPROF_CURVE_CHOSEN)
        o->curve.format = is_terminal ? MPROF_CURVE_PLOT : MPROF_CURVE_TABLE;
    if (!is_terminal || ioctl(fileno(out), TIOCGWINSZ, &size) != 0)
        return;
    if (size.ws_col > 0 && size.ws_col <= LARGEST)
        o->curve.width = size.ws_col;
    if (size.ws_row > 0 && size.ws_row <= LARGEST)
        o->curve.height = size.ws_row;
}

bool report__parse_curve(int argc, char **argv, FILE *out, FILE *err,
                         struct report__options *options) {
    *options = (struct report__options){.what = MPROF_CURVE_ALONE};
    if (!report__parse_arguments(list, argc, argv, "mprof: curve: ", err,
                                 options))
        return false;
    choose_format(options, out);
    return true;
}
