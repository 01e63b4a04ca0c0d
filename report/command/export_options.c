/* export_options.c - the options of `mprof export`. */
#include <string.h>
#include <unistd.h>

#include "report/command/command.h"
#include "report/command/option.h"

/* Functions of a chain unless it is told: pictures are no higher, and each
 * level of a deep recursion that allocates is a chain as long as it is deep. */
enum { DEPTH = 1000 };

/* The index of NAME in NAMES, COUNT of them; COUNT, and a line on ERR: it is
 * none. */
static size_t choose(const char *what, const char *name,
                     const char *const *names, size_t count, FILE *err) {
    size_t i = 0;

    while (i < count && strcmp(name, names[i]) != 0)
        i++;
    if (i < count)
        return i;
    fprintf(err, "mprof: no %s '%s'; there are", what, name);
    for (size_t k = 0; k < count; k++)
        fprintf(err, "%s %s",
                k == 0           ? ""
                : k + 1 == count ? " and"
                                 : ",",
                names[k]);
    putc('\n', err);
    return count;
}

static bool set_format(void *options, const char *value, FILE *err) {
    static const char *const names[] = {[MPROF_EXPORT_FOLDED] = "folded",
                                        [MPROF_EXPORT_PPROF] = "pprof",
                                        [MPROF_EXPORT_SPEEDSCOPE] =
                                            "speedscope",
                                        [MPROF_EXPORT_CALLGRIND] = "callgrind",
                                        [MPROF_EXPORT_DHAT] = "dhat",
                                        [MPROF_EXPORT_EMACS] = "emacs",
                                        [MPROF_EXPORT_JSON] = "json"};
    enum { COUNT = sizeof names / sizeof *names };
    struct report__options *o = options;
    size_t i = choose("format", value, names, COUNT, err);

    o->export.format = (enum report__export_format)i;
    o->export_to = true;
    return i < COUNT;
}

static bool set_metric(void *options, const char *value, FILE *err) {
    static const char *const names[] = {"bytes", "allocs", "kept", "peak",
                                        "temporary"};
    static const enum report__number numbers[] = {
        MPROF_NUMBER_BYTES, MPROF_NUMBER_ALLOCS, MPROF_NUMBER_KEPT_BYTES,
        MPROF_NUMBER_PEAK_BYTES, MPROF_NUMBER_TEMPORARY};
    enum { COUNT = sizeof names / sizeof *names };
    struct report__options *o = options;
    size_t i = choose("metric", value, names, COUNT, err);

    if (i < COUNT)
        o->export.metric = numbers[i];
    return i < COUNT;
}

static bool set_depth(void *options, const char *value, FILE *err) {
    struct report__options *o = options;
    return report__take_number(value, "functions", err,
                               &o->export.sampling.depth);
}

REPORT__TAKES(set_focus, struct report__options, focus.focus)
REPORT__TAKES(set_ignore, struct report__options, focus.ignore)
REPORT__TAKES(set_only, struct report__options, focus.only)
REPORT__SETS(set_no_lines, struct report__options, export.no_lines, true)
REPORT__SETS(show_all, struct report__options, export.sampling.all_frames, true)
REPORT__TAKES(set_output, struct report__options, output)
REPORT__SETS(give_help, struct report__options, help, true)

static const struct report__option list[] = {
    {"format", "FORMAT",
     "pprof; folded, as flamegraph.pl takes them; speedscope;\n"
     "callgrind, for KCachegrind; dhat; emacs; or json",
     set_format},
    {"metric", "METRIC",
     "folded and emacs: bytes, the default, or allocs; of C also\n"
     "kept and peak, in bytes, and temporary; the others have all",
     set_metric},
    {"heap", "HEAP", "lisp or c, where both were recorded", report__set_heap},
    {"focus", "REGEX", "only chains with a function like this", set_focus},
    {"ignore", "REGEX", "no chains with a function like this", set_ignore},
    {"only", "REGEX",
     "only functions of packages or files like this: what others\n"
     "allocate is their callers'",
     set_only},
    {"all-frames", NULL,
     "also the functions of the system's plumbing: start-up,\n"
     "the loader, the interpreter",
     show_all},
    {"no-lines", NULL,
     "do not read debug information: no lines of C code, nor the\n"
     "functions that the compiler inlined, which are their callers",
     set_no_lines},
    {"depth", "N",
     "of longer chains only the N innermost functions (1000); 0\n"
     "writes all",
     set_depth},
    {"output", "FILE", "write to FILE, which appears when it is complete",
     set_output},
    {"help", NULL, "print this", give_help},
    {NULL, NULL, NULL, NULL}};

void report__export_help(FILE *out) {
    fputs("Usage: mprof export --format=FORMAT [OPTION]... "
          "[PROGRAM [DATA] | DATA]\n"
          "Write the chains of one heap for another tool.\n"
          "\n",
          out);
    report__describe_options(list, out);
}

static bool check(const struct report__options *o, FILE *out, FILE *err) {
    if (o->help)
        return true;
    if (!o->export_to) {
        fputs("mprof: export: --format is missing; see mprof export --help\n",
              err);
        return false;
    }
    if (o->export.format == MPROF_EXPORT_PPROF && !o->output &&
        isatty(fileno(out))) {
        fputs("mprof: export: this is no text: name a file with --output\n",
              err);
        return false;
    }
    return report__check_focus(&o->focus, o->export.sampling.all_frames, err);
}

bool report__parse_export(int argc, char **argv, FILE *out, FILE *err,
                          struct report__options *options) {
    *options = (struct report__options){.what = MPROF_EXPORT};
    options->export.metric = MPROF_NUMBER_BYTES;
    options->export.sampling.depth = DEPTH;
    return report__parse_arguments(list, argc, argv, "mprof: export: ", err,
                                   options) &&
           check(options, out, err);
}
