/* options.c - the options of the command. */
#include "report/command/command.h"

#include <stdlib.h>
#include <string.h>

#include "report/command/option.h"

/* Their names are bits of enum report__table, in this order. */
static const char *const table_names[] = {
    "bins",      "leaks", "direct", "graph", "peak",
    "temporary", "paths", "tree",   "types", "alive"};

static bool set_tables(void *options, const char *list, FILE *err) {
    struct report__options *o = options;

    o->tables = 0;
    for (;; list++) {
        size_t length = strcspn(list, ",");
        int table = report__choose(REPORT__CHOICES("no table", table_names),
                                   list, length, err);
        if (table < 0)
            return false;
        o->tables |= 1u << table;
        list += length;
        if (*list == '\0')
            return true;
    }
}

bool report__set_heap(void *options, const char *name, FILE *err) {
    static const char *const names[] = {
        [MPROF_LISP_HEAP] = "lisp", [MPROF_C_HEAP] = "c"};
    struct report__options *o = options;
    int heap = report__choose(REPORT__CHOICES("no heap", names), name,
                              strlen(name), err);

    o->heaps = heap < 0 ? 0 : 1u << heap;
    return heap >= 0;
}

static bool set_depth(void *options, const char *value, FILE *err) {
    struct report__options *o = options;
    return report__take_number(value, "callers", err, &o->leak_depth);
}

/* The leak table by name; --table does not take it away again. */
static void ask_leaks(struct report__options *o, bool wanted) {
    o->ask_leaks = wanted;
    o->no_leaks = !wanted;
}

static bool set_leaks(void *options, const char *which, FILE *err) {
    enum { KEPT, LOST };
    static const char *const names[] = {[KEPT] = "kept", [LOST] = "lost"};
    struct report__options *o = options;
    int chosen = report__choose(REPORT__CHOICES("no leaks", names), which,
                                strlen(which), err);

    if (chosen < 0)
        return false;
    o->lost = chosen == LOST;
    ask_leaks(o, true);
    return true;
}

static bool set_rows(void *options, const char *value, FILE *err) {
    struct report__options *o = options;
    return report__take_number(value, "rows", err, &o->choice.rows);
}

bool report__set_sort(void *options, const char *value, FILE *err) {
    static const char *const names[] = {"bytes", "allocs", "self",
                                        "total", "kept",   "peak"};
    static const enum report__sort sorts[] = {
        MPROF_SORT_BYTES, MPROF_SORT_ALLOCS, MPROF_SORT_SELF,
        MPROF_SORT_TOTAL, MPROF_SORT_KEPT,   MPROF_SORT_PEAK};
    struct report__options *o = options;
    int column = report__choose(REPORT__CHOICES("no column", names), value,
                                strlen(value), err);

    if (column >= 0)
        o->choice.sort = sorts[column];
    return column >= 0;
}

/* What a row of a table is of. */
static bool set_by(void *options, const char *value, FILE *err) {
    enum { FUNCTION, LINE, SITE };
    static const char *const names[] = {
        [FUNCTION] = "function", [LINE] = "line", [SITE] = "site"};
    struct report__options *o = options;
    int by = report__choose(REPORT__CHOICES("no rows by", names), value,
                            strlen(value), err);

    o->by_site = o->offsets = by == SITE;
    o->lines = by == LINE;
    return by >= 0;
}

static bool set_colour(void *options, const char *value, FILE *err) {
    return report__take_colour(value, err,
                               &((struct report__options *)options)->colour);
}

bool report__take_type(struct report__chosen_types *types, const char *names,
                       FILE *err) {
    if (types->count < MPROF_MOST_CHOSEN && *names != '\0') {
        types->list[types->count++] = names;
        return true;
    }
    fputs(*names == '\0' ? "mprof: --type: the name of a type is missing\n"
                         : "mprof: too many --type: put commas between\n",
          err);
    return false;
}

static bool set_type(void *options, const char *names, FILE *err) {
    struct report__options *o = options;
    return report__take_type(&o->focus.types, names, err);
}

REPORT__TAKES(set_output, struct report__options, output)
REPORT__TAKES(set_focus, struct report__options, focus.focus)
REPORT__TAKES(set_ignore, struct report__options, focus.ignore)
REPORT__TAKES(set_only, struct report__options, focus.only)
REPORT__SETS(be_inverted, struct report__options, inverted, true)

/* Options without a value */
#define FLAG(name, effect)                                                     \
    static bool name(void *options, const char *value, FILE *err) {            \
        struct report__options *o = options;                                   \
        (void)value, (void)err;                                                \
        effect;                                                                \
        return true;                                                           \
    }
FLAG(be_verbose, o->choice.verbosity = MPROF_VERBOSE)
FLAG(be_normal, o->choice.verbosity = MPROF_NORMAL)
FLAG(be_terse, o->choice.verbosity = MPROF_TERSE)
FLAG(with_leaks, ask_leaks(o, true))
FLAG(without_leaks, ask_leaks(o, false))
FLAG(with_offsets, (o->offsets = true, ask_leaks(o, true)))
FLAG(with_inlines, o->inlines = true)
FLAG(all_frames, o->all_frames = true)
FLAG(only_alive, o->alive = true)
FLAG(by_thread, o->by_thread = true)
FLAG(as_sexp, o->sexp = true)
FLAG(tell_version, o->version = true)
FLAG(give_help, o->help = true)

static const struct report__option list[] = {
    {"table", "LIST",
     "of bins, leaks, direct, graph, which are printed unless\n"
     "it is given, and peak, temporary, paths, tree, types; with\n"
     "commas.  Lisp has no leaks, peak and temporary, C no types",
     set_tables},
    {"heap", "HEAP", "only of the heap lisp, or c, where both are recorded",
     report__set_heap},
    {"verbose", NULL, "everything", be_verbose},
    {"normal", NULL, "only what is 0.5% of all bytes or more; the default",
     be_normal},
    {"terse", NULL, "only what is 1% or more", be_terse},
    {"leaktable", NULL, "print the leak table; the default", with_leaks},
    {"noleaktable", NULL, "do not print it", without_leaks},
    {"leaks", "WHICH",
     "that table of what is lost, which nothing led to any more\n"
     "at the end, as `mprof run --scan` found; or of all that\n"
     "was kept; the default",
     set_leaks},
    {"by", "WHAT",
     "all but graph: a row by function; by line, of the call in\n"
     "the source, as the debug information tells it; or by site,\n"
     "the call's offset in its function",
     set_by},
    {"offsets", NULL, "--by=site for all but direct, and the leak table",
     with_offsets},
    {"leak-depth", "N",
     "the same, and paths: show up to N callers (5); 0 shows all", set_depth},
    {"inverted", NULL, "tree: from what allocates out to its callers",
     be_inverted},
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
    {"sort", "COLUMN",
     "bytes, allocs, self, total, kept or peak, where a table has\n"
     "it",
     report__set_sort},
    {"limit-rows", "N", "no more than N rows of a table", set_rows},
    {"inlines", NULL, "leaks, direct, graph: show functions that were inlined",
     with_inlines},
    {"all-frames", NULL,
     "also the functions of the system's plumbing: start-up,\n"
     "operator new, Lisp's allocators, interpreter, dispatch",
     all_frames},
    {"threads", NULL, "one set of tables for each thread", by_thread},
    {"output", "FILE", "write to FILE, which appears when it is complete",
     set_output},
    {"color", "WHEN", "auto, on a terminal; always or never", set_colour},
    {"sexp", NULL, "print everything as one Lisp expression instead", as_sexp},
    {"version", NULL, "print the version", tell_version},
    {"help", NULL, "print this", give_help},
    {NULL, NULL, NULL, NULL}};

void report__help(FILE *out) {
    fputs(
        "Usage: mprof [OPTION]... [[PROGRAM] DATA]...\n"
        "       mprof run [--data=FILE] [--limit=BYTES] [--lisp "
        "[--live[=1/N]]]\n"
        "                 [--no-children]\n"
        "                 [--summary] [--scan] [--stats] [--group] "
        "[--html=FILE]\n"
        "                 [--log=FILE] [--log-plain] [--log-threshold=BYTES]\n"
        "                 [--] PROGRAM [ARGUMENT]...\n"
        "       mprof curve [OPTION]... [PROGRAM [DATA] | DATA]\n"
        "       mprof html [OPTION]... [[PROGRAM] DATA]...\n"
        "       mprof diff [OPTION]... [PROGRAM] OLD [PROGRAM] NEW\n"
        "       mprof export [OPTION]... [[PROGRAM] DATA]...\n"
        "       mprof list [OPTION]... [FILE]...\n"
        "       mprof stats [OPTION]... [FILE]...\n"
        "       mprof check [OPTION]... [[PROGRAM] DATA]...\n"
        "Print what the data file DATA (mprof.data) tells about the "
        "allocations of\n"
        "a program: which types or sizes (bins), what was never freed "
        "(leaks), by\n"
        "which functions (direct), and on whose behalf (graph).  Several data "
        "files are\n"
        "one report.  PROGRAM is the file of the program if it is not where it "
        "was.\n"
        "`mprof run` runs PROGRAM and records what it allocates.\n"
        "`mprof html` makes a page for a browser, `mprof curve` prints how the "
        "heap grew\n"
        "and shrank, `mprof diff` what differs from one data file to another, "
        "`mprof\n"
        "export` writes chains for other tools, `mprof stats` prints the load "
        "of one\n"
        "process or of many, `mprof check` holds a program against a budget; "
        "each has a\n"
        "--help.\n"
        "\n",
        out);
    report__describe_options(list, out);
    fputs("\nLong options may begin with one dash.\n", out);
}

/* The usual tables unless --table tells which; -leaktable and -noleaktable add
 * the leak table to these or take it away. */
static void choose_tables(struct report__options *o) {
    if (o->tables & MPROF_LEAKS && !o->no_leaks)
        o->ask_leaks = true;
    if (!o->tables)
        o->tables = MPROF_USUAL_TABLES;
    if (o->ask_leaks)
        o->tables |= MPROF_LEAKS;
    if (o->no_leaks)
        o->tables &= ~(unsigned)MPROF_LEAKS;
}

bool report__parse_arguments(const struct report__option *known, int argc,
                             char **argv, const char *prefix, FILE *err,
                             struct report__options *options) {
    bool only_files = false;

    /* No file is written behind the argument that is looked at. */
    options->files = (const char **)argv;
    for (int i = 1; i < argc; i++) {
        if (!only_files && strcmp(argv[i], "--") == 0) {
            only_files = true;
        } else if (!only_files && argv[i][0] == '-' && argv[i][1]) {
            if (!report__take_option(known, argv, &i, prefix, err, options))
                return false;
        } else {
            options->files[options->file_count++] = argv[i];
        }
    }
    return true;
}

bool report__check_focus(const struct report__focus *focus, bool all_frames,
                         FILE *err) {
    if (!focus->only || !all_frames)
        return true;
    fputs("mprof: --only leaves functions out, --all-frames shows all: choose "
          "one\n",
          err);
    return false;
}

bool report__parse_options(int argc, char **argv, FILE *err,
                           struct report__options *options) {
    *options = (struct report__options){
        .tables = 0, .choice.verbosity = MPROF_NORMAL, .leak_depth = 5};
    if (!report__parse_arguments(list, argc, argv, "mprof: ", err, options))
        return false;
    if (options->sexp && report__is_focused(&options->focus)) {
        fputs("mprof: --sexp has everything: no --focus, --ignore, --only or "
              "--type\n",
              err);
        return false;
    }
    choose_tables(options);
    return report__check_focus(&options->focus, options->all_frames, err);
}
