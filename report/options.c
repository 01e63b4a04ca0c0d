/* options.c - the options of the command. */
#include "command.h"

#include <string.h>

const char mprof__help[] =
    "Usage: mprof [OPTION]... [FILE]\n"
    "Print what the data file FILE (mprof.data) tells about the allocations\n"
    "of a program: which types (bins), by which functions (direct), and on\n"
    "whose behalf (graph).\n"
    "\n"
    "  --table=LIST   of bins, direct, graph, with commas; all unless given\n"
    "  --verbose      everything\n"
    "  --normal       only what is 0.5% of all bytes or more; the default\n"
    "  --terse        only what is 1% or more\n"
    "  --all-frames   also the functions of the Lisp system's plumbing:\n"
    "                 allocators, the interpreter, dispatch, start-up\n"
    "  --threads      one set of tables for each thread\n"
    "  --output=FILE  write to FILE, which appears when it is complete\n"
    "  --sexp         print everything as one Lisp expression instead\n"
    "  --version      print the version\n"
    "  --help         print this\n"
    "\n"
    "Long options may begin with one dash.  -leaktable, -noleaktable and\n"
    "-offsets are accepted; a Lisp profile has no leak table.\n";

enum option {
    VERBOSE,
    NORMAL,
    TERSE,
    LEAKTABLE,
    NOLEAKTABLE,
    ALL_FRAMES,
    THREADS,
    SEXP,
    VERSION,
    HELP,
    TABLE, /* from here on with a value */
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
             {"offsets", LEAKTABLE},
             {"noleaktable", NOLEAKTABLE},
             {"all-frames", ALL_FRAMES},
             {"threads", THREADS},
             {"sexp", SEXP},
             {"version", VERSION},
             {"help", HELP},
             {"table", TABLE},
             {"output", OUTPUT}};

static enum option find_option(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(names[i].name, name, length) == 0 &&
            names[i].name[length] == '\0')
            return names[i].option;
    return NO_OPTION;
}

static bool parse_tables(const char *list, FILE *err, unsigned *tables) {
    static const char *const table_names[] = {"bins", "direct", "graph"};

    *tables = 0;
    for (;;) {
        size_t length = strcspn(list, ",");
        unsigned table = 0;
        for (unsigned i = 0; i < 3; i++)
            if (strlen(table_names[i]) == length &&
                strncmp(table_names[i], list, length) == 0)
                table = 1u << i;
        if (!table) {
            fprintf(err,
                    "mprof: no table '%.*s'; there are bins, direct and "
                    "graph\n",
                    (int)length, list);
            return false;
        }
        *tables |= table;
        if (list[length] == '\0')
            return true;
        list += length + 1;
    }
}

static bool set_option(struct mprof__options *o, enum option option,
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
        o->leaks = true;
        break;
    case NOLEAKTABLE:
        o->leaks = false;
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
    case OUTPUT:
        o->output = value;
        break;
    case TABLE:
        return parse_tables(value, err, &o->tables);
    case NO_OPTION:
        return false;
    }
    return true;
}

/* One option at ARGV[*AT], perhaps with its value in the next argument. */
static bool parse_option(int argc, char **argv, int *at, FILE *err,
                         struct mprof__options *o) {
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

bool mprof__parse_options(int argc, char **argv, FILE *err,
                          struct mprof__options *options) {
    bool only_files = false;

    *options = (struct mprof__options){.tables = MPROF_BINS | MPROF_DIRECT |
                                                 MPROF_GRAPH,
                                       .verbosity = MPROF_NORMAL};
    for (int i = 1; i < argc; i++) {
        if (!only_files && strcmp(argv[i], "--") == 0) {
            only_files = true;
        } else if (!only_files && argv[i][0] == '-' && argv[i][1]) {
            if (!parse_option(argc, argv, &i, err, options))
                return false;
        } else if (options->file) {
            fprintf(err, "mprof: more than one data file: '%s' and '%s'\n",
                    options->file, argv[i]);
            return false;
        } else {
            options->file = argv[i];
        }
    }
    if (!options->file)
        options->file = "mprof.data";
    return true;
}
