/* command.h - the command `mprof`, as a function. */
#ifndef REPORT_COMMAND_COMMAND_H
#define REPORT_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "report/command/option.h"
#include "report/export/export.h"
#include "report/graph/focus.h"
#include "report/tables/tables.h"

enum report__what {
    MPROF_TABLES,
    MPROF_CURVE_ALONE, /* mprof curve */
    MPROF_EXPORT       /* mprof export */
};

struct report__options {
    unsigned tables; /* of enum report__table */
    unsigned heaps; /* bits 1 << enum mprof_heap; 0: those that were recorded */
    struct report__choice choice;
    struct report__focus focus;
    bool all_frames, by_thread, sexp, help, version;
    bool ask_leaks, no_leaks; /* the leak table was named, or refused */
    bool lost;                /* it is to show that only */
    bool offsets, inlines, inverted;
    uint32_t leak_depth;
    const char *files[2]; /* as given, or NULL */
    const char *output;   /* NULL: the stream */
    enum report__what what;
    struct report__curve_options curve;
    struct report__export_options export;
    bool export_to; /* its format was named */
};

/* Take the options from ARGV.  Returns false after a line on ERR. */
bool report__parse_options(int argc, char **argv, FILE *err,
                           struct report__options *options);

/* As an option; OPTIONS are struct report__options. */
bool report__set_heap(void *options, const char *name, FILE *err);

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

struct report__input {
    const char *program; /* given by the user, or NULL */
    const char *data;
};

/* What FILES, as on the command line, are.  One file alone is the program if it
 * is an ELF file, else the data. */
struct report__input report__choose_input(const char *const files[2]);

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
