/* run_options.h - the options of `mprof run`. */
#ifndef REPORT_COMMAND_RUN_OPTIONS_H
#define REPORT_COMMAND_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report__run_options {
    const char *data;  /* as given, or NULL */
    const char *limit; /* the same */
    const char *log;   /* the same */
    const char *html;  /* the same */
    const char *threshold;
    bool children, summary, stats, log_plain, group, scan;
    bool lisp; /* the heap of an ECL without the patch, in place of C's */
    const char *live; /* ... and what of it is alive: "1", "1/512" */
    char **program;   /* with its arguments, ended by NULL */
};

/* Take the options from ARGV, which begins with "run" and ends with NULL; what
 * is not given there stays in RUN.  False after a line on ERR. */
bool report__parse_run(char **argv, FILE *err, struct report__run_options *run);

/* What --limit=TEXT means.  False after a line on ERR. */
bool report__read_limit(const char *text, FILE *err, uint64_t *bytes);

#endif
