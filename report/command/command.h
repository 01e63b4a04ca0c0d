/* command.h - the command `mprof`, as a function.
 *
 * `mprof NAME ...` is one of the commands in commands.c; without NAME it is
 * `mprof report`.  command.c does what all of them need: options, --help, the
 * output file, memory that runs out.  A command itself is a function `run`.
 */
#ifndef REPORT_COMMAND_COMMAND_H
#define REPORT_COMMAND_COMMAND_H

#include <glob.h>

#include "report/command/budget_file.h"
#include "report/command/screen.h"
#include "report/data/merge.h"
#include "report/export/export.h"
#include "report/graph/focus.h"
#include "report/tables/diff.h"
#include "report/tables/listing.h"
#include "report/tables/tables.h"

enum report__command_id {
    MPROF_COMMAND_REPORT,
    MPROF_COMMAND_SUMMARY,
    MPROF_COMMAND_RUN,
    MPROF_COMMAND_HTML,
    MPROF_COMMAND_DIFF,
    MPROF_COMMAND_CURVE,
    MPROF_COMMAND_EXPORT,
    MPROF_COMMAND_LIST,
    MPROF_COMMAND_STATS,
    MPROF_COMMAND_CHECK,
    MPROF_COMMAND_COMPLETION,
    MPROF_COMMAND_HELP,
    MPROF_COMMANDS
};

/* Rows of tables are by one of these. */
enum report__by { MPROF_BY_FUNCTION, MPROF_BY_LINE, MPROF_BY_SITE };

/* `mprof export` has no format unless one is named. */
#define MPROF_NO_FORMAT UINT32_MAX

/* Formats of the other commands, as options.c names them */
enum { MPROF_REPORT_TEXT, MPROF_REPORT_SEXP };
enum { MPROF_DIFF_TEXT, MPROF_DIFF_PPROF, MPROF_DIFF_HTML };
enum { MPROF_CHECK_TEXT, MPROF_CHECK_TAP, MPROF_CHECK_JUNIT };
enum { MPROF_STATS_TEXT, MPROF_STATS_PLAIN };

/* Of --normalize */
enum { MPROF_AS_IT_IS, MPROF_BY_BYTES, MPROF_BY_ALLOCS, MPROF_BY_FACTOR };

/* Growth is too much when it is more than both. */
struct report__growth_limit {
    bool is_set;
    struct report__factor share; /* a part of OLD's number */
    uint64_t bytes;
};

/* The options of `mprof run`; NULL where none was given. */
struct report__run_options {
    const char *limit, *log, *html;
    const char *threshold; /* the log's */
    const char *live;      /* follow live objects of Lisp: "1", "1/512" */
    bool log_plain, no_children, summary, stats, group, scan, kept_by, lisp,
        quiet;
};

struct report__budget_options {
    struct report__budget given; /* limits of the command line */
    const char *file, *against, *against_program;
    bool update;
    uint32_t slack; /* of --update, in hundredths of a percent */
};

/* The options of all commands; each takes some of them. */
struct report__options {
    const char **files; /* as given; in the memory of the arguments */
    int file_count;
    const char *output; /* NULL: the stream */
    bool help, version;
    unsigned format; /* in the command's enum */

    unsigned tables; /* bits 1 << enum report__table; 0: the usual ones */
    unsigned heaps;  /* bits 1 << enum mprof_heap; 0: those recorded */
    bool leak_table, no_leak_table; /* by old names */
    unsigned leaks; /* 1: the table of leaks; 2: of lost blocks */
    enum report__by by;
    enum report__diff_by diff_by;
    enum report__listing_order order;
    struct report__choice choice;
    bool detailed;   /* a verbosity was named */
    bool bytes;      /* without units in the summary */
    bool full_names; /* of C++ */
    bool from_lisp;  /* the caller is a Lisp image, and the file a copy */
    struct report__focus focus;
    uint32_t depth, nodes, thread; /* thread: its id, or 0 */
    bool all_frames, by_thread, alive, inverted, arguments, offsets;
    bool inlines, no_inlines; /* asked for, refused */
    enum report__colour colour;
    unsigned metric; /* an index of the names of --metric */
    struct report__curve_options curve;
    unsigned normalizing;
    struct report__factor factor;
    struct report__growth_limit growth;
    struct report__budget_options budget;
    struct report__run_options run;
};

struct report__input {
    const char *program; /* given by the user, or NULL */
    const char *data;
};

/* One call of a command.  It outlives the jump when memory is short. */
struct report__call {
    const struct report__command *command;
    struct report__options options;
    struct report__pool pool;
    struct report__output output; /* its stream is standard output at first */
    struct report__screen screen;
    FILE *err;
    const char *error; /* a sentence, when it cannot be done */
    /* The profiles that report__read_files() read. */
    struct report__input input; /* represents all of them */
    const struct report__profile *profile;
    struct report__part *parts;
    uint32_t part_count;
    glob_t found; /* files that `mprof list` looked for */
};

/* The exit status; or whether options go together, and if not, after a line on
 * CALL->err. */
typedef int report__run(struct report__call *call);
typedef bool report__check(struct report__call *call);

struct report__command {
    const char *name;
    const char *purpose;         /* in the list of commands */
    const char *arguments;       /* behind the name, in "Usage:" */
    const char *help, *examples; /* before the options */
    uint32_t depth;              /* of --depth without a value */
    bool is_screen;              /* a terminal gets fitted lines, and a pager */
    report__check *check;
    /* After an error CALL->error is set.  It calls report__begin_output()
     * before it prints. */
    report__run *run;
};

extern const struct report__command report__commands[MPROF_COMMANDS];

/* The commands, in files of their own */
report__run report__run_report, report__run_summary, report__run_html,
    report__run_diff, report__run_curve, report__run_export, report__run_list,
    report__run_stats, report__run_check, report__run_completion,
    report__run_help;
report__check report__check_report, report__check_diff, report__check_curve,
    report__check_export, report__check_check, report__check_run;

/* Whether what --only and --all-frames ask for can be had together. */
report__check report__check_focus;

/* Whether CALL, whose output is for another program, has a file for that. */
report__check report__check_not_terminal;

/* Options: one row for each, which says what it sets, which commands take it,
 * and what --help prints.
 *
 * getopt_long() keeps its state in variables of the process and prints on
 * standard error; a command is also a function that threads of Lisp call.
 */
enum report__option_kind {
    MPROF_OPTION_FLAG,   /* a bool becomes true */
    MPROF_OPTION_TEXT,   /* a const char * */
    MPROF_OPTION_NUMBER, /* an uint32_t; `what` is "rows" */
    MPROF_OPTION_CHOICE, /* an enum becomes the index of a word */
    MPROF_OPTION_CALL,   /* `set` does it */
    MPROF_OPTION_ALIAS   /* `what` is the option it means: "max=bytes=" */
};

struct report__option {
    const char *name;  /* without dashes; NULL ends the list */
    const char *value; /* in --help; NULL: none; "[=X]": it may be left out */
    const char *help;  /* lines, of at most 59 columns; "": an old name, which
                        * --help leaves out */
    unsigned commands; /* bits 1 << enum report__command_id; 0: the name is a
                        * heading of what follows in --help */
    enum report__option_kind kind;
    size_t field;      /* the offset of what is set */
    const char *what;  /* CALL: the value if none was given */
    const char *words; /* of a choice, as report__choose() takes them */
    /* False after a line on CALL->err. */
    bool (*set)(struct report__call *call, const char *value);
};

extern const struct report__option report__option_list[];

/* Take the option at ARGV[*AT], with one dash or two, and its value from there
 * or from the next argument, to which *AT moves.  -o is --output, -h --help.
 * False after a line on CALL->err. */
bool report__take_option(struct report__call *call, char **argv, int *at);

/* Return which of WORDS the LENGTH characters at VALUE are, from 0 on; -1 after
 * a line on CALL->err that names them.  They are separated by blanks; an empty
 * word is for a choice that users cannot name. */
int report__choose(struct report__call *call, const char *what,
                   const char *words, const char *value, size_t length);

/* One line on CALL->err, behind a prefix.  Returns false. */
bool report__refuse(const struct report__call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* How many letters have to change for A to become B; swapped ones are one
 * change.  Of longer names than 30 bytes, the length of the longer one. */
uint32_t report__name_distance(const char *a, const char *b);

/* Print the options of the command whose bit is COMMAND, in groups. */
void report__describe_options(unsigned command, FILE *out);

/* The command NAME, or NULL. */
const struct report__command *report__find_command(const char *name);

/* Take the arguments of CALL->command behind ARGV[0]; ARGV gets the files.
 * False after a line on CALL->err. */
bool report__parse_arguments(struct report__call *call, int argc, char **argv);

/* Open the output of CALL, with its pager.  False: CALL->error is set. */
bool report__begin_output(struct report__call *call);

/* Set CALL->error; false. */
#define report__fail(call, ...)                                                \
    (((call)->error = report__format(&(call)->pool, __VA_ARGS__)) == NULL)

/* Print the help of COMMAND, or for NULL the help of all. */
void report__print_help(FILE *out, const struct report__command *command);

/* Do what `mprof` does with ARGV, printing on OUT, and what goes wrong in one
 * line on ERR.  Returns the exit status: 0; 1; 2 for wrong usage; 3 of check
 * and diff when a limit is exceeded. */
int report__main(int argc, char **argv, FILE *out, FILE *err);

/* `mprof run`, where ARGV[0] is "run".  Returns the program's status with
 * --html; else only when the program was not run: 2 for a wrong option or a
 * file that cannot be written, 126 when the program cannot be executed, 127
 * when there is none; one line on standard error says why. */
int report__run_main(int argc, char **argv);

/* Fork.  In the child it returns -1: that becomes the program.  In this process
 * it goes on when the program has ended: it makes the page PAGE of the data
 * file that MPROF_DATA names and of those beside it that the program's children
 * left, or for NULL prints the command that shows them; DATA is the user's name
 * for it.
 * Returns the program's exit status, or ends by the signal that ended it.  A
 * line on standard error says why there is no page. */
int report__run_and_wait(const char *page, const char *data);

/* Whether FILE begins as a data file does. */
bool report__is_data(const char *file);

/* Whether there is mprof.data, which commands read that no file is named for.
 * If not, CALL->error is set. */
bool report__has_default_data(struct report__call *call);

/* The profile of INPUT in POOL, which is of its program; BRIEF:
 * without arguments.  NULL: *ERROR is a sentence. */
struct report__profile *report__read_input(struct report__pool *pool,
                                           const struct report__input *input,
                                           bool brief, const char **error);

/* Let CALL have the profile of its files, with CALLS and without arguments if
 * that is wanted.  False: CALL->error is set. */
bool report__read_files(struct report__call *call, bool brief);

extern const char *const report__heap_names[MPROF_HEAPS]; /* "Lisp", "C" */

/* The heaps of CALL's profile that it asks for; 0: CALL->error is set. */
unsigned report__choose_heaps(struct report__call *call);

/* The one heap that it asks for: CALL->error is set if there are two, or none.
 */
enum mprof_heap report__choose_heap(struct report__call *call);

/* Whether the program of PROFILE is there as it was, or INPUT names it. */
bool report__has_program(const struct report__input *input,
                         const struct report__profile *profile);

/* A line if the program that PROFILE names is not there as it was, and INPUT
 * has no other. */
void report__print_trouble(FILE *out, const struct report__input *input,
                           const struct report__profile *profile);

#endif
