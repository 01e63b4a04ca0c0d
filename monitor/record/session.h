/* session.h - a recording: its data file, its tables, its threads. */
#ifndef MONITOR_RECORD_SESSION_H
#define MONITOR_RECORD_SESSION_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/chunks.h"
#include "monitor/base/table.h"
#include "monitor/format/format.h"
#include "monitor/names/adapter.h"
#include "monitor/file/arena.h"
#include "monitor/heap/alive.h"
#include "monitor/heap/collections.h"
#include "monitor/heap/live.h"
#include "monitor/log/log.h"
#include "monitor/names/names.h"
#include "monitor/record/current.h"

struct mprof__thread;

struct mprof__session {
    uint64_t id; /* unique in the process */
    struct mprof__arena arena;
    unsigned heaps; /* bits 1 << MPROF_C_HEAP, ... */
    struct mprof__names names;
    struct mprof__table sizes; /* (THREAD, size) -> SIZE, of those that others
                                  count on for */
    bool open; /* the data file may change; atomic, see mprof__reopen() */
    struct mprof__thread *threads; /* all that have a record */
    /* By heap, under the lock: how many have one, and of those with high
     * numbers the ones that have ended, for other threads to take over. */
    uint32_t thread_count[MPROF_HEAPS];
    struct mprof__thread *free_threads[MPROF_HEAPS];
    uint32_t ready[MPROF_HEAPS]; /* atomic: of these, with what they remember */
    struct mprof__live live;     /* the C heap */
    struct mprof__log log;       /* ... event by event */
    struct mprof__collections collections; /* of the Lisp heap */
    struct mprof__alive alive;             /* live objects of the Lisp heap */
    struct mprof__chunks memory; /* of sites and threads; under the lock */
    bool pinned;                 /* a thread may still be inside */
    bool late;            /* the program had allocated before the recording */
    uint32_t scans;       /* number of scans for lost blocks, and of */
    uint32_t looks;       /* looks at what keeps objects alive */
    bool named;           /* the data file has a name: */
    char path[PATH_MAX];  /* as it was given */
    char where[PATH_MAX]; /* absolute */
};

/* Allocations between two savings; 0: none.  Atomic; see wishes.c. */
extern MPROF__NEAR uint64_t mprof__autosave;
/* The process whose fork this one is and was recorded; 0: none.  Written in the
 * child of a fork, before it goes on. */
extern uint32_t mprof__parent;

/* Create a session with data file PATH (or none); NULL and *ERROR. */
struct mprof__session *mprof__session_new(const char *path, uint64_t limit,
                                          unsigned heaps, int *error);
/* Add up into STATUS, which is zeroed, what SESSION has recorded. */
struct mprof_status;
void mprof__session_status(struct mprof__session *session,
                           struct mprof_status *status);

/* Give NAME to this moment: a record, with what the heap has now.  0 or an
 * MPROF_E code. */
int mprof__session_mark(struct mprof__session *session, const char *name);

/* No thread may be inside of it any more. */
void mprof__session_free(struct mprof__session *session);

/* The chain cannot be recorded; the number can, by any thread at any time. */
void mprof__count_unplaced(struct mprof__session *session,
                           struct mprof_count n);

#endif
