/* log.h - reading a log of events, one after the other; see mprof.log(5).
 *
 * As with data files, nothing in it is trusted.  For an address, only the size
 * of its live object is remembered.
 */
#ifndef REPORT_DATA_LOG_H
#define REPORT_DATA_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/base/dictionary.h"

struct report__log {
    const char *name; /* the file's */
    FILE *file;
    uint64_t line;   /* the last event's, from 1 */
    uint64_t thread; /* the first event's: the process, if it is a time stamp */
    /* After the last event: */
    uint64_t begin, time;   /* the first event's, this one's: ns */
    uint64_t recorded;      /* ns of these, in which something was recorded */
    uint64_t live, peak;    /* bytes */
    unsigned __int128 load; /* bytes times ns */
    bool running;
    struct report__pairs addresses; /* halves of those that were met */
    uint64_t *sizes;                /* of live objects there, or 0 */
    size_t room;                    /* of these */
};

/* Does the file NAME look like a log? */
bool report__is_log(const char *name);

/* Begin to read it.  False: *ERROR is a sentence. */
bool report__log_open(struct report__log *log, const char *name,
                      struct report__pool *pool, const char **error);

/* Go to the next event; false at the end, or *ERROR is a sentence. */
bool report__log_next(struct report__log *log, struct report__pool *pool,
                      const char **error);

void report__log_close(struct report__log *log);

#endif
