/* log.h - each event of the C heap with its time, one after the other: for the
 * load over time, byte by nanosecond, and for a log with a line for each.
 *
 * A recording that is timed has an order of all events: who allocates or frees
 * holds the lock from when it takes the time until what it did is counted, and
 * written.  So the log, and sums over its lines, agree with the data file to
 * the byte and the nanosecond.
 */
#ifndef MONITOR_LOG_LOG_H
#define MONITOR_LOG_LOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/format/events.h"
#include "monitor/log/group.h"
#include "monitor/log/log_file.h"

struct mprof__arena;
struct mprof__live;

struct mprof__log_options {
    bool timed;         /* with or without a log */
    const char *path;   /* the log's, absolute; NULL: no log */
    bool plain;         /* numbers alone, without their names */
    uint64_t threshold; /* bytes: of smaller objects there are no lines */
    const char *group;  /* path of a group's file, absolute; NULL: none */
    uint64_t orphaned;  /* bytes of its sum that no process has any more */
};

struct mprof__log {
    struct mprof__arena *arena; /* the data file */
    struct mprof__live *heap;   /* the heap whose events are logged */
    bool timed;
    pthread_mutex_t lock;   /* the first of those within the hook */
    bool running;           /* time that passes counts */
    uint64_t time;          /* CLOCK_MONOTONIC, ns, of the last event */
    uint64_t recorded;      /* ns until then */
    int64_t live;           /* bytes, after it */
    unsigned __int128 load; /* bytes times ns, until then */
    bool plain;
    uint64_t threshold;
    struct mprof__log_file file;
    struct mprof__group group;
};

/* Set the options of the next recordings; only the next one has the log.  The
 * paths, shorter than PATH_MAX, stay where they are. */
void mprof__log_set(const struct mprof__log_options *options);
/* The next one has this log, anew. */
void mprof__log_again(const struct mprof__log *log);

/* Begin the log of the C heap HEAP, whose data file is ARENA.  *ERRORS names
 * the files that cannot be created; all else goes on. */
struct mprof__log_errors {
    const char *path, *group;    /* files that are missing, or NULL */
    int path_error, group_error; /* why, as an errno */
};
void mprof__log_begin(struct mprof__log *log, struct mprof__arena *arena,
                      struct mprof__live *heap,
                      struct mprof__log_errors *errors);

/* Recording goes on, or stops, at NOW. */
void mprof__log_run(struct mprof__log *log, bool running, uint64_t now);

/* The file ends with its last line, as long as nothing more comes. */
void mprof__log_settle(struct mprof__log *log);
/* The process or the recording ends: take its live bytes out of the group's
 * sum. */
void mprof__log_retire(struct mprof__log *log);
/* Let go of it, as it is. */
void mprof__log_end(struct mprof__log *log);

/* One event, by a thread that is inside of the hook: take the lock and the
 * time; count it; and if that was done write a line for it. */
void mprof__log_enter(struct mprof__log *log);
void mprof__log_leave(struct mprof__log *log);

/* FRESH of BYTES was allocated, by malloc() or what is like it, by calloc() as
 * COUNT elements, or in the place of OLD; or it is NULL, and OLD was freed.
 */
struct mprof__log_entry {
    enum mprof_log_type type;
    uint32_t tid;
    const void *fresh, *old;
    uint64_t bytes, old_bytes;
    uint64_t count;
    bool is_fresh, is_old; /* was recorded */
};
void mprof__log_write(struct mprof__log *log, struct mprof__log_entry *entry);

#endif
