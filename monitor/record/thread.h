/* thread.h - a thread's part of a session, one for each heap. */
#ifndef MONITOR_RECORD_THREAD_H
#define MONITOR_RECORD_THREAD_H

#include <stdint.h>

#include "monitor/base/objects.h"
#include "monitor/base/self.h"
#include "monitor/base/table.h"
#include "monitor/format/format.h"
#include "monitor/names/adapter.h"
#include "monitor/heap/live.h"
#include "monitor/walk/memo.h"
#include "monitor/record/session.h"
#include "monitor/tree/trees.h"
#include "monitor/unwind/walk.h"

enum { MPROF__SIZES = MPROF_LARGEST_BIN + 2 };

/* A thread in one heap of one session.  Only the thread itself touches it, but
 * for `record`, `next`, and everything once the thread is gone. */
struct mprof__thread {
    struct mprof__memo memo;
    struct mprof__share share; /* its part of the C heap's live bytes */
    struct mprof__session *session;
    struct mprof__chain chain;
    struct mprof_bin *bin[MPROF__TYPES]; /* of types without a class */
    struct mprof_size **sizes; /* MPROF__SIZES of the C heap; mapped, or
                                  mprof__no_sizes */
    struct mprof__thread *next;
    struct mprof_thread *record;
    mprof_ref ref; /* the record's */
    struct mprof__trees trees;
    struct mprof__shadow shadow; /* of Lisp, where what lives is */
    struct mprof__table bins;    /* class object -> bin */
    uintptr_t last_class;        /* ... that was looked up last */
    struct mprof_bin *last_class_bin;
    /* Frees of other threads' objects: their counter -> our FREED, (THREAD,
     * size) -> our SIZE. */
    struct mprof__table foreign, foreign_sizes;
    uint64_t until_autosave; /* allocations */
    uint32_t number;         /* among the threads of this heap, from 1 */
    struct mprof__thread *next_free;
    uintptr_t self; /* as the runtime knows it; see adapter.h */
};

/* All are NULL, and stay it: of threads that have counted none yet. */
extern struct mprof_size *mprof__no_sizes[MPROF__SIZES];

/* Once, before the first recording. */
void mprof__threads_initialize(void);

/* In the child of a fork: the other threads are not there any more. */
void mprof__threads_forked(void);

/* To the program some threads of SESSION have ended that still are. */
void mprof__threads_end(struct mprof__session *session);

/* THREAD, of HEAP, counts no more: it keeps its record, or another thread goes
 * on with that. */
void mprof__thread_retire(struct mprof__thread *thread, enum mprof_heap heap);

/* Give back the memory that only further allocations of the thread need. */
void mprof__thread_shrink(struct mprof__thread *thread);

/* The program is about to look at this thread's stack, in a function at FRAME:
 * there are no marks until it reports the end of that, with 0.  Called outside
 * the hook. */
void mprof__thread_unwinding(uintptr_t frame);

/* Do not record allocations of this thread in the Lisp heap from now on, if it
 * BEGINS, because they are the monitor's own work; else record them again.  May
 * be nested. */
void mprof__thread_silence(bool begins);

/* For tables of SIZEs of what thread OWNER allocated. */
static inline uint64_t mprof__size_key(mprof_ref owner, uint32_t size) {
    return (uint64_t)owner << 32 | size;
}

/* The longer way of mprof__thread_here(). */
struct mprof__thread *mprof__thread_self(struct mprof__session *session,
                                         enum mprof_heap heap);

/* ME, which is this thread, in a heap of SESSION, made when it is not there;
 * NULL: no memory. */
static inline struct mprof__thread *
mprof__thread_here(const struct mprof__self *me, struct mprof__session *session,
                   enum mprof_heap heap) {
    if (__builtin_expect(me->heap[heap].id == session->id, 1))
        return me->heap[heap].thread;
    return mprof__thread_self(session, heap);
}

#endif
