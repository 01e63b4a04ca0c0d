/* command.h - the command `mprof`, as a function. */
#ifndef MPROF_COMMAND_H
#define MPROF_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "tables.h"

struct mprof__options {
    unsigned tables; /* of enum mprof__table */
    enum mprof__verbosity verbosity;
    bool all_frames, by_thread, sexp, help, version, leaks;
    const char *file;
    const char *output; /* NULL: the stream */
};

/* Take the options from ARGV.  Returns false after a line on ERR. */
bool mprof__parse_options(int argc, char **argv, FILE *err,
                          struct mprof__options *options);

/* The text of --help. */
extern const char mprof__help[];

/* Do what `mprof` does with ARGV, printing on OUT, and what goes wrong in one
 * line on ERR.  Returns the exit status: 0, 1, or 2 for wrong usage. */
int mprof__report_main(int argc, char **argv, FILE *out, FILE *err);

#endif
