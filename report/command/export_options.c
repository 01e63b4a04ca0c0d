/* export_options.c - the options of `mprof export`. */
#include <string.h>
#include <unistd.h>

#include "report/command/command.h"
#include "report/command/option.h"

/* Functions of a chain unless it is told: pictures are no higher, and each
 * level of a deep recursion that allocates is a chain as long as it is deep. */
enum { DEPTH = 1000 };

static bool set_format(void *options, const char *value, FILE *err) {
    static const char *const names[] = {[MPROF_EXPORT_FOLDED] = "folded",
                                        [MPROF_EXPORT_PPROF] = "pprof",
                                        [MPROF_EXPORT_SPEEDSCOPE] =
                                            "speedscope",
                                        [MPROF_EXPORT_CALLGRIND] = "callgrind",
                                        [MPROF_EXPORT_DHAT] = "dhat",
                                        [MPROF_EXPORT_EMACS] = "emacs",
                                        [MPROF_EXPORT_JSON] = "json",
                                        [MPROF_EXPORT_TEXT] = "text",
                                        [MPROF_EXPORT_SEXP] = "sexp"};
    struct report__options *o = options;
    int format = report__choose(REPORT__CHOICES("no format", names), value,
                                strlen(value), err);

    if (format >= 0)
        o->export.format = (enum report__export_format)format;
    o->export_to = true;
    return format >= 0;
}

static bool set_metric(void *options, const char *value, FILE *err) {
    static const char *const names[] = {"bytes", "allocs", "kept", "peak",
                                        "temporary"};
    static const enum report__number numbers[] = {
        MPROF_NUMBER_BYTES, MPROF_NUMBER_ALLOCS, MPROF_NUMBER_KEPT_BYTES,
        MPROF_NUMBER_PEAK_BYTES, MPROF_NUMBER_TEMPORARY};
    struct report__options *o = options;
    int metric = report__choose(REPORT__CHOICES("no metric", names), value,
                                strlen(value), err);

    if (metric >= 0)
        o->export.metric = numbers[metric];
    return metric >= 0;
}

static bool set_depth(void *options, const char *value, FILE *err) {
    struct report__options *o = options;
    return report__take_number(value, "functions", err,
                               &o->export.sampling.depth);
}

static bool set_rows(void *options, const char *value, FILE *err) {
    struct report__options *o = options;
    return report__take_number(value, "chains", err, &o->export.rows);
}

static bool set_type(void *options, const char *names, FILE *err) {
    struct report__options *o = options;
    return report__take_type(&o->focus.types, names, err);
}

REPORT__TAKES(set_focus, struct report__options, focus.focus)
REPORT__TAKES(set_ignore, struct report__options, focus.ignore)
REPORT__TAKES(set_only, struct report__options, focus.only)
REPORT__SETS(set_no_lines, struct report__options, export.no_lines, true)
REPORT__SETS(only_alive, struct report__options, alive, true)
REPORT__SETS(show_all, struct report__options, export.sampling.all_frames, true)
REPORT__SETS(show_arguments, struct report__options, arguments, true)
REPORT__TAKES(set_output, struct report__options, output)
REPORT__SETS(give_help, struct report__options, help, true)

static const struct report__option list[] = {
    {"format", "FORMAT",
     "pprof; folded, as flamegraph.pl takes them; speedscope;\n"
     "callgrind, for KCachegrind; dhat; emacs; json; text, to be\n"
     "read; or sexp, for Lisp",
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
    {"type", "TYPE",
     "of Lisp only what is of this type, such as hash-table, or of\n"
     "this class of structures or instances; several with commas",
     set_type},
    {"alive", NULL,
     "of Lisp what is alive in place of all that was allocated, where\n"
     "that was recorded",
     only_alive},
    {"all-frames", NULL,
     "also the functions of the system's plumbing: start-up,\n"
     "the loader, the interpreter",
     show_all},
    {"no-lines", NULL,
     "do not read debug information or source: no lines, nor the\n"
     "functions that the compiler inlined, which are their callers",
     set_no_lines},
    {"depth", "N",
     "of longer chains only the N innermost functions (1000); 0\n"
     "writes all",
     set_depth},
    {"limit-rows", "N",
     "text and sexp: the N chains with most bytes; 0 for all", set_rows},
    {"arguments", NULL,
     "with the arguments of the program, which may be secret; without\n"
     "it only its name",
     show_arguments},
    {"output", "FILE", "write to FILE, which appears when it is complete",
     set_output},
    {"help", NULL, "print this", give_help},
    {NULL, NULL, NULL, NULL}};

void report__export_help(FILE *out) {
    fputs("Usage: mprof export --format=FORMAT [OPTION]... "
          "[[PROGRAM] DATA]...\n"
          "Write the chains of one heap, or of the same of several processes, "
          "for another\n"
          "tool.\n"
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
