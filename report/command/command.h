/* command.h - the command `mprof`, as a function.
 *
 * `mprof NAME ...` is one of the commands in commands.c; without NAME it is
 * `mprof report`.  command.c does what all of them need: options, --help, the
 * output file, memory that runs out.  A command itself is a function `run`.
 */
#ifndef REPORT_COMMAND_COMMAND_H
#define REPORT_COMMAND_COMMAND_H

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>

#include "report/command/budget_file.h"
#include "report/command/option.h"
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

enum report__report_format { MPROF_REPORT_TEXT, MPROF_REPORT_SEXP };
enum report__diff_format { MPROF_DIFF_TEXT, MPROF_DIFF_PPROF, MPROF_DIFF_HTML };
enum report__check_format {
    MPROF_CHECK_TEXT,
    MPROF_CHECK_TAP,
    MPROF_CHECK_JUNIT
};
enum report__stats_format { MPROF_STATS_TEXT, MPROF_STATS_PLAIN };

enum report__normalizing {
    MPROF_AS_IT_IS,
    MPROF_BY_BYTES,
    MPROF_BY_ALLOCS,
    MPROF_BY_FACTOR
};

/* Growth is too much when it is more than both. */
struct report__growth_limit {
    bool is_set;
    struct report__factor share; /* of what OLD has */
    uint64_t bytes;
};

/* What `mprof run` sets up; NULL where nothing was given. */
struct report__run_options {
    const char *limit, *log, *html;
    const char *threshold; /* of the log */
    const char *live;      /* what of Lisp's heap is alive: "1", "1/512" */
    bool log_plain, no_children, summary, stats, group, scan, lisp;
};

struct report__budget_options {
    struct report__budget given; /* limits of the command line */
    const char *file, *against, *against_program;
    bool update;
    uint32_t slack; /* of --update, in hundredths of a percent */
};

/* What the options of all commands set; each takes some of them. */
struct report__options {
    const char **files; /* as given; the room is that of the arguments */
    int file_count;
    const char *output; /* NULL: the stream */
    bool help, version;
    unsigned format; /* of the enum of the command */

    unsigned tables; /* bits 1 << enum report__table; 0: the usual ones */
    unsigned heaps;  /* bits 1 << enum mprof_heap; 0: those recorded */
    bool leak_table, no_leak_table, lost; /* by old names */
    enum report__by by;
    enum report__diff_by diff_by;
    enum report__listing_order order;
    struct report__choice choice;
    bool detailed;   /* a verbosity was named */
    bool bytes;      /* without units in the summary */
    bool full_names; /* of C++ */
    bool from_lisp;  /* the caller is a Lisp image, and the file a copy */
    struct report__focus focus;
    uint32_t depth, nodes;
    bool all_frames, by_thread, alive, inverted, arguments, offsets;
    bool inlines, no_inlines; /* asked for, refused */
    enum report__colour colour;
    unsigned metric; /* an index of the names of --metric */
    struct report__curve_options curve;
    enum report__normalizing normalizing;
    struct report__factor factor;
    struct report__growth_limit growth;
    struct report__budget_options budget;
    struct report__run_options run;
};

/* Data files that become one profile; all zeros is the beginning. */
struct report__together {
    bool alive;        /* only what is alive of the Lisp heap is wanted */
    bool calls;        /* so are calls; see report__read() */
    bool no_arguments; /* see report__leave_out_arguments() */
    struct report__part *parts;
    uint32_t count;
};

struct report__command;

/* One call of a command.  It outlives the jump when memory is short. */
struct report__call {
    const struct report__command *command;
    struct report__options options;
    struct report__pool pool;
    struct report__output output; /* its stream is standard output at first */
    struct report__screen screen;
    struct report__together together;
    glob_t found; /* files that `mprof list` looked for */
    FILE *err;
};

struct report__command {
    const char *name;
    const char *purpose;   /* in the list of commands */
    const char *arguments; /* behind the name, in "Usage:" */
    const char *help;      /* examples and words, before the options */
    uint32_t depth;        /* of --depth without a value */
    bool is_screen;        /* a terminal gets fitted lines, and a pager */
    /* False after a line on PARSE->err: the options do not go together. */
    bool (*check)(struct report__call *call, struct report__parse *parse);
    /* Do it; returns the exit status.  After an error *ERROR is a sentence.
     * It calls report__begin_output() before it prints. */
    int (*run)(struct report__call *call, const char **error);
};

extern const struct report__command report__commands[MPROF_COMMANDS];
extern const struct report__option report__option_list[];

/* The command NAME, or NULL. */
const struct report__command *report__find_command(const char *name);

/* Take the arguments of CALL->command behind ARGV[0]; ARGV gets the files.
 * False after a line on CALL->err. */
bool report__parse_arguments(struct report__call *call, int argc, char **argv);

/* Open the output of CALL, with its pager.  False: *ERROR is a sentence. */
bool report__begin_output(struct report__call *call, const char **error);

/* Print the help of COMMAND, or for NULL that of all. */
void report__print_help(FILE *out, const struct report__command *command);

/* Do what `mprof` does with ARGV, printing on OUT, and what goes wrong in one
 * line on ERR.  Returns the exit status: 0; 1; 2 for wrong usage; 3 of check
 * and diff when a limit is exceeded. */
int report__main(int argc, char **argv, FILE *out, FILE *err);

/* The commands, in files of their own; run.h has another one. */
int report__run_report(struct report__call *call, const char **error);
int report__run_summary(struct report__call *call, const char **error);
int report__run_html(struct report__call *call, const char **error);
int report__run_diff(struct report__call *call, const char **error);
int report__run_curve(struct report__call *call, const char **error);
int report__run_export(struct report__call *call, const char **error);
int report__run_list(struct report__call *call, const char **error);
int report__run_stats(struct report__call *call, const char **error);
int report__run_check(struct report__call *call, const char **error);
int report__run_completion(struct report__call *call, const char **error);
int report__run_help(struct report__call *call, const char **error);

/* Whether their options go together. */
bool report__check_report(struct report__call *call,
                          struct report__parse *parse);
bool report__check_html(struct report__call *call, struct report__parse *parse);
bool report__check_diff(struct report__call *call, struct report__parse *parse);
bool report__check_curve(struct report__call *call,
                         struct report__parse *parse);
bool report__check_export(struct report__call *call,
                          struct report__parse *parse);
bool report__check_check(struct report__call *call,
                         struct report__parse *parse);
bool report__check_run(struct report__call *call, struct report__parse *parse);

/* Whether what FOCUS and ALL_FRAMES of CALL ask for can be had together. */
bool report__check_focus(struct report__call *call,
                         struct report__parse *parse);

/* Whether CALL, whose output is for another program, has a file for that. */
bool report__check_not_terminal(struct report__call *call,
                                struct report__parse *parse);

/* Whether FILE begins as a data file does. */
bool report__is_data(const char *file);

struct report__input {
    const char *program; /* given by the user, or NULL */
    const char *data;
};

/* What the COUNT FILES, as on the command line, are, each once: *INPUTS data
 * files, at least one.  A program stands before its data: an ELF file, or the
 * first of two files when it is no data file. */
struct report__input *report__choose_inputs(struct report__pool *pool,
                                            const char **files, int count,
                                            uint32_t *inputs);

/* The profile of COUNT INPUTS, in POOL; *INPUT becomes what stands for all of
 * them.  On failure returns NULL, and *ERROR is a sentence.  Whatever happens,
 * also when memory is short, report__together_free() gives TOGETHER back. */
const struct report__profile *
report__read_together(struct report__together *together,
                      struct report__pool *pool,
                      const struct report__input *inputs, uint32_t count,
                      struct report__input *input, const char **error);
void report__together_free(struct report__together *together);

/* Whether there is mprof.data, which commands read that no file is named for.
 * If not, *ERROR is a sentence. */
bool report__has_default_data(const char **error);

/* The profile of the files of CALL, with calls if they are wanted.  On failure
 * returns NULL, and *ERROR is a sentence. */
const struct report__profile *report__read_files(struct report__call *call,
                                                 bool calls,
                                                 struct report__input *input,
                                                 const char **error);

/* The heaps of PROFILE that CALL asks for; 0: *ERROR is a sentence. */
unsigned report__choose_heaps(struct report__call *call,
                              const struct report__input *input,
                              const struct report__profile *profile,
                              const char **error);

/* The one heap of these that is asked for: *ERROR is a sentence if there are
 * two. */
enum mprof_heap report__choose_heap(struct report__call *call,
                                    const struct report__input *input,
                                    unsigned heaps, const char **error);

/* Whether the program of INPUT, if it has one, is the one of PROFILE.  If not,
 * *ERROR is a sentence. */
bool report__check_program(const struct report__input *input,
                           const struct report__profile *profile,
                           struct report__pool *pool, const char **error);

/* A line if the program that PROFILE names is not there as it was, and INPUT
 * has no other. */
void report__print_trouble(FILE *out, const struct report__input *input,
                           const struct report__profile *profile);

/* The last part of --fail-on-growth: a line on ERR, and true, when FUNCTIONS,
 * of HEAP, grew by more than LIMIT; EACH: also one of them itself. */
bool report__check_growth(const struct report__growth_limit *limit,
                          const struct report__diff *functions, bool each,
                          enum mprof_heap heap, FILE *err);

#endif
