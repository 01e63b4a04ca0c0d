/* stats.h - the load that processes put on the C heap, each and all together.
 */
#ifndef REPORT_TABLES_STATS_H
#define REPORT_TABLES_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/base/pool.h"

/* The load of a process, or of a group: ns, bytes, and bytes times ns. */
struct report__load {
    uint64_t duration, most, current;
    unsigned __int128 total;
};

/* How the load over time is known. */
enum report__load_source {
    MPROF_LOAD_LOG,   /* from a log: exact */
    MPROF_LOAD_TIMED, /* each event had its time: exact */
    MPROF_LOAD_CURVE  /* between the points of the curve it is estimated */
};

struct report__loaded {
    const char *name;    /* of the file */
    const char *command; /* "" when unknown */
    uint32_t pid;        /* or 0 */
    enum report__load_source source;
    struct report__load load;
    uint64_t unplaced;    /* allocations that are not in it */
    bool is_log, is_open; /* it ends before the program did, perhaps */
};

/* How the most is known that all processes had together. */
enum report__group_source {
    MPROF_GROUP_CURVES, /* by the sum of their curves: nearly exact */
    MPROF_GROUP_LOGS,   /* all have logs: exact */
    MPROF_GROUP_SUM     /* they added it up themselves: exact */
};

struct report__loads {
    struct report__loaded *list; /* COUNT of them */
    uint32_t count;
    struct report__load group; /* all of them */
    enum report__group_source source;
    uint64_t killed; /* SUM: bytes of processes that did not end */
};

/* Read FILES, COUNT of data files, logs, and sums of a group.  False: *ERROR is
 * a sentence. */
bool report__find_loads(struct report__loads *loads, const char *const *files,
                        uint32_t count, struct report__pool *pool,
                        const char **error);

/* Print them; PLAIN: numbers alone, a line for each. */
void report__print_loads(FILE *out, const struct report__loads *loads,
                         bool plain);

#endif
