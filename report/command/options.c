/* options.c - the options of the command. */
#include "report/command/command.h"

#include <stdlib.h>
#include <string.h>

#include "report/command/option.h"

/* Their names are bits of enum report__table, in this order. */
static const char *const table_names[] = {
    "bins", "leaks", "direct", "graph", "peak", "temporary", "paths", "tree"};
enum { TABLES = sizeof table_names / sizeof *table_names };

static bool set_tables(void *options, const char *list, FILE *err) {
    struct report__options *o = options;
    unsigned *tables = &o->tables;

    *tables = 0;
    for (;;) {
        size_t length = strcspn(list, ",");
        unsigned table = 0;
        for (unsigned i = 0; i < TABLES; i++)
            if (strlen(table_names[i]) == length &&
                strncmp(table_names[i], list, length) == 0)
                table = 1u << i;
        if (!table) {
            fprintf(err, "mprof: no table '%.*s'; there are", (int)length,
                    list);
            for (unsigned i = 0; i < TABLES; i++)
                fprintf(err, "%s %s",
                        i == 0            ? ""
                        : i + 1 == TABLES ? " and"
                                          : ",",
                        table_names[i]);
            fputs("\n", err);
            return false;
        }
        *tables |= table;
        if (list[length] == '\0')
            return true;
        list += length + 1;
    }
}

bool report__set_heap(void *options, const char *name, FILE *err) {
    struct report__options *o = options;
    unsigned *heaps = &o->heaps;

    *heaps = 0;
    if (strcmp(name, "lisp") == 0)
        *heaps = 1u << MPROF_LISP_HEAP;
    else if (strcmp(name, "c") == 0)
        *heaps = 1u << MPROF_C_HEAP;
    else
        fprintf(err, "mprof: no heap '%s'; there are lisp and c\n", name);
    return *heaps != 0;
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
    struct report__options *o = options;

    if (strcmp(which, "lost") != 0 && strcmp(which, "kept") != 0) {
        fprintf(err, "mprof: no leaks '%s'; there are kept and lost\n", which);
        return false;
    }
    o->lost = *which == 'l';
    ask_leaks(o, true);
    return true;
}

static bool set_rows(void *options, const char *value, FILE *err) {
    struct report__options *o = options;
    return report__take_number(value, "rows", err, &o->choice.rows);
}

static bool set_sort(void *options, const char *value, FILE *err) {
    static const char *const names[] = {
        [MPROF_SORT_BYTES] = "bytes", [MPROF_SORT_ALLOCS] = "allocs",
        [MPROF_SORT_SELF] = "self",   [MPROF_SORT_TOTAL] = "total",
        [MPROF_SORT_KEPT] = "kept",   [MPROF_SORT_PEAK] = "peak"};
    struct report__options *o = options;

    for (size_t i = MPROF_SORT_BYTES; i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i]) == 0) {
            o->choice.sort = (enum report__sort)i;
            return true;
        }
    fprintf(err,
            "mprof: no column '%s'; there are bytes, allocs, self, total, kept "
            "and peak\n",
            value);
    return false;
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
FLAG(by_thread, o->by_thread = true)
FLAG(as_sexp, o->sexp = true)
FLAG(tell_version, o->version = true)
FLAG(give_help, o->help = true)

static const struct report__option list[] = {
    {"table", "LIST",
     "of bins, leaks, direct, graph, which are printed unless\n"
     "it is given, and peak, temporary, paths, tree; with commas.\n"
     "Lisp has no leaks, peak and temporary",
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
    {"offsets", NULL,
     "leaks, peak, temporary: tell call sites in one function\n"
     "apart",
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
    {"sort", "COLUMN",
     "bytes, allocs, self, total, kept or peak, where a table has\n"
     "it",
     set_sort},
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
    {"sexp", NULL, "print everything as one Lisp expression instead", as_sexp},
    {"version", NULL, "print the version", tell_version},
    {"help", NULL, "print this", give_help},
    {NULL, NULL, NULL, NULL}};

void report__help(FILE *out) {
    fputs(
        "Usage: mprof [OPTION]... [PROGRAM [DATA] | DATA]\n"
        "       mprof run [--data=FILE] [--limit=BYTES] [--no-children]\n"
        "                 [--summary] [--scan] [--stats] [--group] "
        "[--html=FILE]\n"
        "                 [--log=FILE] [--log-plain] [--log-threshold=BYTES]\n"
        "                 [--] PROGRAM [ARGUMENT]...\n"
        "       mprof curve [OPTION]... [PROGRAM [DATA] | DATA]\n"
        "       mprof html [OPTION]... [[PROGRAM] DATA]...\n"
        "       mprof export [OPTION]... [PROGRAM [DATA] | DATA]\n"
        "       mprof stats [OPTION]... [FILE]...\n"
        "Print what the data file DATA (mprof.data) tells about the "
        "allocations of\n"
        "a program: which types or sizes (bins), what was never freed "
        "(leaks), by\n"
        "which functions (direct), and on whose behalf (graph).  PROGRAM is "
        "the file\n"
        "of the program if it is not where it was.\n"
        "`mprof run` runs PROGRAM and records what it allocates.\n"
        "`mprof html` makes a page for a browser, `mprof curve` prints how the "
        "heap grew\n"
        "and shrank, `mprof export` writes chains for other tools, `mprof "
        "stats` prints\n"
        "the load of one process or of many; each has a --help.\n"
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

/* NAME is another argument.  False after a line on ERR: there are too many. */
static bool add_file(struct report__options *o, const char *name, FILE *err) {
    for (int i = 0; i < 2; i++)
        if (!o->files[i]) {
            o->files[i] = name;
            return true;
        }
    fprintf(err, "mprof: more than a program and its data: '%s'\n", name);
    return false;
}

bool report__parse_arguments(const struct report__option *known, int argc,
                             char **argv, const char *prefix, FILE *err,
                             struct report__options *options) {
    bool only_files = false;

    for (int i = 1; i < argc; i++) {
        if (!only_files && strcmp(argv[i], "--") == 0) {
            only_files = true;
        } else if (!only_files && argv[i][0] == '-' && argv[i][1]) {
            if (!report__take_option(known, argv, &i, prefix, err, options))
                return false;
        } else if (!add_file(options, argv[i], err)) {
            return false;
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
        fputs("mprof: --sexp has everything: no --focus, --ignore or --only\n",
              err);
        return false;
    }
    choose_tables(options);
    return report__check_focus(&options->focus, options->all_frames, err);
}
