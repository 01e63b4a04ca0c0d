/* options.c - all options of all commands, each once. */
#include "report/command/command.h"

#include <string.h>

#include "report/command/option_values.h"

#define CHOICES(what, names)                                                   \
    { what, names, sizeof names / sizeof *names }

static const char *const heap_names[] = {
    [MPROF_LISP_HEAP] = "lisp", [MPROF_C_HEAP] = "c"};
static const char *const colours[] = {[MPROF_COLOUR_AUTO] = "auto",
                                      [MPROF_COLOUR_ALWAYS] = "always",
                                      [MPROF_COLOUR_NEVER] = "never"};
static const char *const sorts[] = {
    [MPROF_SORT_USUAL] = NULL,      [MPROF_SORT_BYTES] = "bytes",
    [MPROF_SORT_ALLOCS] = "allocs", [MPROF_SORT_SELF] = "self",
    [MPROF_SORT_TOTAL] = "total",   [MPROF_SORT_KEPT] = "kept",
    [MPROF_SORT_PEAK] = "peak"};
static const char *const orders[] = {[MPROF_LIST_TREE] = "tree",
                                     [MPROF_LIST_TIME] = "time",
                                     [MPROF_LIST_BYTES] = "bytes"};
static const char *const diff_bys[] = {[MPROF_DIFF_BY_FUNCTION] = "function",
                                       [MPROF_DIFF_BY_CHAIN] = "chain",
                                       [MPROF_DIFF_BY_TYPE] = "type",
                                       [MPROF_DIFF_BY_LINE] = "line"};
static const char *const bys[] = {[MPROF_BY_FUNCTION] = "function",
                                  [MPROF_BY_LINE] = "line",
                                  [MPROF_BY_SITE] = "site"};
static const char *const metrics[] = {"bytes", "allocs", "kept", "peak",
                                      "temporary"};
static const char *const report_formats[] = {
    [MPROF_REPORT_TEXT] = "text", [MPROF_REPORT_SEXP] = "sexp"};
static const char *const export_formats[] = {
    [MPROF_EXPORT_FOLDED] = "folded",
    [MPROF_EXPORT_PPROF] = "pprof",
    [MPROF_EXPORT_SPEEDSCOPE] = "speedscope",
    [MPROF_EXPORT_CALLGRIND] = "callgrind",
    [MPROF_EXPORT_DHAT] = "dhat",
    [MPROF_EXPORT_EMACS] = "emacs",
    [MPROF_EXPORT_JSON] = "json",
    [MPROF_EXPORT_TEXT] = "text",
    [MPROF_EXPORT_SEXP] = "sexp"};
static const char *const diff_formats[] = {[MPROF_DIFF_TEXT] = "text",
                                           [MPROF_DIFF_PPROF] = "pprof",
                                           [MPROF_DIFF_HTML] = "html"};
static const char *const check_formats[] = {[MPROF_CHECK_TEXT] = "text",
                                            [MPROF_CHECK_TAP] = "tap",
                                            [MPROF_CHECK_JUNIT] = "junit"};
static const char *const curve_formats[] = {[MPROF_CURVE_CHOSEN] = "auto",
                                            [MPROF_CURVE_TABLE] = "table",
                                            [MPROF_CURVE_TSV] = "tsv",
                                            [MPROF_CURVE_PLOT] = "plot"};
static const char *const stats_formats[] = {
    [MPROF_STATS_TEXT] = "text", [MPROF_STATS_PLAIN] = "plain"};

/* Which commands take an option */
enum {
    REPORT = 1u << MPROF_COMMAND_REPORT,
    SUMMARY = 1u << MPROF_COMMAND_SUMMARY,
    RUN = 1u << MPROF_COMMAND_RUN,
    HTML = 1u << MPROF_COMMAND_HTML,
    DIFF = 1u << MPROF_COMMAND_DIFF,
    CURVE = 1u << MPROF_COMMAND_CURVE,
    EXPORT = 1u << MPROF_COMMAND_EXPORT,
    LIST = 1u << MPROF_COMMAND_LIST,
    STATS = 1u << MPROF_COMMAND_STATS,
    CHECK = 1u << MPROF_COMMAND_CHECK,
    ALL = (1u << MPROF_COMMANDS) - 1
};

#define FIELD(name) offsetof(struct report__options, name)
#define FLAG(name) .kind = MPROF_OPTION_FLAG, .field = FIELD(name)
#define TEXT(name) .kind = MPROF_OPTION_TEXT, .field = FIELD(name)
#define NUMBER(name, unit)                                                     \
    .kind = MPROF_OPTION_NUMBER, .field = FIELD(name), .what = unit
#define CHOICE(name, what, names)                                              \
    .kind = MPROF_OPTION_CHOICE, .field = FIELD(name),                         \
    .choices = CHOICES(what, names)
#define CALL(function) .kind = MPROF_OPTION_CALL, .set = function
#define ALIAS(option) .kind = MPROF_OPTION_ALIAS, .what = option
#define WHAT MPROF_OPTIONS_WHAT
#define PART MPROF_OPTIONS_PART
#define HOW MPROF_OPTIONS_HOW
#define GENERAL MPROF_OPTIONS_GENERAL

const struct report__option report__option_list[] = {
    /* What to show, or to record */
    {"table", "LIST",
     "bins, leaks, direct, graph: the usual ones; lost, peak,\n"
     "temporary, paths, tree, types, alive; with commas",
     REPORT, WHAT, CALL(report__set_tables)},
    {"verbose", NULL, "all rows, however small", REPORT | DIFF, WHAT,
     CALL(report__be_verbose)},
    {"verbose", NULL, "print limits that are kept, too", CHECK, WHAT,
     CALL(report__be_verbose)},
    {"by", "WHAT",
     "a row by function; by line, of the call in the source; or\n"
     "by site, the offset of the call in its function",
     REPORT, WHAT, CHOICE(by, "kind of row", bys)},
    {"by", "WHAT",
     "a table by function, the default; by chain; by type, of C\n"
     "by size; or by line, of the call in the source",
     DIFF, WHAT, CHOICE(diff_by, "kind of row", diff_bys)},
    {"threads", NULL, "one set of tables for each thread", REPORT, WHAT,
     FLAG(by_thread)},
    {"max", "LIMIT",
     "bytes=N, allocs=N, of C also kept=N or peak=N: of the whole\n"
     "program; FUNCTION:bytes=N: of a function and all that it\n"
     "calls; FUNCTION:self-bytes=N: of the function itself",
     CHECK, WHAT, CALL(report__add_max)},
    {"budget", "FILE", "a file with such a LIMIT on each line, and # comments",
     CHECK, WHAT, TEXT(budget.file)},
    {"update", "[=P%]",
     "write that file anew: with what the program allocates now\n"
     "as limits, P percent more",
     CHECK, WHAT, CALL(report__set_update)},
    {"against", "FILE",
     "for a limit that is exceeded, print the chain that grew\n"
     "most since the data file FILE; another --against may name\n"
     "the program that FILE is of",
     CHECK, WHAT, CALL(report__set_against)},
    {"fail-on-growth", "LIMIT",
     "exit with status 3 if the bytes allocated, not freed or at\n"
     "the peak, of all or of a function, grew by more than LIMIT:\n"
     "1%, 4k, or both: 1%,4k",
     DIFF, WHAT, CALL(report__set_growth)},
    {"format", "FORMAT",
     "folded, for flamegraph.pl; pprof; speedscope; callgrind,\n"
     "for KCachegrind; dhat; emacs; json; text; or sexp, for Lisp",
     EXPORT, WHAT, CHOICE(format, "format", export_formats)},
    {"metric", "METRIC",
     "folded and emacs: bytes, the default, or allocs; of C also\n"
     "kept and peak, in bytes, and temporary",
     EXPORT, WHAT, CHOICE(metric, "metric", metrics)},
    {"lisp", NULL, "record the Lisp heap of an ECL without the patch", RUN,
     WHAT, FLAG(run.lisp)},
    {"live", "[=1/N]",
     "with --lisp: also which objects are live, of all, or of a\n"
     "sample of one byte in N",
     RUN, WHAT, CALL(report__set_live)},
    {"scan", NULL,
     "find out when the program exits which blocks are lost: no\n"
     "pointer leads to them",
     RUN, WHAT, FLAG(run.scan)},
    {"no-children", NULL, "do not record the processes that it starts", RUN,
     WHAT, FLAG(run.no_children)},

    /* Which part of it */
    {"heap", "HEAP", "lisp or c, if both were recorded",
     REPORT | SUMMARY | DIFF | CURVE | EXPORT | CHECK, PART,
     CALL(report__set_heap)},
    {"focus", "REGEX", "only chains with a function like this",
     REPORT | DIFF | EXPORT, PART, TEXT(focus.focus)},
    {"ignore", "REGEX", "no chains with a function like this",
     REPORT | DIFF | EXPORT, PART, TEXT(focus.ignore)},
    {"only", "REGEX",
     "only functions of packages or files like this; the others'\n"
     "allocations are their callers'",
     REPORT | DIFF | EXPORT, PART, TEXT(focus.only)},
    {"type", "TYPE",
     "of Lisp, only this type, such as hash-table, or class of\n"
     "structures or instances; several with commas",
     REPORT | HTML | EXPORT, PART, CALL(report__set_type)},
    {"alive", NULL, "of Lisp, only live objects, if they were recorded",
     REPORT | HTML | EXPORT, PART, FLAG(alive)},
    {"all-frames", NULL,
     "also functions of start-up, loader, allocators, interpreter",
     REPORT | SUMMARY | HTML | DIFF | EXPORT | CHECK, PART, FLAG(all_frames)},
    {"limit-rows", "N", "at most N rows of a table; 0: all",
     REPORT | DIFF | EXPORT, PART, NUMBER(choice.rows, "rows")},
    {"nodes", "N",
     "the N contexts with most bytes (1000000), the others\n"
     "together as <smaller>",
     HTML, PART, NUMBER(nodes, "contexts")},
    {"resolution", "LIST",
     "leave out points of C's heap that are nearer to the one\n"
     "before than these seconds, such as 0.1s, or bytes: 4k",
     CURVE, PART, CALL(report__set_resolution)},

    /* How to show it */
    {"depth", "N", "show the N innermost functions of a chain; 0: all",
     REPORT | HTML | DIFF | EXPORT, HOW, NUMBER(depth, "functions")},
    {"sort", "COLUMN",
     "sort by bytes, allocs, self, total, kept or peak, if a\n"
     "table has that column",
     REPORT | DIFF, HOW, CHOICE(choice.sort, "column", sorts)},
    {"sort", "ORDER", "tree: processes below their parents; time; or bytes",
     LIST, HOW, CHOICE(order, "order", orders)},
    {"inverted", NULL, "tree: from the allocating functions to their callers",
     REPORT, HOW, FLAG(inverted)},
    {"normalize", "HOW",
     "multiply OLD so that both have as many bytes, or allocs; or\n"
     "by a factor, such as 1.5",
     DIFF, HOW, CALL(report__set_normalize)},
    {"inlines", "[=no]",
     "show functions that the compiler inlined; no: do not read\n"
     "debug information, which also has the lines",
     REPORT | HTML | DIFF | EXPORT, HOW, CALL(report__set_inlines)},
    {"full-names", NULL, "C++: with parameters, and all arguments of templates",
     REPORT | SUMMARY | HTML | DIFF, HOW, FLAG(full_names)},
    {"bytes", NULL, "print bytes of the summary as digits, not in kB and MB",
     REPORT | SUMMARY, HOW, FLAG(bytes)},
    {"arguments", NULL,
     "include the arguments of the program, which may be secret",
     HTML | DIFF | EXPORT, HOW, FLAG(arguments)},
    {"format", "FORMAT", "text; or sexp, all numbers for Lisp", REPORT, HOW,
     CHOICE(format, "format", report_formats)},
    {"format", "FORMAT", "text; pprof: NEW without what OLD has; html: a page",
     DIFF, HOW, CHOICE(format, "format", diff_formats)},
    {"format", "FORMAT", "text, tap or junit", CHECK, HOW,
     CHOICE(format, "format", check_formats)},
    {"format", "FORMAT",
     "auto: drawn on a terminal, else a table; table; tsv, for\n"
     "gnuplot; or plot",
     CURVE, HOW, CHOICE(curve.format, "format", curve_formats)},
    {"format", "FORMAT", "text; or plain: a line of numbers for each process",
     STATS, HOW, CHOICE(format, "format", stats_formats)},
    {"html", "FILE", "make a page for a browser in FILE", DIFF, HOW,
     CALL(report__set_diff_html)},
    {"html", "FILE", "make a page for a browser when the program has ended",
     RUN, HOW, TEXT(run.html)},
    {"summary", NULL, "each process prints a line when it ends", RUN, HOW,
     FLAG(run.summary)},
    {"stats", NULL, "record the load over time, for mprof stats", RUN, HOW,
     FLAG(run.stats)},
    {"group", NULL, "add up what all processes allocate, for mprof stats", RUN,
     HOW, FLAG(run.group)},
    {"log", "FILE[,plain][,BYTES]",
     "also write a log of each event; plain: as text; BYTES: only\n"
     "of events of at least so many bytes",
     RUN, HOW, CALL(report__set_log)},
    {"limit", "BYTES", "the size that the data file may reach", RUN, HOW,
     TEXT(run.limit)},

    /* General */
    {"output", "FILE", "the data file (mprof.data)", RUN, GENERAL,
     TEXT(output)},
    {"output", "FILE", "write to FILE, which appears when it is complete",
     ALL & ~(unsigned)RUN, GENERAL, TEXT(output)},
    {"color", "WHEN", "auto, always or never", REPORT | SUMMARY | LIST, GENERAL,
     CHOICE(colour, "colour", colours)},
    {"version", NULL, "print the version", REPORT, GENERAL, FLAG(version)},
    {"help", NULL, "print this", ALL, GENERAL, FLAG(help)},

    /* Names of the manual page of 1988 */
    {"normal", NULL, "", REPORT | DIFF, WHAT, CALL(report__be_normal)},
    {"terse", NULL, "", REPORT | DIFF, WHAT, CALL(report__be_terse)},
    {"leaktable", NULL, "", REPORT, WHAT, FLAG(leak_table)},
    {"noleaktable", NULL, "", REPORT, WHAT, FLAG(no_leak_table)},
    {"offsets", NULL, "", REPORT, WHAT, CALL(report__show_offsets)},

    /* For the package MPROF: what to type next is Lisp. */
    {"from-lisp", NULL, "", REPORT, GENERAL, FLAG(from_lisp)},

    /* Names of mprof 1.0 */
    {"data", "FILE", "", RUN, GENERAL, ALIAS("output=")},
    {"leak-depth", "N", "", REPORT, HOW, ALIAS("depth=")},
    {"leaks", "WHICH", "", REPORT, WHAT, CALL(report__set_leaks)},
    {"sexp", NULL, "", REPORT, HOW, ALIAS("format=sexp")},
    {"plain", NULL, "", STATS, HOW, ALIAS("format=plain")},
    {"no-inlines", NULL, "", HTML | DIFF, HOW, ALIAS("inlines=no")},
    {"no-lines", NULL, "", EXPORT, HOW, ALIAS("inlines=no")},
    {"max-bytes", "N", "", CHECK, WHAT, ALIAS("max=bytes=")},
    {"max-allocs", "N", "", CHECK, WHAT, ALIAS("max=allocs=")},
    {"max-kept", "N", "", CHECK, WHAT, ALIAS("max=kept=")},
    {"max-peak", "N", "", CHECK, WHAT, ALIAS("max=peak=")},
    {"against-program", "FILE", "", CHECK, WHAT, TEXT(budget.against_program)},
    {"slack", "P", "", CHECK, WHAT, ALIAS("update=")},
    {"time-resolution", "S", "", CURVE, PART, CALL(report__set_seconds)},
    {"size-resolution", "BYTES", "", CURVE, PART, ALIAS("resolution=")},
    {"log-plain", NULL, "", RUN, HOW, FLAG(run.log_plain)},
    {"log-threshold", "BYTES", "", RUN, HOW, CALL(report__set_threshold)},
    {.name = NULL}};

bool report__set_heap(struct report__parse *parse, const char *name) {
    static const struct report__choices choices = CHOICES("heap", heap_names);
    struct report__options *o = parse->fields;
    const int heap = report__choose(parse, &choices, name, strlen(name));

    o->heaps = heap < 0 ? 0 : 1u << heap;
    return heap >= 0;
}
