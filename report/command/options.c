/* options.c - the options of the command. */
#include "report/command/command.h"

#include <stdlib.h>
#include <string.h>

const char report__help[] =
    "Usage: mprof [OPTION]... [PROGRAM [DATA] | DATA]\n"
    "       mprof run [--data=FILE] [--limit=BYTES] [--no-children] [--]\n"
    "                 PROGRAM [ARGUMENT]...\n"
    "Print what the data file DATA (mprof.data) tells about the allocations "
    "of\n"
    "a program: which types or sizes (bins), what was never freed (leaks), by\n"
    "which functions (direct), and on whose behalf (graph).  PROGRAM is the "
    "file\n"
    "of the program if it is not where it was.\n"
    "`mprof run` runs PROGRAM and records what it allocates.\n"
    "\n"
    "  --table=LIST    of bins, leaks, direct, graph, with commas; all unless\n"
    "                  given; Lisp has no leak table\n"
    "  --heap=HEAP     only of the heap lisp, or c, where both are recorded\n"
    "  --verbose       everything\n"
    "  --normal        only what is 0.5% of all bytes or more; the default\n"
    "  --terse         only what is 1% or more\n"
    "  --leaktable     print the leak table; the default\n"
    "  --noleaktable   do not print it\n"
    "  --offsets       leaks: tell call sites in one function apart\n"
    "  --leak-depth=N  leaks: show up to N callers (5); 0 shows all\n"
    "  --inlines       leaks, direct, graph: show functions that were inlined\n"
    "  --all-frames    also the functions of the system's plumbing: start-up,\n"
    "                  operator new, Lisp's allocators, interpreter, dispatch\n"
    "  --threads       one set of tables for each thread\n"
    "  --output=FILE   write to FILE, which appears when it is complete\n"
    "  --sexp          print everything as one Lisp expression instead\n"
    "  --version       print the version\n"
    "  --help          print this\n"
    "\n"
    "Long options may begin with one dash.\n";

enum option {
    VERBOSE,
    NORMAL,
    TERSE,
    LEAKTABLE,
    NOLEAKTABLE,
    OFFSETS,
    INLINES,
    ALL_FRAMES,
    THREADS,
    SEXP,
    VERSION,
    HELP,
    TABLE, /* from here on with a value */
    HEAP,
    LEAK_DEPTH,
    OUTPUT,
    NO_OPTION
};

static const struct {
    const char *name;
    enum option option;
} names[] = {{"verbose", VERBOSE},
             {"normal", NORMAL},
             {"terse", TERSE},
             {"leaktable", LEAKTABLE},
             {"noleaktable", NOLEAKTABLE},
             {"offsets", OFFSETS},
             {"inlines", INLINES},
             {"all-frames", ALL_FRAMES},
             {"threads", THREADS},
             {"sexp", SEXP},
             {"version", VERSION},
             {"help", HELP},
             {"table", TABLE},
             {"heap", HEAP},
             {"leak-depth", LEAK_DEPTH},
             {"output", OUTPUT}};

static enum option find_option(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(names[i].name, name, length) == 0 &&
            names[i].name[length] == '\0')
            return names[i].option;
    return NO_OPTION;
}

static bool parse_tables(const char *list, FILE *err, unsigned *tables) {
    static const char *const table_names[] = {"bins", "leaks", "direct",
                                              "graph"};

    *tables = 0;
    for (;;) {
        size_t length = strcspn(list, ",");
        unsigned table = 0;
        for (unsigned i = 0; i < sizeof table_names / sizeof *table_names; i++)
            if (strlen(table_names[i]) == length &&
                strncmp(table_names[i], list, length) == 0)
                table = 1u << i;
        if (!table) {
            fprintf(err,
                    "mprof: no table '%.*s'; there are bins, leaks, direct "
                    "and graph\n",
                    (int)length, list);
            return false;
        }
        *tables |= table;
        if (list[length] == '\0')
            return true;
        list += length + 1;
    }
}

static bool parse_heap(const char *name, FILE *err, unsigned *heaps) {
    if (strcmp(name, "lisp") == 0)
        *heaps = 1u << MPROF_LISP_HEAP;
    else if (strcmp(name, "c") == 0)
        *heaps = 1u << MPROF_C_HEAP;
    else
        fprintf(err, "mprof: no heap '%s'; there are lisp and c\n", name);
    return *heaps != 0;
}

static bool parse_depth(const char *text, FILE *err, uint32_t *depth) {
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end || number > UINT32_MAX) {
        fprintf(err, "mprof: '%s' is not a number of callers\n", text);
        return false;
    }
    *depth = (uint32_t)number;
    return true;
}

/* The leak table by name; --table does not take it away again. */
static void ask_leaks(struct report__options *o, bool wanted) {
    o->ask_leaks = wanted;
    o->no_leaks = !wanted;
}

/* An option with a value. */
static bool set_value(struct report__options *o, enum option option,
                      const char *value, FILE *err) {
    switch (option) {
    case TABLE:
        return parse_tables(value, err, &o->tables);
    case HEAP:
        return parse_heap(value, err, &o->heaps);
    case LEAK_DEPTH:
        return parse_depth(value, err, &o->leak_depth);
    case OUTPUT:
        o->output = value;
        return true;
    default:
        return false;
    }
}

static bool set_option(struct report__options *o, enum option option,
                       const char *value, FILE *err) {
    switch (option) {
    case VERBOSE:
        o->verbosity = MPROF_VERBOSE;
        break;
    case NORMAL:
        o->verbosity = MPROF_NORMAL;
        break;
    case TERSE:
        o->verbosity = MPROF_TERSE;
        break;
    case LEAKTABLE:
    case NOLEAKTABLE:
        ask_leaks(o, option == LEAKTABLE);
        break;
    case OFFSETS:
        o->offsets = true;
        ask_leaks(o, true);
        break;
    case INLINES:
        o->inlines = true;
        break;
    case ALL_FRAMES:
        o->all_frames = true;
        break;
    case THREADS:
        o->by_thread = true;
        break;
    case SEXP:
        o->sexp = true;
        break;
    case VERSION:
        o->version = true;
        break;
    case HELP:
        o->help = true;
        break;
    default:
        return set_value(o, option, value, err);
    }
    return true;
}

/* One option at ARGV[*AT], perhaps with its value in the next argument. */
static bool parse_option(int argc, char **argv, int *at, FILE *err,
                         struct report__options *o) {
    const char *argument = argv[*at];
    const char *name = argument + (argument[1] == '-' ? 2 : 1);
    size_t length = strcspn(name, "=");
    enum option option = find_option(name, length);
    const char *value = name[length] == '=' ? name + length + 1 : NULL;

    if (option == NO_OPTION) {
        fprintf(err, "mprof: unknown option '%s'; try mprof --help\n",
                argument);
        return false;
    }
    if (option < TABLE && value) {
        fprintf(err, "mprof: option '%.*s' takes no value\n",
                (int)(name - argument) + (int)length, argument);
        return false;
    }
    if (option >= TABLE && !value && *at + 1 < argc)
        value = argv[++*at];
    if (option >= TABLE && (!value || !*value)) {
        fprintf(err, "mprof: option '%.*s' needs a value\n",
                (int)(name - argument) + (int)length, argument);
        return false;
    }
    return set_option(o, option, value, err);
}

/* All tables unless --table tells which; -leaktable and -noleaktable add the
 * leak table to these or take it away. */
static void choose_tables(struct report__options *o) {
    if (o->tables & MPROF_LEAKS && !o->no_leaks)
        o->ask_leaks = true;
    if (!o->tables)
        o->tables = MPROF_BINS | MPROF_LEAKS | MPROF_DIRECT | MPROF_GRAPH;
    if (o->ask_leaks)
        o->tables |= MPROF_LEAKS;
    if (o->no_leaks)
        o->tables &= ~(unsigned)MPROF_LEAKS;
}

static bool add_file(struct report__options *o, const char *name, FILE *err) {
    for (int i = 0; i < 2; i++)
        if (!o->files[i]) {
            o->files[i] = name;
            return true;
        }
    fprintf(err, "mprof: more than a program and its data: '%s'\n", name);
    return false;
}

bool report__parse_options(int argc, char **argv, FILE *err,
                           struct report__options *options) {
    bool only_files = false;

    *options = (struct report__options){
        .tables = 0, .verbosity = MPROF_NORMAL, .leak_depth = 5};
    for (int i = 1; i < argc; i++) {
        if (!only_files && strcmp(argv[i], "--") == 0) {
            only_files = true;
        } else if (!only_files && argv[i][0] == '-' && argv[i][1]) {
            if (!parse_option(argc, argv, &i, err, options))
                return false;
        } else if (!add_file(options, argv[i], err)) {
            return false;
        }
    }
    choose_tables(options);
    return true;
}
