/* output.h - where the tables go: a stream, or a file that appears whole. */
#ifndef REPORT_BASE_OUTPUT_H
#define REPORT_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "report/base/pool.h"

struct report__output {
    FILE *stream;
    bool owned;      /* the stream is ours to close */
    int error;       /* the first one that another stream had with it, or 0 */
    char *name;      /* as the user gave it, NULL for a stream */
    char *temporary; /* the file that is written, or NULL */
    const char *target; /* its name in the end */
};

/* Write to the file NAME from now on, or for NULL to output->stream, which
 * must be set.  On failure returns false, and *ERROR is a sentence. */
bool report__output_open(struct report__output *output, const char *name,
                         struct report__pool *pool, const char **error);

/* Finish the output.  False: it failed, and *ERROR is a sentence or, when the
 * reader of a pipe has gone, NULL. */
bool report__output_finish(struct report__output *output,
                           struct report__pool *pool, const char **error);

/* Remove what was not finished. */
void report__output_discard(struct report__output *output);

#endif
