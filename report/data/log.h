/* log.h - reading a log of events, one after the other; see mprof.log(5).
 *
 * As with data files nothing in it is believed.  Of an object only its size is
 * remembered, and only while it lives.
 */
#ifndef REPORT_DATA_LOG_H
#define REPORT_DATA_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/base/pool.h"

struct report__log_object {
    uint64_t address; /* 0: none */
    uint64_t bytes;
};

struct report__log {
    const char *name; /* of the file */
    FILE *file;
    uint64_t line;   /* of the last event, from 1 */
    uint64_t thread; /* of the first: the process, if that is a time stamp */
    uint64_t bytes_read; /* of the file */
    /* After the last event: */
    uint64_t begin, time;   /* of the first event, of this one: ns */
    uint64_t recorded;      /* ns of these, in which something was recorded */
    uint64_t live, peak;    /* bytes */
    unsigned __int128 load; /* bytes times ns */
    uint64_t events;        /* but for time stamps */
    bool running;
    struct report__log_object *objects; /* by hash, at most half full */
    uint64_t slots, count;
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
