/* export.h - the chains of a profile in the formats of other tools. */
#ifndef REPORT_EXPORT_EXPORT_H
#define REPORT_EXPORT_EXPORT_H

#include <stdio.h>

#include "report/export/samples.h"

enum report__export_format { MPROF_EXPORT_FOLDED, MPROF_EXPORT_PPROF };

/* Of formats that have one number for a chain. */
enum report__metric {
    MPROF_METRIC_BYTES,
    MPROF_METRIC_ALLOCS,
    /* C only */
    MPROF_METRIC_KEPT,
    MPROF_METRIC_PEAK,
    MPROF_METRIC_TEMPORARY
};

struct report__export_options {
    enum report__export_format format;
    enum report__metric metric;
    struct report__sampling sampling;
};

/* In place of callers further out that are left out, and of callers that are
 * not known. */
#define MPROF_EXPORT_DEEPER "..."
#define MPROF_EXPORT_SUMMED "<folded>"

/* TEXT, of whatever bytes, as UTF-8 on one line: `?` stands for what is not to
 * be seen, and for more bytes than anybody reads "...".  In POOL. */
const char *report__clean_name(struct report__pool *pool, const char *text);

/* The names of all functions, clean, by their indices. */
const char **report__clean_names(struct report__pool *pool,
                                 const struct report__functions *names);

/* A line for each sample: the functions of its chain, outermost first, with
 * semicolons between; a blank; and its number of OPTIONS->metric. */
void report__export_folded(FILE *out, const struct report__profile *profile,
                           const struct report__functions *names,
                           const struct report__export_options *options,
                           struct report__pool *pool);

/* The profile.proto of pprof, by gzip, with all numbers. */
void report__export_pprof(FILE *out, const struct report__profile *profile,
                          const struct report__functions *names,
                          const struct report__export_options *options,
                          struct report__pool *pool);

#endif
