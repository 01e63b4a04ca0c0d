/* output.h - where the tables go: a stream, or a file that appears whole. */
#ifndef MPROF_OUTPUT_H
#define MPROF_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "report/base/pool.h"

struct mprof__output {
    FILE *stream;
    bool owned;         /* the stream is ours to close */
    char *name;         /* as the user gave it, NULL for a stream */
    char *temporary;    /* what is written, or NULL */
    const char *target; /* what it becomes */
};

/* Write to the file NAME from now on, or for NULL to output->stream, which
 * must be set.  On failure returns false, and *ERROR is a sentence. */
bool mprof__output_open(struct mprof__output *output, const char *name,
                        struct mprof__pool *pool, const char **error);

/* Everything is written.  On failure returns false, and *ERROR is a sentence
 * or, when nobody reads the stream any more, NULL. */
bool mprof__output_finish(struct mprof__output *output,
                          struct mprof__pool *pool, const char **error);

/* Remove what was not finished. */
void mprof__output_discard(struct mprof__output *output);

#endif
