/* self.h - entering and leaving the hook, on the way of every allocation.
 *
 * A thread says "inside" with a plain store.  A thread that stops the recording
 * makes all threads pass a barrier (membarrier) before it looks.  So entering
 * costs no fence, and after mprof__threads_wait() no thread uses the old
 * session any more.
 */
#ifndef MONITOR_BASE_SELF_H
#define MONITOR_BASE_SELF_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/base/atomic.h"
#include "monitor/base/objects.h"
#include "monitor/format/format.h"

struct mprof__marks;
struct mprof__session;
struct mprof__thread;

/* Locks that one thread holds at once: the log's, the registry's, the arena's,
 * and the kept objects' or the heap's. */
enum { MPROF__MOST_HELD = 4 };

/* No session has this id, or the reverse of another's. */
#define MPROF__NO_ID UINT64_MAX

/* A thread of the process; reused by another thread once `dead`. */
struct mprof__self {
    uintptr_t stack;    /* while inside: where on the stack the thread was;
                           else 0.  Written by it, read by who stops; atomic */
    bool silent;        /* the monitor itself is allocating now */
    bool shared;        /* by threads that are nearly gone */
    uint32_t silences;  /* stretches of Lisp that are the monitor's, in each
                           other */
    uint64_t silent_id; /* heap[MPROF_LISP_HEAP].id outside of these */
    struct {
        uint64_t id; /* the session's that `thread` belongs to; or of none */
        struct mprof__thread *thread;
    } heap[MPROF_HEAPS];
    struct mprof__shadow shadow; /* where it last had objects */
    struct mprof__marks *marks;  /* NULL until there are any */
    struct mprof__self *next;
    int dead; /* atomic */
    pthread_mutex_t *held[MPROF__MOST_HELD];
    int held_count;
    struct mprof__session *resizes; /* it stays inside for realloc() */
    bool moves; /* realloc() has an object that no shadow word has; atomic */
    pid_t tid;
    bool guarded; /* by `guard`, until it leaves */
    void *guard[5];
};

#define MPROF__FAST_TLS __thread __attribute__((tls_model("initial-exec")))
extern MPROF__FAST_TLS struct mprof__self *mprof__self;

/* The state of all threads that have none of their own.  It is inside, so that
 * no thread enters by it. */
extern MPROF__NEAR struct mprof__self mprof__nobody;

/* The longer ways of the two functions below. */
struct mprof__self *mprof__enter_slowly(uintptr_t stack);
void mprof__leave_shared(void);

/* Whichever way it came, ME is inside from here on. */
static inline void mprof__go_in(struct mprof__self *me, uintptr_t stack) {
    mprof__store_relaxed(&me->stack, stack);
    mprof__order_for_handlers();
}

/* Begin a stretch that must not run into the hook on the same thread:
 * allocations by signal handlers meanwhile are counted as unplaced.  Returns
 * the thread, for mprof__leave(); NULL: it is inside already, or there is no
 * memory. errno stays.
 *
 * Should a jump abandon the hook, the thread enters again from a place in the
 * stack that is not further in; so what the runtime calls enters by itself, and
 * no deeper than need be. */
static inline __attribute__((always_inline)) struct mprof__self *
mprof__enter(void) {
    struct mprof__self *me = mprof__self;
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    if (__builtin_expect(me->stack != 0, 0))
        return mprof__enter_slowly(stack);
    mprof__go_in(me, stack);
    return me;
}

/* Where on the stack the calling function is: not further in than what it
 * calls, or what interrupts it.  It needs no frame pointer for that. */
static inline __attribute__((always_inline)) uintptr_t mprof__stack(void) {
    return (uintptr_t)__builtin_dwarf_cfa();
}

/* The same from a function at STACK, if it takes nothing but that; else NULL,
 * and mprof__enter_slowly() with the same STACK finds out why.  For
 * mprof__leave_quickly(), too. */
static inline __attribute__((always_inline)) struct mprof__self *
mprof__enter_quickly(uintptr_t stack) {
    struct mprof__self *me = mprof__self;
    if (__builtin_expect(me->stack != 0, 0))
        return NULL;
    mprof__go_in(me, stack);
    return me;
}

/* End it: threads that share their state never enter quickly. */
static inline void mprof__leave_quickly(struct mprof__self *me) {
    mprof__store_release(&me->stack, 0);
}

/* ME is inside: is this to go on?  False, once more, when what it uses is no
 * more, as a file that was cut: then it leaves.  In a function that stays until
 * then. */
#define mprof__guard(me)                                                       \
    ((me)->guarded = true, __builtin_setjmp((me)->guard) == 0)

/* Leave the guarded function of this thread: its memory is gone.  Called by a
 * signal handler that interrupts it.  Return if it is not guarded. */
void mprof__give_up(void);

/* End it; NULL: it did not begin. */
static inline void mprof__leave(struct mprof__self *me) {
    if (me == NULL)
        return;
    me->guarded = false;
    mprof__store_release(&me->stack, 0);
    if (__builtin_expect(me->shared, 0))
        mprof__leave_shared();
}

/* A lock, known to be this thread's should a jump keep it from giving it
 * back. */
void mprof__lock(pthread_mutex_t *mutex);
bool mprof__try_lock(pthread_mutex_t *mutex); /* false: another has it */
void mprof__unlock(pthread_mutex_t *mutex);

/* Is what this thread allocates now the monitor's own affair? */
bool mprof__thread_is_silent(void);

/* Make all threads pass a full barrier: they see this thread's earlier stores,
 * and it sees theirs.  False: it took long. */
bool mprof__threads_pass(void);

/* Wait until no other thread is inside the hook that may use the old state.
 * False: one seems to stay, so its memory must stay, too. */
bool mprof__threads_wait(void);

/* Is thread TID, which is stopped, inside, or in realloc() with what was
 * recorded?  0: any that is nearly gone. */
bool mprof__thread_is_busy(pid_t tid);

/* Once, before anything else here.  ENDS is called inside of the hook, by each
 * thread that ends. */
void mprof__selves_initialize(void (*ends)(struct mprof__self *me));

/* In the child of a fork: the other threads are not there any more. */
void mprof__selves_forked(void);

#endif
