/* command.h - the command `mprof`, as a function. */
#ifndef REPORT_COMMAND_COMMAND_H
#define REPORT_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "report/command/option.h"
#include "report/command/screen.h"
#include "report/data/merge.h"
#include "report/export/export.h"
#include "report/graph/focus.h"
#include "report/tables/tables.h"

enum report__what {
    MPROF_TABLES,
    MPROF_CURVE_ALONE, /* mprof curve */
    MPROF_EXPORT       /* mprof export */
};

struct report__options {
    bool alive;      /* only what is alive of the Lisp heap */
    unsigned tables; /* of enum report__table */
    unsigned heaps; /* bits 1 << enum mprof_heap; 0: those that were recorded */
    struct report__choice choice;
    struct report__focus focus;
    bool all_frames, by_thread, sexp, help, version;
    bool ask_leaks, no_leaks; /* the leak table was named, or refused */
    bool lost;                /* it is to show that only */
    bool by_site, offsets, lines, inlines, inverted;
    uint32_t leak_depth;
    const char **files; /* as given; the room is that of the arguments */
    int file_count;
    const char *output; /* NULL: the stream */
    enum report__colour colour;
    enum report__what what;
    struct report__curve_options curve;
    struct report__export_options export;
    bool export_to; /* its format was named */
    bool arguments; /* of the program are wanted in exports, and in pages */
};

/* Take the options from ARGV.  Returns false after a line on ERR. */
bool report__parse_options(int argc, char **argv, FILE *err,
                           struct report__options *options);

/* As an option; OPTIONS are struct report__options. */
bool report__set_heap(void *options, const char *name, FILE *err);
bool report__set_sort(void *options, const char *name, FILE *err);

/* NAMES are one more value of --type; false after a line on ERR. */
bool report__take_type(struct report__chosen_types *types, const char *names,
                       FILE *err);

/* Whether what FOCUS and ALL_FRAMES ask for can be had together; false after a
 * line on ERR. */
bool report__check_focus(const struct report__focus *focus, bool all_frames,
                         FILE *err);

/* The same for `mprof curve`, with the arguments behind that; OUT is where it
 * is printed without --output. */
bool report__parse_curve(int argc, char **argv, FILE *out, FILE *err,
                         struct report__options *options);
void report__curve_help(FILE *out);

/* The same for `mprof export`. */
bool report__parse_export(int argc, char **argv, FILE *out, FILE *err,
                          struct report__options *options);
void report__export_help(FILE *out);

/* Take all arguments behind ARGV[0]: options of LIST, whose errors begin with
 * PREFIX, and files. */
bool report__parse_arguments(const struct report__option *list, int argc,
                             char **argv, const char *prefix, FILE *err,
                             struct report__options *options);

/* Do what `mprof stats` does with ARGV, which begins with "stats": as
 * report__main(). */
int report__stats_main(int argc, char **argv, FILE *out, FILE *err);

/* The same for `mprof html`, which takes any number of data files. */
int report__html_main(int argc, char **argv, FILE *out, FILE *err);

/* The same for `mprof check`, which returns 3 if a limit is exceeded. */
int report__check_main(int argc, char **argv, FILE *out, FILE *err);
/* The same for `mprof diff`, which takes two; also 3: something grew by more
 * than it may. */
int report__diff_main(int argc, char **argv, FILE *out, FILE *err);
/* The same for `mprof list`. */
int report__list_main(int argc, char **argv, FILE *out, FILE *err);

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

/* Data files that become one profile; all zeros is the beginning. */
struct report__together {
    bool alive;        /* only what is alive of the Lisp heap is wanted */
    bool calls;        /* so are calls; see report__read() */
    bool no_arguments; /* see report__leave_out_arguments() */
    struct report__part *parts;
    uint32_t count;
};

/* The profile of COUNT INPUTS, in POOL; *INPUT becomes what stands for all of
 * them.  On failure returns NULL, and *ERROR is a sentence.  Whatever happens,
 * also when memory is short, report__together_free() gives TOGETHER back. */
const struct report__profile *
report__read_together(struct report__together *together,
                      struct report__pool *pool,
                      const struct report__input *inputs, uint32_t count,
                      struct report__input *input, const char **error);
void report__together_free(struct report__together *together);

/* Whether the program of INPUT, if it has one, is the one of PROFILE.  If not,
 * *ERROR is a sentence. */
bool report__check_program(const struct report__input *input,
                           const struct report__profile *profile,
                           struct report__pool *pool, const char **error);

/* A line if the program that PROFILE names is not there as it was, and INPUT
 * has no other. */
void report__print_trouble(FILE *out, const struct report__input *input,
                           const struct report__profile *profile);

/* What --help prints. */
void report__help(FILE *out);

/* Do what `mprof` does with ARGV, printing on OUT, and what goes wrong in one
 * line on ERR.  Returns the exit status: 0, 1, or 2 for wrong usage. */
int report__main(int argc, char **argv, FILE *out, FILE *err);

#endif
