/* session.h - a recording: its data file, tables and threads.
 *
 * What one allocation passes through:
 *     Lisp: ecl_hook.c -> mprof__allocated (record.c) -> walk.c -> tree.c
 *           -> a counter of a node and a bin in the data file (arena.c)
 *     C:    malloc.c -> malloc_hook.c -> mprof__c_allocated (c_record.c)
 *           -> walk.c -> tree.c -> a counter, a size, an object (objects.c)
 * Most allocations have the chain of the one before: then mprof__find_place()
 * below, by mprof__walk_again() (walk.h), is the whole way from the hook to the
 * counter.  look.c sees to it that this is so, with the marks of marks.c.
 */
#ifndef MPROF_SESSION_H
#define MPROF_SESSION_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "monitor/record/adapter.h"
#include "monitor/record/arena.h"
#include "monitor/base/table.h"
#include "monitor/unwind/walk.h"

enum { MPROF__SIZES = MPROF_LARGEST_BIN + 2 };

enum {
    MPROF__INWARD = 4,
    MPROF__LINKS = 1024, /* in a piece of memory */
    MPROF__PIECES = 2048
};

/* A call in the tree: the function of a node goes on to another one from one
 * place; where the chain ends, the place that called the allocator.  Made by
 * tree.c, of the thread's memory, and numbered from 1; the number 0 stands for
 * none.  One line of the processor's cache. */
struct mprof__link {
    /* What was called from there lately, a cache. */
    uint32_t hint[MPROF__INWARD]; /* of the other links' keys */
    uint32_t way[MPROF__INWARD];  /* their numbers, with MPROF__FOLDS or not */
    uint64_t key; /* how it is called: site, or interpreted object */
    mprof_ref counter[MPROF_CLASSES]; /* COUNTER; 0: not asked for yet */
    mprof_ref node;                   /* ... of the function that calls */
    mprof_ref edge;                   /* EDGE; 0: there is none */
} __attribute__((aligned(64)));

/* The node is that of another function further out: the tree was full. */
#define MPROF__FOLDS ((uint32_t)1 << 31)

/* A thread in one heap of one session.  Only the thread itself touches it, but
 * for `record`, `next`, and everything once the thread is gone. */
struct mprof__thread {
    struct mprof__session *session;
    struct mprof__chain chain;
    struct mprof_bin *bin[MPROF__TYPES]; /* of types without a class */
    struct mprof_size **sizes; /* MPROF__SIZES of the C heap; mapped */
    struct mprof__thread *next;
    struct mprof_thread *record;
    mprof_ref ref;             /* of the record */
    struct mprof__link *root;  /* its node has counters of all classes */
    struct mprof__table edges; /* (parent, site or function) -> link */
    struct mprof__table nodes; /* (parent, function) -> node */
    struct mprof__table bins;  /* class object -> bin */
    uintptr_t last_class;      /* ... that was looked up last */
    struct mprof_bin *last_class_bin;
    struct mprof__link **pieces; /* MPROF__PIECES of links; mapped */
    uint32_t link_count;
    /* What other threads allocated and this one frees: their COUNTER -> ours,
     * (THREAD, size) -> our SIZE. */
    struct mprof__table foreign, foreign_sizes;
    uint64_t autosave; /* allocations until the next */
    uint32_t number;   /* of the threads of this heap, from 1 */
    struct mprof__thread *next_free;
};

struct mprof__session {
    uint64_t id; /* differs from that of every other session */
    struct mprof__arena arena;
    unsigned heaps; /* bits 1 << MPROF_C_HEAP, ... */
    /* Guards the adding of records, sites, modules, functions, threads. */
    pthread_mutex_t lock;
    struct mprof__table sites;     /* return address -> struct mprof__site * */
    struct mprof__table functions; /* start or object -> FUNCTION */
    struct mprof__table modules;   /* start of the mapping -> generation when
                                      it was looked at, MODULE */
    bool open; /* the data file may change; atomic, see mprof__reopen() */
    struct mprof__thread *threads; /* all that have a record */
    /* By heap, under the lock: how many have one, and of those with high
     * numbers the ones that have ended, for other threads to take over. */
    uint32_t thread_count[MPROF_HEAPS];
    struct mprof__thread *free_threads[MPROF_HEAPS];
    uint32_t site_count;
    struct mprof__block *blocks; /* of memory for sites and threads */
    uint32_t objects;            /* interpreted functions seen */
    mprof_ref interpreted;
    mprof_ref toplevel, unknown; /* FUNCTIONs that stand for many; or 0 */
    bool haunted;                /* a thread may still be inside */
    bool named;                  /* the data file has a name: */
    char path[PATH_MAX];         /* as it was given */
    char where[PATH_MAX];        /* absolute */
    uint64_t started;            /* CLOCK_MONOTONIC, ns, of the last start */
    uint64_t before;             /* ns recorded before that */
};

/* In the child of a fork without ceremony, such as a clone(), these are NULL:
 * nothing there may write to the parent's data file. */
struct mprof__sessions {
    struct mprof__session *current; /* that records; atomic */
    struct mprof__session *tracked; /* whose objects are remembered; atomic */
};
extern union mprof__page {
    struct mprof__sessions sessions;
    char page[4096];
} mprof__page;

/* The session that records, NULL while none does. */
static inline struct mprof__session *mprof__current(void) {
    return __atomic_load_n(&mprof__page.sessions.current, __ATOMIC_ACQUIRE);
}

/* The session whose objects are remembered, also while it is stopped. */
static inline struct mprof__session *mprof__tracked(void) {
    return __atomic_load_n(&mprof__page.sessions.tracked, __ATOMIC_ACQUIRE);
}

/* Allocations between two savings; 0: none.  See set_mprof_autosave(). */
extern uint64_t mprof__autosave;
/* A number that each program which is executed gets anew. */
uint64_t mprof__image_id(void);
/* The process whose fork this one is and was recorded; 0: none. */
extern uint32_t mprof__parent;

/* Let the recording end after all destructors; to be called before main(). */
void mprof__finish_last(void);

/* Open the data file of SESSION, which is stopped, for further frees.  Called
 * outside of the hook.  False: it is not to be changed any more. */
bool mprof__reopen(struct mprof__session *session);

/* Create a session with data file PATH (or none); NULL and *ERROR. */
struct mprof__session *mprof__session_new(const char *path, uint64_t limit,
                                          unsigned heaps, int *error);
/* Bring the duration and the memory in the header up to date, which a killed
 * program leaves behind; while the session records. */
void mprof__session_clock(struct mprof__session *session);

/* Modules may have been unloaded unseen, while nothing was recorded. */
void mprof__modules_changed(void);

/* Before and after a library is closed, perhaps. */
void mprof__modules_close(void);
void mprof__modules_closed(void);
/* In the child of a fork. */
void mprof__modules_forked(void);

/* No thread may be inside of it any more. */
void mprof__session_free(struct mprof__session *session);

/* What is known of return address PC; never NULL.  EXACT: PC is no return
 * address but the place where a signal interrupted. */
const struct mprof__site *mprof__session_site(struct mprof__session *session,
                                              uintptr_t pc, bool exact);

/* Add a FUNCTION; under the lock.  0: no room. */
mprof_ref mprof__session_function(struct mprof__session *session,
                                  uint64_t address, mprof_ref module,
                                  const struct mprof__name *name);

/* FUNCTION of an interpreted object in frame INDEX of the chain; 0: no room. */
mprof_ref mprof__session_object(struct mprof__session *session,
                                const struct mprof__chain *chain, size_t index);

/* The one FUNCTION of a kind that stands for many: MPROF_UNKNOWN, ... */
mprof_ref mprof__session_special(struct mprof__session *session, uint32_t kind,
                                 mprof_ref *place);

/* Zeroed memory that lives as long as the session; called under its lock. */
void *mprof__session_alloc(struct mprof__session *session, size_t bytes);

/* Is what this thread allocates now the monitor's own affair? */
bool mprof__thread_is_silent(void);

/* Wait until no other thread is inside of the hook.  What it looks at there
 * has changed already.  False: one seems to stay, the session must too. */
bool mprof__threads_leave(void);

/* This thread's marks, for all its chains, the first of which begins at stack
 * pointer BASE; NULL: it cannot have any, for REASON. */
struct mprof__marks *mprof__thread_marks(uintptr_t base,
                                         enum mprof_unmarked *reason);

/* Put the return addresses of this thread back where marks are. */
void mprof__thread_lift_marks(void);

/* Walk from FRAME, which does not find the chain of the walk before, and find
 * or make the place of the chain in the tree. */
struct mprof__link *mprof__locate(struct mprof__thread *thread,
                                  const void *frame);
/* The same for frames that interpret another function than before. */
struct mprof__link *mprof__relocate(struct mprof__thread *thread);
/* The place of the chain that THREAD just walked. */
struct mprof__link *mprof__tree_link(struct mprof__thread *thread);
/* Make the counter of a link for CLASS_; one further out when there is no
 * room. */
struct mprof_counter *mprof__make_counter(struct mprof__thread *thread,
                                          struct mprof__link *link,
                                          unsigned class_);
/* Add a counter; under the session's lock. */
bool mprof__add_counter(struct mprof__session *session, mprof_ref thread,
                        struct mprof_node *node, mprof_ref edge,
                        unsigned class_);
/* A link with nothing in it; NULL: no memory. */
struct mprof__link *mprof__new_link(struct mprof__thread *thread,
                                    uint32_t *number);
/* Give back the memory of the tree that is not in the data file. */
void mprof__tree_free(struct mprof__thread *thread);
/* Count an allocation whose chain is folded or cut as such. */
void mprof__count_losses(struct mprof__thread *thread, uint64_t bytes);
/* The chain cannot be recorded; the number can, by any thread at any time. */
void mprof__count_unplaced(struct mprof__session *session, uint64_t bytes);

/* In libraries for tests: take the chain once more, and compare; see
 * tests/check_walk.c. */
#ifdef MPROF_CHECK_WALKS
void mprof__check_walk(struct mprof__thread *thread, const void *frame);
#else
static inline void mprof__check_walk(struct mprof__thread *thread,
                                     const void *frame) {
    (void)thread, (void)frame;
}
#endif

/* The place in the tree of the chain that begins at FRAME, when it is that of
 * the walk before; else NULL. */
static inline struct mprof__link *
mprof__find_place(struct mprof__thread *thread, const void *frame) {
    struct mprof__chain *chain = &thread->chain;
    enum mprof__same same = mprof__walk_again(chain, frame);
    if (__builtin_expect(same == MPROF__DIFFERS, 0))
        return NULL;
    struct mprof__link *link = chain->innermost->link;
    if (__builtin_expect(same == MPROF__SAME_IF, 0)) {
        mprof__adapter.match(chain);
        if (chain->kept < chain->count)
            link = mprof__relocate(thread);
    }
    mprof__check_walk(thread, frame);
    return link;
}

/* The place in the tree of the chain that begins at FRAME. */
static inline struct mprof__link *mprof__place(struct mprof__thread *thread,
                                               const void *frame) {
    struct mprof__link *link = mprof__find_place(thread, frame);
    if (__builtin_expect(link != NULL, 1))
        return link;
    link = mprof__locate(thread, frame);
    mprof__check_walk(thread, frame);
    return link;
}

/* Is the chain that THREAD just walked folded, or cut? */
static inline bool mprof__has_losses(const struct mprof__thread *thread) {
    const struct mprof__chain *chain = &thread->chain;
    return chain->cut || (chain->innermost != NULL && chain->innermost->folded);
}

static inline struct mprof_counter *mprof__counter(struct mprof__thread *thread,
                                                   struct mprof__link *link,
                                                   unsigned class_) {
    mprof_ref ref = link->counter[class_];
    if (__builtin_expect(ref != 0, 1))
        return mprof__arena_at(&thread->session->arena, ref);
    return mprof__make_counter(thread, link, class_);
}

/* Counters have one writer; readers may see them a moment late, never torn. */
static inline void mprof__count(struct mprof_count *count, uint64_t bytes) {
    __atomic_store_n(&count->allocs,
                     __atomic_load_n(&count->allocs, __ATOMIC_RELAXED) + 1,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&count->bytes,
                     __atomic_load_n(&count->bytes, __ATOMIC_RELAXED) + bytes,
                     __ATOMIC_RELAXED);
}

#endif
