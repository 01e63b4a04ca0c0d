/* session.h - a recording: its data file, tables and threads.
 *
 * What one allocation passes through:
 *     adapter (ecl_hook.c) -> mprof__allocated (record.c) -> walk.c
 *     -> tree.c -> a node and a bin in the data file (arena.c)
 */
#ifndef MPROF_SESSION_H
#define MPROF_SESSION_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "adapter.h"
#include "arena.h"
#include "table.h"
#include "walk.h"

/* One link of the last chain of a thread, outermost first. */
struct mprof__link {
    uint64_t key; /* return address, or interpreted object */
    struct mprof_node *node;
    bool folded; /* here or further out */
};

/* A thread in one session.  Only the thread itself touches it, but for
 * `record`, `next`, and everything once the thread is gone. */
struct mprof__thread {
    struct mprof__thread *next;
    struct mprof__session *session;
    struct mprof_thread *record;
    struct mprof_node *root;
    uint32_t epoch; /* of the session, when `edges` was valid */
    struct mprof__chain chain;
    struct mprof__link *last; /* the last chain; mapped */
    size_t last_count, last_room;
    struct mprof__table edges;           /* (parent, site) -> node */
    struct mprof__table nodes;           /* (parent, function) -> node */
    struct mprof__table bins;            /* class object -> bin */
    struct mprof_bin *bin[MPROF__TYPES]; /* of types without a class */
};

struct mprof__session {
    uint64_t id; /* differs from that of every other session */
    struct mprof__arena arena;
    /* Guards the adding of records, sites, modules, functions, threads. */
    pthread_mutex_t lock;
    struct mprof__table sites;     /* return address -> struct mprof__site * */
    struct mprof__table functions; /* start or object -> FUNCTION */
    struct mprof__table modules;   /* start of the mapping -> MODULE */
    uint32_t epoch;                /* grows when a module goes; atomic */
    struct mprof__thread *threads; /* all that ever allocated */
    uint32_t site_count;
    struct mprof__block *blocks; /* of memory for sites and threads */
    uint32_t objects;            /* interpreted functions seen */
    mprof_ref interpreted;
    mprof_ref toplevel, unknown; /* FUNCTIONs that stand for many; or 0 */
    bool haunted;                /* a thread may still be inside */
    bool named;                  /* the data file has a name: */
    char path[PATH_MAX];
    uint64_t started; /* CLOCK_MONOTONIC, ns, of the last start */
    uint64_t before;  /* ns recorded before that */
};

/* The session that records, NULL while none does; atomic. */
extern struct mprof__session *mprof__current;

/* Create a session with data file PATH (or none); NULL and *ERROR. */
struct mprof__session *mprof__session_new(const char *path, uint64_t limit,
                                          int *error);
/* Bring the duration and the memory in the header up to date, which a killed
 * program leaves behind; while the session records. */
void mprof__session_clock(struct mprof__session *session);

/* Before a stopped session records again: forget what modules were loaded
 * where, if they are there no more. */
void mprof__session_resume(struct mprof__session *session);

/* No thread may be inside of it any more. */
void mprof__session_free(struct mprof__session *session);

/* What is known of return address PC; never NULL.  EXACT: PC is no return
 * address but the place where a signal interrupted. */
const struct mprof__site *mprof__session_site(struct mprof__session *session,
                                              uintptr_t pc, bool exact);

/* FUNCTION of an interpreted object in frame INDEX of the chain; 0: no room. */
mprof_ref mprof__session_object(struct mprof__session *session,
                                const struct mprof__chain *chain, size_t index);

/* The one FUNCTION of a kind that stands for many: MPROF_UNKNOWN, ... */
mprof_ref mprof__session_special(struct mprof__session *session, uint32_t kind,
                                 mprof_ref *place);

/* Zeroed memory that lives as long as the session; called under its lock. */
void *mprof__session_alloc(struct mprof__session *session, size_t bytes);

/* This thread in SESSION, made when it is not there; NULL: no memory. */
struct mprof__thread *mprof__thread_self(struct mprof__session *session);

/* Wait until no other thread is inside of the hook.  mprof__current is another
 * or NULL already.  False: one seems to stay, the session must too. */
bool mprof__threads_leave(void);

/* Node for the chain that THREAD just walked, and whether it was folded. */
struct mprof_node *mprof__tree_node(struct mprof__thread *thread, bool *folded);
/* Forget what was cached by return address. */
void mprof__tree_flush(struct mprof__thread *thread);

/* Bin for EVENT in THREAD; NULL: no room. */
struct mprof_bin *mprof__bin(struct mprof__thread *thread,
                             const struct mprof__event *event);

#endif
