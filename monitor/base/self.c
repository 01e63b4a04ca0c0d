/* self.c - the threads of the process; see self.h. */
#define _GNU_SOURCE
#include "monitor/base/self.h"

#include <errno.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/table.h"

enum { SELVES_PER_PIECE = 128 };

struct mprof__self mprof__nobody = {.stack = UINTPTR_MAX};
MPROF__FAST_TLS struct mprof__self *mprof__self = &mprof__nobody;
static MPROF__FAST_TLS int rounds; /* of destructors that ours has seen */

/* The very last one is the sanitizers'. */
enum { LAST_ROUND = PTHREAD_DESTRUCTOR_ITERATIONS - 1 };

static struct mprof__self *selves; /* only grows at its head; atomic */
/* Written once, before a second thread. */
static pthread_key_t at_thread_end;
static bool have_membarrier;
static void (*when_it_ends)(struct mprof__self *me);

/* Threads whose destructors have all run may still allocate and free.  They
 * take this state in turn for it. */
static struct mprof__self late_state = {
    .shared = true, .heap = {[0 ... MPROF_HEAPS - 1] = {.id = MPROF__NO_ID}}};
static pthread_mutex_t late_state_lock = PTHREAD_MUTEX_INITIALIZER;

/* Release the locks of a hook that was left by longjmp().  Records are
 * published last: one that was only begun is not in the file. */
static void release_held(struct mprof__self *me) {
    while (me->held_count > 0)
        pthread_mutex_unlock(me->held[--me->held_count]);
}

static void thread_ends(void *data) {
    struct mprof__self *me = data;
    /* Destructors of others may come after this one, and allocate. */
    if (++rounds < LAST_ROUND && pthread_setspecific(at_thread_end, me) == 0)
        return;
    rounds = LAST_ROUND;
    release_held(me);
    mprof__go_in(me, (uintptr_t)__builtin_frame_address(0));
    if (mprof__guard(me))
        when_it_ends(me);
    me->guarded = false;
    mprof__self = &mprof__nobody;
    mprof__store_release(&me->stack, 0);
    mprof__store_release(&me->dead, 1);
}

void mprof__selves_initialize(void (*ends)(struct mprof__self *me)) {
    when_it_ends = ends;
    pthread_key_create(&at_thread_end, thread_ends);
    have_membarrier =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                0) == 0;
}

static struct mprof__self *reuse(void) {
    struct mprof__self *s = mprof__load_acquire(&selves);
    for (; s != NULL; s = s->next) {
        int dead = 1;
        if (mprof__replace(&s->dead, &dead, 0))
            return s;
    }
    return NULL;
}

static struct mprof__self *make_self(void) {
    struct mprof__self *mine = reuse();
    if (mine == NULL) {
        struct mprof__self *piece =
            mprof__map(SELVES_PER_PIECE * sizeof *piece);
        if (piece == NULL)
            return NULL;
        for (int i = 0; i < SELVES_PER_PIECE; i++) {
            piece[i].dead = i > 0;
            piece[i].next = i + 1 < SELVES_PER_PIECE ? &piece[i + 1] : NULL;
        }
        struct mprof__self *last = &piece[SELVES_PER_PIECE - 1];
        last->next = mprof__load_acquire(&selves);
        while (!mprof__replace(&selves, &last->next, piece))
            ;
        mine = piece;
    }
    for (int heap = 0; heap < MPROF_HEAPS; heap++)
        mine->heap[heap].id = MPROF__NO_ID;
    mine->silent = true;
    mine->moves = false;
    mine->tid = (pid_t)syscall(SYS_gettid);
    mprof__go_in(mine, (uintptr_t)__builtin_frame_address(0));
    mprof__self = mine;
    /* The C library may allocate here. */
    pthread_setspecific(at_thread_end, mine);
    mprof__store_release(&mine->stack, 0);
    mine->silent = false;
    return mine;
}

/* This thread's own, or for a thread that is nearly gone the one that all such
 * threads share, until mprof__leave(). */
static struct mprof__self *find_self(void) {
    if (rounds < LAST_ROUND)
        return make_self();
    pthread_mutex_lock(&late_state_lock);
    mprof__self = &late_state;
    return mprof__self;
}

/* Functions that are called from one place push no more than so many bytes, one
 * more than the other, until they enter; functions that the hook calls push
 * more. */
enum { SAME_CALL = 48 };

/* Was the hook abandoned by longjmp(), as out of a handler for a stack
 * overflow?  What interrupts the hook runs deeper in the stack, or on another
 * one. */
static bool was_left(const struct mprof__self *me, uintptr_t stack) {
    stack_t signal_stack;
    return stack + SAME_CALL >= me->stack &&
           sigaltstack(NULL, &signal_stack) == 0 &&
           !(signal_stack.ss_flags & SS_ONSTACK);
}

struct mprof__self *mprof__enter_slowly(uintptr_t stack) {
    int saved = errno;
    struct mprof__self *me = mprof__self;
    if (me == &mprof__nobody)
        me = find_self();
    errno = saved;
    if (me == NULL)
        return NULL;
    if (me->stack != 0) {
        if (!was_left(me, stack))
            return NULL;
        release_held(me);
        me->resizes = NULL;
        me->guarded = false;
    }
    mprof__go_in(me, stack);
    return me;
}

void mprof__give_up(void) {
    struct mprof__self *me = mprof__self;
    if (me->stack == 0 || !me->guarded)
        return;
    me->guarded = false;
    release_held(me);
    __builtin_longjmp(me->guard, 1);
}

void mprof__leave_shared(void) {
    mprof__self = &mprof__nobody;
    pthread_mutex_unlock(&late_state_lock);
}

static void note_held(pthread_mutex_t *mutex) {
    struct mprof__self *me = mprof__self;
    if (me != &mprof__nobody && me->held_count < MPROF__MOST_HELD)
        me->held[me->held_count++] = mutex;
}

void mprof__lock(pthread_mutex_t *mutex) {
    pthread_mutex_lock(mutex);
    note_held(mutex);
}

bool mprof__try_lock(pthread_mutex_t *mutex) {
    if (pthread_mutex_trylock(mutex) != 0)
        return false;
    note_held(mutex);
    return true;
}

void mprof__unlock(pthread_mutex_t *mutex) {
    if (mprof__self->held_count > 0)
        mprof__self->held_count--;
    pthread_mutex_unlock(mutex);
}

bool mprof__thread_is_silent(void) {
    return mprof__self->silent;
}

/* Looks, a millisecond apart, before a thread is given up that abandoned the
 * hook by longjmp().  Not a time: the collector may halt all threads for long.
 */
enum { MOST_LOOKS = 3000 };

static bool has_left(const struct mprof__self *s) {
    struct timespec pause = {0, 1000 * 1000};
    int looks = 0;
    while (s != mprof__self && mprof__load_acquire(&s->stack) != 0) {
        if (++looks > MOST_LOOKS)
            return false;
        if (looks < 100)
            sched_yield();
        else
            nanosleep(&pause, NULL);
    }
    return true;
}

bool mprof__threads_pass(void) {
    struct timespec pause = {0, 20 * 1000 * 1000};
    if (have_membarrier)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    else
        nanosleep(&pause, NULL);
    return have_membarrier;
}

bool mprof__threads_wait(void) {
    mprof__threads_pass();
    struct mprof__self *s = mprof__load_acquire(&selves);
    for (; s != NULL; s = s->next)
        if (!has_left(s))
            return false;
    return has_left(&late_state);
}

bool mprof__thread_is_busy(pid_t tid) {
    const struct mprof__self *s = mprof__load_acquire(&selves);
    if (tid == 0)
        return mprof__load_relaxed(&late_state.stack) != 0;
    for (; s != NULL; s = s->next)
        if (s->tid == tid && !mprof__load_relaxed(&s->dead))
            return mprof__load_relaxed(&s->stack) != 0 ||
                   mprof__load_relaxed(&s->moves);
    return false;
}

void mprof__selves_forked(void) {
    struct mprof__self *s = mprof__load_acquire(&selves);
    for (; s != NULL; s = s->next) {
        if (s == mprof__self) {
            s->tid = getpid();
            continue;
        }
        s->stack = 0;
        s->moves = false;
        s->held_count = 0;
        s->dead = 1;
        s->marks = NULL;
    }
    pthread_mutex_init(&late_state_lock, NULL);
    late_state.stack = 0;
}
