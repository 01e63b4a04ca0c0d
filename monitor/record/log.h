/* log.h - each event of the C heap with its time, one after the other: for the
 * load over time, byte by nanosecond, and for a log with a line for each.
 *
 * A recording that is timed has an order of all events: who allocates or frees
 * holds the lock from when it takes the time until what it did is counted, and
 * written.  So the log, and sums that somebody makes of it, agree with the
 * data file to the byte and the nanosecond.
 */
#ifndef MONITOR_RECORD_LOG_H
#define MONITOR_RECORD_LOG_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/format/events.h"
#include "monitor/record/group.h"

struct mprof__session;

struct mprof__log_options {
    bool timed;         /* with or without a log */
    const char *path;   /* of the log, absolute; NULL: none */
    bool plain;         /* numbers alone, without their names */
    uint64_t threshold; /* bytes: of smaller objects there are no lines */
    const char *group;  /* of the file of a group, absolute; NULL: none */
    uint64_t orphaned;  /* bytes of its sum that nobody has any more */
};

/* The log's file: lines are copied to a window of it, so that what was written
 * stays when the process is killed. */
struct mprof__log_file {
    const char *path; /* NULL: none */
    dev_t device;
    ino_t inode;
    char *window;  /* WINDOW bytes of addresses, of which */
    size_t mapped; /* so many are the file's, from `offset` on, */
    size_t used;   /* and so many are lines */
    uint64_t offset;
    size_t step; /* bytes that it grows by next */
    bool cut;    /* somebody has cut it; atomic */
    int refused; /* 0, or why nothing more is written: an errno */
};

struct mprof__log {
    bool timed;
    pthread_mutex_t lock;   /* the first of those within the hook */
    bool running;           /* what passes is recorded */
    uint64_t time;          /* CLOCK_MONOTONIC, ns, of the last event */
    uint64_t recorded;      /* ns until then */
    int64_t live;           /* bytes, after it */
    unsigned __int128 load; /* bytes times ns, until then */
    bool plain;
    uint64_t threshold;
    struct mprof__log_file file;
    struct mprof__group group;
    char path[PATH_MAX];
};

/* What the sessions from now on are to do; the next one has the log.  NULL:
 * nothing. */
void mprof__log_set(const struct mprof__log_options *options);
/* The next one has that of SESSION, anew. */
void mprof__log_again(const struct mprof__session *session);

/* For SESSION, whose data file is there.  A log that cannot be created is said
 * so on standard error; all else goes on. */
void mprof__log_begin(struct mprof__session *session);

/* Recording goes on, or stops, at NOW. */
void mprof__log_resume(struct mprof__session *session, uint64_t now);
void mprof__log_pause(struct mprof__session *session, uint64_t now);

/* The file ends with its last line, as long as nothing more comes. */
void mprof__log_settle(struct mprof__session *session);
/* The process ends, or SESSION does: what lived in it is in no sum any more. */
void mprof__log_retire(struct mprof__session *session);
/* Let go of it, as it is. */
void mprof__log_end(struct mprof__session *session);

/* One event, by a thread that is inside of the hook: take the lock and the
 * time; count it; and if that was done write a line for it. */
void mprof__log_enter(struct mprof__session *session);
void mprof__log_leave(struct mprof__session *session);

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
void mprof__log_write(struct mprof__session *session,
                      const struct mprof__log_entry *entry);

/* The file. */
bool mprof__log_file_create(struct mprof__log_file *file, const char *path);
/* Room for BYTES, at most MPROF__LOG_LINE; NULL: there is none any more. */
enum { MPROF__LOG_LINE = 256 };
char *mprof__log_file_room(struct mprof__log_file *file);
void mprof__log_file_settle(struct mprof__log_file *file);
void mprof__log_file_close(struct mprof__log_file *file);

#endif
