/* command.h - the command `mprof`, as a function. */
#ifndef MPROF_COMMAND_H
#define MPROF_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "report/tables/tables.h"

struct mprof__options {
    unsigned tables; /* of enum mprof__table */
    unsigned heaps; /* bits 1 << enum mprof_heap; 0: those that were recorded */
    enum mprof__verbosity verbosity;
    bool all_frames, by_thread, sexp, help, version;
    bool ask_leaks, no_leaks; /* the leak table was named, or refused */
    bool offsets, inlines;
    uint32_t leak_depth;
    const char *files[2]; /* as given, or NULL */
    const char *output;   /* NULL: the stream */
};

/* Take the options from ARGV.  Returns false after a line on ERR. */
bool mprof__parse_options(int argc, char **argv, FILE *err,
                          struct mprof__options *options);

struct mprof__input {
    const char *program; /* given by the user, or NULL */
    const char *data;
};

/* What FILES, as on the command line, are.  One file alone is the program if it
 * is an ELF file, else the data. */
struct mprof__input mprof__choose_input(const char *const files[2]);

/* Whether the program of INPUT, if it has one, is the one of PROFILE.  If not,
 * *ERROR is a sentence. */
bool mprof__check_program(const struct mprof__input *input,
                          const struct mprof__profile *profile,
                          struct mprof__pool *pool, const char **error);

/* What is wrong with the program that PROFILE names, to be said after its
 * name; NULL: nothing. */
const char *mprof__program_trouble(const struct mprof__profile *profile);

/* The text of --help. */
extern const char mprof__help[];

/* Do what `mprof` does with ARGV, printing on OUT, and what goes wrong in one
 * line on ERR.  Returns the exit status: 0, 1, or 2 for wrong usage. */
int mprof__report_main(int argc, char **argv, FILE *out, FILE *err);

#endif
