/* options.c - all options of all commands, each once, and what those set whose
 * values are more than one word or number. */
#define _GNU_SOURCE /* strsep */
#include "report/command/command.h"

#include "monitor/format/bytes.h"
#include "report/elf/elf_file.h"

/* Which tables */

static bool set_tables(struct report__call *call, const char *list) {
    const char *words = report__tables[0].name;

    for (unsigned i = 1; i < MPROF_TABLES; i++)
        words =
            report__format(&call->pool, "%s %s", words, report__tables[i].name);
    for (size_t length;; list += length + 1) {
        length = strcspn(list, ",");
        const int table = report__choose(call, "table", words, list, length);
        if (table < 0)
            return false;
        call->options.tables |= 1u << table;
        if (list[length] == '\0')
            return true;
    }
}

static bool set_heap(struct report__call *call, const char *name) {
    const int heap = report__choose(call, "heap", "lisp c", name, strlen(name));

    call->options.heaps = heap < 0 ? 0 : 1u << heap;
    return heap >= 0;
}

static bool set_type(struct report__call *call, const char *names) {
    struct report__chosen_types *types = &call->options.focus.types;

    if (types->count == MPROF_MOST_CHOSEN)
        return report__refuse(call, "too many --type: put commas between");
    types->list[types->count++] = names;
    return true;
}

static bool set_inlines(struct report__call *call, const char *which) {
    struct report__options *o = &call->options;

    o->inlines = *which == '\0';
    o->no_inlines = !o->inlines;
    return o->inlines || strcmp(which, "no") == 0 ||
           report__refuse(call, "--inlines=%s: say --inlines or --inlines=no",
                          which);
}

static bool set_verbosity(struct report__call *call, const char *which) {
    call->options.choice.verbosity = *which == 'v'   ? MPROF_VERBOSE
                                     : *which == 't' ? MPROF_TERSE
                                                     : MPROF_NORMAL;
    call->options.detailed = true;
    return true;
}

/* The curve */

/* Take PART, of a list or a single one.  Missing parts leave nothing out. */
static bool take_resolution(struct report__curve_options *curve,
                            const char *part, bool is_time) {
    char *end;
    const double seconds = strtod(part, &end);

    if (curve->least_ns == 0 && curve->least_bytes == 0)
        curve->least_ns = curve->least_bytes = UINT64_MAX;
    if (*part < '0' || *part > '9' || seconds > 1e9 ||
        strcmp(end, is_time ? "" : "s") != 0)
        return !is_time && mprof__read_bytes(part, &curve->least_bytes);
    curve->least_ns = (uint64_t)(seconds * 1e9);
    return true;
}

/* "0.1s,4k", or one of the two */
static bool set_resolution(struct report__call *call, const char *list) {
    char *rest = report__copy(&call->pool, list, strlen(list)), *part;

    while ((part = strsep(&rest, ",")))
        if (!take_resolution(&call->options.curve, part, false))
            return report__refuse(
                call, "'%s' is not a resolution such as 0.1s, 4k or 0.1s,4k",
                list);
    return true;
}

static bool set_seconds(struct report__call *call, const char *seconds) {
    return take_resolution(&call->options.curve, seconds, true) ||
           report__refuse(call, "'%s' is not a number of seconds", seconds);
}

/* Differences */

static bool set_diff_html(struct report__call *call, const char *file) {
    call->options.output = file;
    call->options.format = MPROF_DIFF_HTML;
    return true;
}

/* Digits at *AT, up to nine, which become the end of FACTOR; of OF, too, if
 * they are PLACES.  False: there are none, or more. */
static bool take_digits(const char **at, struct report__factor *factor,
                        bool places) {
    enum { MOST = 9 };
    int digits = 0;

    for (; **at >= '0' && **at <= '9' && digits <= MOST; ++*at, digits++) {
        factor->by = 10 * factor->by + (uint64_t)(**at - '0');
        factor->of *= places ? 10 : 1;
    }
    return digits > 0 && digits <= MOST;
}

/* A decimal number, as a fraction, at *TEXT, which moves behind it. */
static bool take_decimal(const char **text, struct report__factor *factor) {
    *factor = (struct report__factor){0, 1};
    if (!take_digits(text, factor, false))
        return false;
    if (**text != '.')
        return true;
    ++*text;
    return take_digits(text, factor, true);
}

/* "bytes", "allocs", or a factor */
static bool set_normalize(struct report__call *call, const char *how) {
    struct report__options *o = &call->options;
    const char *at = how;

    if (strcmp(how, "bytes") == 0)
        o->normalizing = MPROF_BY_BYTES;
    else if (strcmp(how, "allocs") == 0)
        o->normalizing = MPROF_BY_ALLOCS;
    else if (take_decimal(&at, &o->factor) && *at == '\0' && o->factor.by > 0)
        o->normalizing = MPROF_BY_FACTOR;
    else
        return report__refuse(
            call, "'%s' is neither bytes, allocs nor a factor such as 1.5",
            how);
    return true;
}

/* "1%,4k", or one of the two, in any order */
static bool set_growth(struct report__call *call, const char *text) {
    struct report__growth_limit *limit = &call->options.growth;
    char *rest = report__copy(&call->pool, text, strlen(text)), *part;
    bool has_share = false, has_bytes = false;

    *limit = (struct report__growth_limit){.is_set = true, .share = {0, 1}};
    while ((part = strsep(&rest, ","))) {
        struct report__factor share;
        const char *end = part;
        if (!has_share && take_decimal(&end, &share) && strcmp(end, "%") == 0) {
            has_share = true;
            limit->share = (struct report__factor){share.by, 100 * share.of};
        } else if (!has_bytes && (strcmp(part, "0") == 0 ||
                                  mprof__read_bytes(part, &limit->bytes))) {
            has_bytes = true;
        } else {
            return report__refuse(
                call, "'%s' is not a growth such as 1%%, 4k or 1%%,4k", text);
        }
    }
    return true;
}

/* Budgets */

static bool add_max(struct report__call *call, const char *limit) {
    struct report__written written;
    const char *error;

    if (!report__read_written(&call->pool, limit, strlen(limit), &written,
                              &error))
        return report__refuse(call, "--max: %s", error);
    report__add_written(&call->pool, &call->options.budget.given, &written);
    return true;
}

/* "5%", "0.25%", or without the sign */
static bool set_update(struct report__call *call, const char *percent) {
    enum { MOST = 1000, HUNDREDTHS = 10000 };
    struct report__budget_options *budget = &call->options.budget;
    struct report__factor factor;
    const char *at = percent;

    budget->update = true;
    if (!take_decimal(&at, &factor) || (*at != '\0' && strcmp(at, "%") != 0) ||
        factor.by > MOST * factor.of)
        return report__refuse(
            call, "'%s' is not a number of percent up to 1000", percent);
    budget->slack = (uint32_t)(factor.by * (HUNDREDTHS / 100) / factor.of);
    return true;
}

static bool set_against(struct report__call *call, const char *file) {
    struct report__budget_options *budget = &call->options.budget;

    *(report__is_elf(file) ? &budget->against_program : &budget->against) =
        file;
    return true;
}

/* Recording */

/* "1/512"; "1": all */
static bool set_live(struct report__call *call, const char *sample) {
    call->options.run.live = sample;
    return strcmp(sample, "1") == 0 || mprof__read_sampling(sample) > 0 ||
           report__refuse(call,
                          "'%s' is not a part of the bytes such as 1/512, from "
                          "1/2 to 1/%d",
                          sample, MPROF__MOST_SAMPLING);
}

static bool set_stats(struct report__call *call, const char *which) {
    call->options.run.group |= *which != '\0';
    call->options.run.stats |= *which == '\0';
    return *which == '\0' || strcmp(which, "group") == 0 ||
           report__refuse(call, "--stats=%s: say --stats or --stats=group",
                          which);
}

/* "FILE,plain,4k"; any other part belongs to the name of the file. */
static bool set_log(struct report__call *call, const char *value) {
    struct report__run_options *run = &call->options.run;
    char *file = report__copy(&call->pool, value, strlen(value)), *comma;
    uint64_t bytes;

    for (; (comma = strrchr(file, ',')); *comma = '\0')
        if (strcmp(comma + 1, "plain") == 0)
            run->log_plain = true;
        else if (mprof__read_bytes(comma + 1, &bytes))
            run->threshold = comma + 1;
        else
            break;
    run->log = file;
    return true;
}

static bool set_threshold(struct report__call *call, const char *bytes) {
    uint64_t number;

    call->options.run.threshold = bytes;
    return mprof__read_bytes(bytes, &number) ||
           report__refuse(call, "'%s' is not a number of bytes", bytes);
}

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

#define SET(of, name)                                                          \
    .kind = MPROF_OPTION_##of, .field = offsetof(struct report__options, name)
#define FLAG(name) SET(FLAG, name)
#define TEXT(name) SET(TEXT, name)
#define NUMBER(name, unit) SET(NUMBER, name), .what = unit
#define CHOICE(name, which, list)                                              \
    SET(CHOICE, name), .what = which, .words = list
#define CALL(function) .kind = MPROF_OPTION_CALL, .set = function
#define ALIAS(option) .kind = MPROF_OPTION_ALIAS, .what = option

/* The words of a choice are in the order of its enum. */
const struct report__option report__option_list[] = {
    /* Contents of a report, or a recording */
    {.name = "Contents"},
    {"table", "LIST",
     "bins, leaks, direct, graph: the usual ones; lost, peak,\n"
     "temporary, paths, tree, types, alive, kept-by, equal; with\n"
     "commas",
     REPORT, CALL(set_tables)},
    {"verbose", NULL, "leave nothing out: all rows, however small; all limits",
     REPORT | DIFF | CHECK, CALL(set_verbosity), .what = "verbose"},
    {"by", "WHAT",
     "a row by function; by line, of the call in the source; or\n"
     "by site, the offset of the call in its function",
     REPORT, CHOICE(by, "kind of row", "function line site")},
    {"by", "WHAT",
     "a table by function, the default; by chain; by type, of C\n"
     "by size; or by line, of the call in the source",
     DIFF, CHOICE(diff_by, "kind of row", "function chain type line")},
    {"threads", NULL, "one set of tables for each thread", REPORT,
     FLAG(by_thread)},
    {"max", "LIMIT",
     "bytes=N, allocs=N, kept=N, peak=N (C): of the whole heap;\n"
     "FUNCTION:bytes=N: of a function with its callees;\n"
     "FUNCTION:self-bytes=N: of a function by itself",
     CHECK, CALL(add_max)},
    {"budget", "FILE", "a file with such a LIMIT on each line, and # comments",
     CHECK, TEXT(budget.file)},
    {"update", "[=P%]",
     "write that file anew: with what the program allocates now\n"
     "as limits, P percent more",
     CHECK, CALL(set_update), .what = "0"},
    {"against", "FILE",
     "for a limit that is exceeded, print the chain that grew\n"
     "most since the data file FILE; another --against may name\n"
     "the program that FILE is of",
     CHECK, CALL(set_against)},
    {"fail-on-growth", "LIMIT",
     "exit with status 3 if the bytes allocated, not freed or at\n"
     "the peak, of all or of a function, grew by more than LIMIT:\n"
     "1%, 4k, or both: 1%,4k",
     DIFF, CALL(set_growth)},
    {"format", "FORMAT",
     "folded, for flamegraph.pl; pprof; speedscope; callgrind,\n"
     "for KCachegrind; dhat; emacs; json; text; or sexp, for Lisp",
     EXPORT,
     CHOICE(format, "format",
            "folded pprof speedscope callgrind dhat emacs json text sexp")},
    {"metric", "METRIC",
     "folded and emacs: bytes, the default, or allocs; for C also\n"
     "kept and peak, in bytes, and temporary",
     EXPORT, CHOICE(metric, "metric", "bytes allocs kept peak temporary")},
    {"lisp", NULL, "record the Lisp heap of an ECL without the patch", RUN,
     FLAG(run.lisp)},
    {"live", "[=1/N]",
     "with --lisp: also which objects are live, of all, or of a\n"
     "sample of one byte in N",
     RUN, CALL(set_live), .what = "1"},
    {"scan", NULL,
     "find out when the program exits which blocks are lost: no\n"
     "pointer leads to them",
     RUN, FLAG(run.scan)},
    {"kept-by", NULL,
     "with that, also which variable keeps each of the others:\n"
     "--table=kept-by shows it",
     RUN, FLAG(run.kept_by)},
    {"no-children", NULL, "do not record the processes that it starts", RUN,
     FLAG(run.no_children)},

    {.name = "Which part of it"},
    {"heap", "HEAP", "lisp or c, if both were recorded",
     REPORT | SUMMARY | DIFF | CURVE | EXPORT | CHECK, CALL(set_heap)},
    {"focus", "REGEX", "only chains with a function like this",
     REPORT | DIFF | EXPORT, TEXT(focus.focus)},
    {"hide", "REGEX", "functions like this are charged to their callers",
     REPORT | DIFF | EXPORT, TEXT(focus.hide)},
    {"ignore", "REGEX", "no chains with a function like this",
     REPORT | DIFF | EXPORT, TEXT(focus.ignore)},
    {"only", "REGEX",
     "only functions of packages, binaries or source files like\n"
     "this; other functions are charged to their callers",
     REPORT | DIFF | EXPORT, TEXT(focus.only)},
    {"type", "TYPE",
     "of Lisp, only this type, such as hash-table, or class of\n"
     "structures or instances; several with commas",
     REPORT | HTML | EXPORT, CALL(set_type)},
    {"alive", NULL, "of Lisp, only live objects, if they were recorded",
     REPORT | HTML | EXPORT, FLAG(alive)},
    {"all-frames", NULL,
     "also functions of start-up, loader, allocators, interpreter",
     REPORT | SUMMARY | HTML | DIFF | EXPORT | CHECK, FLAG(all_frames)},
    {"limit-rows", "N", "at most N rows of a table; 0: all",
     REPORT | DIFF | EXPORT, NUMBER(choice.rows, "rows")},
    {"nodes", "N",
     "the N contexts with most bytes (1000000), the others\n"
     "together as <smaller>",
     HTML, NUMBER(nodes, "contexts")},
    {"resolution", "LIST",
     "leave out points of C's heap that are nearer to the one\n"
     "before than these seconds, such as 0.1s, or bytes: 4k",
     CURVE, CALL(set_resolution)},

    {.name = "How to show it"},
    {"depth", "N", "show the N innermost functions of a chain; 0: all",
     REPORT | HTML | DIFF | EXPORT, NUMBER(depth, "functions")},
    {"sort", "COLUMN",
     "sort by bytes, allocs, self, total, kept or peak, if a\n"
     "table has that column",
     REPORT | DIFF,
     CHOICE(choice.sort, "column", " bytes allocs self total kept peak")},
    {"sort", "ORDER", "tree: processes below their parents; time; or bytes",
     LIST, CHOICE(order, "order", "tree time bytes")},
    {"inverted", NULL, "tree: from the allocating functions to their callers",
     REPORT, FLAG(inverted)},
    {"normalize", "HOW",
     "multiply OLD so that both have as many bytes, or allocs; or\n"
     "by a factor, such as 1.5",
     DIFF, CALL(set_normalize)},
    {"inlines", "[=no]",
     "show functions that the compiler inlined; no: do not read\n"
     "debug information, which also has the lines",
     REPORT | SUMMARY | HTML | DIFF | EXPORT, CALL(set_inlines), .what = ""},
    {"full-names", NULL, "C++: with parameters, and all arguments of templates",
     REPORT | SUMMARY | HTML | DIFF, FLAG(full_names)},
    {"bytes", NULL, "print bytes of the summary as digits, not in kB and MB",
     REPORT | SUMMARY, FLAG(bytes)},
    {"arguments", NULL,
     "include the arguments of the program, which may be secret",
     HTML | DIFF | EXPORT, FLAG(arguments)},
    {"format", "FORMAT",
     "text; or sexp, for Lisp: all numbers, (summary) sentences",
     REPORT | SUMMARY, CHOICE(format, "format", "text sexp")},
    {"format", "FORMAT", "text; pprof: NEW without what OLD has; html: a page",
     DIFF, CHOICE(format, "format", "text pprof html")},
    {"format", "FORMAT", "text, tap or junit", CHECK,
     CHOICE(format, "format", "text tap junit")},
    {"format", "FORMAT",
     "auto: drawn on a terminal, else a table; table; tsv, for\n"
     "gnuplot; or plot",
     CURVE, CHOICE(curve.format, "format", "auto table tsv plot")},
    {"format", "FORMAT", "text; or plain: a line of numbers for each process",
     STATS, CHOICE(format, "format", "text plain")},
    {"html", "FILE", "make a page for a browser in FILE", DIFF,
     CALL(set_diff_html)},
    {"html", "FILE", "make a page for a browser when the program has ended",
     RUN, TEXT(run.html)},
    {"summary", NULL, "each process prints a line when it ends", RUN,
     FLAG(run.summary)},
    {"stats", "[=group]",
     "record the load over time, for mprof stats; group: also add\n"
     "up what all processes allocate",
     RUN, CALL(set_stats), .what = ""},
    {"quiet", NULL, "on a terminal: do not print the next command", RUN,
     FLAG(run.quiet)},
    {"log", "FILE[,plain][,BYTES]",
     "also write a log of each event; plain: numbers; BYTES: only\n"
     "of events of at least so many bytes",
     RUN, CALL(set_log)},
    {"limit", "BYTES", "the size that the data file may reach", RUN,
     TEXT(run.limit)},

    {.name = "General"},
    {"output", "FILE", "the data file (mprof.data)", RUN, TEXT(output)},
    {"output", "FILE", "write to FILE, which appears when it is complete",
     ALL & ~(unsigned)RUN, TEXT(output)},
    {"color", "WHEN", "auto, always or never", REPORT | SUMMARY | LIST,
     CHOICE(colour, "colour", "auto always never")},
    {"version", NULL, "print the version", REPORT, FLAG(version)},
    {"help", NULL, "print this", ALL, FLAG(help)},

    /* Names of the manual page of 1988 */
    {"normal", NULL, "", REPORT | DIFF, CALL(set_verbosity), .what = "normal"},
    {"terse", NULL, "", REPORT | DIFF, CALL(set_verbosity), .what = "terse"},
    {"leaktable", NULL, "", REPORT, FLAG(leak_table)},
    {"noleaktable", NULL, "", REPORT, FLAG(no_leak_table)},
    {"offsets", NULL, "", REPORT, FLAG(offsets)},

    /* For the package MPROF: suggest Lisp, not commands. */
    {"from-lisp", NULL, "", REPORT, FLAG(from_lisp)},
    /* And for its ESCAPES: only chains of the thread with this id. */
    {"thread", "TID", "", EXPORT, NUMBER(thread, "threads")},

    /* Names of mprof 1.0 */
    {"data", "FILE", "", RUN, ALIAS("output=")},
    {"leak-depth", "N", "", REPORT, ALIAS("depth=")},
    {"leaks", "WHICH", "", REPORT,
     CHOICE(leaks, "kind of leaks", " kept lost")},
    {"group", NULL, "", RUN, ALIAS("stats=group")},
    {"sexp", NULL, "", REPORT, ALIAS("format=sexp")},
    {"plain", NULL, "", STATS, ALIAS("format=plain")},
    {"no-inlines", NULL, "", HTML | DIFF, ALIAS("inlines=no")},
    {"no-lines", NULL, "", EXPORT, ALIAS("inlines=no")},
    {"max-bytes", "N", "", CHECK, ALIAS("max=bytes=")},
    {"max-allocs", "N", "", CHECK, ALIAS("max=allocs=")},
    {"max-kept", "N", "", CHECK, ALIAS("max=kept=")},
    {"max-peak", "N", "", CHECK, ALIAS("max=peak=")},
    {"against-program", "FILE", "", CHECK, TEXT(budget.against_program)},
    {"slack", "P", "", CHECK, ALIAS("update=")},
    {"time-resolution", "S", "", CURVE, CALL(set_seconds)},
    {"size-resolution", "BYTES", "", CURVE, ALIAS("resolution=")},
    {"log-plain", NULL, "", RUN, FLAG(run.log_plain)},
    {"log-threshold", "BYTES", "", RUN, CALL(set_threshold)},
    {.name = NULL}};
