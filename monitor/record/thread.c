/* thread.c - the threads of the process, and each one's part of a session; see
 * self.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "monitor/base/self.h"
#include "monitor/record/session.h"
#include "monitor/record/thread.h"

enum { SELVES_PER_PIECE = 128 };

MPROF__FAST_TLS struct mprof__self *mprof__self;
static MPROF__FAST_TLS int rounds; /* of destructors that ours has seen */

/* The very last one is the sanitizers'. */
enum { LAST_ROUND = PTHREAD_DESTRUCTOR_ITERATIONS - 1 };

static struct mprof__self *selves; /* only grows at its head; atomic */
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool have_membarrier;

/* What threads still allocate and free when all their destructors have run is
 * recorded for this one, which they take in turn. */
static struct mprof__self leftover = {.shared = true};
static pthread_mutex_t leftover_lock = PTHREAD_MUTEX_INITIALIZER;

/* Of a hook that was left by a jump.  Records are published last: what was
 * begun is not in the file. */
static void release_held(struct mprof__self *me) {
    while (me->held_count > 0)
        pthread_mutex_unlock(me->held[--me->held_count]);
}

/* Threads of a heap that have a record of their own for good.  A program that
 * starts thousands must not fill the data file with their trees. */
enum { OWN_RECORDS = 64 };

static void end_in_heap(struct mprof__self *me, enum mprof_heap heap,
                        struct mprof__session *session) {
    struct mprof__thread *thread = me->heap[heap].thread;
    if (session != NULL && thread != NULL && me->heap[heap].id == session->id) {
        /* A file that is complete stays as it is. */
        if (__atomic_load_n(&session->open, __ATOMIC_ACQUIRE))
            __atomic_store_n(&thread->record->flags, MPROF_THREAD_ENDED,
                             __ATOMIC_RELAXED);
        if (thread->number <= OWN_RECORDS) {
            mprof__thread_shrink(thread);
        } else {
            mprof__lock(&session->lock);
            thread->next_free = session->free_threads[heap];
            session->free_threads[heap] = thread;
            mprof__unlock(&session->lock);
        }
    }
    me->heap[heap].thread = NULL;
    me->heap[heap].id = 0;
}

static void thread_ends(void *data) {
    struct mprof__self *me = data;
    /* Destructors of others may come after this one, and allocate. */
    if (++rounds < LAST_ROUND && pthread_setspecific(at_thread_end, me) == 0)
        return;
    rounds = LAST_ROUND;
    release_held(me);
    me->stack = (uintptr_t)__builtin_frame_address(0);
    __atomic_store_n(&me->inside, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    struct mprof__session *session = mprof__tracked();
    for (int heap = 0; heap < MPROF_HEAPS; heap++)
        end_in_heap(me, heap, session);
    if (me->marks != NULL)
        mprof__marks_give(me->marks);
    me->marks = NULL;
    mprof__self = NULL;
    __atomic_store_n(&me->inside, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&me->dead, 1, __ATOMIC_RELEASE);
}

static void initialize(void) {
    /* Fails, and does no harm, where the page is part of a file's. */
    madvise(&mprof__page, sizeof mprof__page, MADV_WIPEONFORK);
    pthread_key_create(&at_thread_end, thread_ends);
    have_membarrier =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                0) == 0;
}

void mprof__threads_initialize(void) {
    pthread_once(&once, initialize);
}

static struct mprof__self *reuse(void) {
    struct mprof__self *s = __atomic_load_n(&selves, __ATOMIC_ACQUIRE);
    for (; s != NULL; s = s->next) {
        int dead = 1;
        if (__atomic_compare_exchange_n(&s->dead, &dead, 0, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
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
        last->next = __atomic_load_n(&selves, __ATOMIC_ACQUIRE);
        while (!__atomic_compare_exchange_n(&selves, &last->next, piece, false,
                                            __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            ;
        mine = piece;
    }
    mine->silent = true;
    mine->stack = (uintptr_t)__builtin_frame_address(0);
    __atomic_store_n(&mine->inside, 1, __ATOMIC_RELAXED);
    mprof__self = mine;
    /* The C library may allocate here. */
    pthread_setspecific(at_thread_end, mine);
    __atomic_store_n(&mine->inside, 0, __ATOMIC_RELEASE);
    mine->silent = false;
    return mine;
}

/* This thread's own, or for a thread that is nearly gone the one that all such
 * threads share, until mprof__leave(). */
static struct mprof__self *find_self(void) {
    if (rounds < LAST_ROUND)
        return make_self();
    pthread_mutex_lock(&leftover_lock);
    mprof__self = &leftover;
    return mprof__self;
}

/* Was the hook left by a jump, as out of a handler for a stack overflow?  What
 * interrupts the hook runs deeper in the stack, or on another one. */
static bool was_left(const struct mprof__self *me, uintptr_t stack) {
    stack_t signal_stack;
    return stack >= me->stack && sigaltstack(NULL, &signal_stack) == 0 &&
           !(signal_stack.ss_flags & SS_ONSTACK);
}

bool mprof__enter_slowly(uintptr_t stack) {
    struct mprof__self *me = mprof__self;
    if (me == NULL && (me = find_self()) == NULL)
        return false;
    if (me->inside) {
        if (!was_left(me, stack))
            return false;
        release_held(me);
    }
    me->stack = stack;
    __atomic_store_n(&me->inside, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

bool mprof__enter(void) {
    return mprof__enter_here();
}

void mprof__leave(void) {
    mprof__leave_here();
}

void mprof__leave_shared(void) {
    mprof__self = NULL;
    pthread_mutex_unlock(&leftover_lock);
}

struct mprof__marks *mprof__thread_marks(uintptr_t base,
                                         enum mprof_unmarked *reason) {
    struct mprof__self *me = mprof__self;
    *reason = MPROF_MARKS_OFF;
    if (me->marks == NULL && !me->shared)
        me->marks = mprof__marks_take(base, reason);
    return me->marks;
}

void mprof__thread_lift_marks(void) {
    /* A signal handler must not set marks meanwhile. */
    struct mprof__self *me = mprof__enter_quickly(__builtin_frame_address(0));
    if (me == NULL)
        return;
    if (me->marks != NULL)
        mprof__marks_lift(me->marks);
    mprof__leave_quickly(me);
}

void mprof__lock(pthread_mutex_t *mutex) {
    pthread_mutex_lock(mutex);
    if (mprof__self != NULL && mprof__self->held_count < MPROF__MOST_HELD)
        mprof__self->held[mprof__self->held_count++] = mutex;
}

void mprof__unlock(pthread_mutex_t *mutex) {
    if (mprof__self != NULL && mprof__self->held_count > 0)
        mprof__self->held_count--;
    pthread_mutex_unlock(mutex);
}

bool mprof__recording(void) {
    return mprof__current() != NULL;
}

bool mprof__thread_is_silent(void) {
    return mprof__self != NULL && mprof__self->silent;
}

/* Looks, a millisecond apart, before a thread is given up that left the hook
 * by a jump.  Not a time: the collector may halt all threads for long. */
enum { PATIENCE = 3000 };

static bool has_left(const struct mprof__self *s) {
    struct timespec pause = {0, 1000 * 1000};
    int looks = 0;
    while (s != mprof__self && __atomic_load_n(&s->inside, __ATOMIC_ACQUIRE)) {
        if (++looks > PATIENCE)
            return false;
        if (looks < 100)
            sched_yield();
        else
            nanosleep(&pause, NULL);
    }
    return true;
}

bool mprof__threads_leave(void) {
    struct timespec pause = {0, 20 * 1000 * 1000};
    if (have_membarrier)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    else
        nanosleep(&pause, NULL);
    struct mprof__self *s = __atomic_load_n(&selves, __ATOMIC_ACQUIRE);
    for (; s != NULL; s = s->next)
        if (!has_left(s))
            return false;
    return has_left(&leftover);
}

void mprof__threads_forked(void) {
    struct mprof__self *s = __atomic_load_n(&selves, __ATOMIC_ACQUIRE);
    for (; s != NULL; s = s->next) {
        if (s == mprof__self)
            continue;
        s->inside = 0;
        s->held_count = 0;
        s->dead = 1;
        s->marks = NULL;
    }
    mprof__marks_forked(mprof__self == NULL ? NULL : mprof__self->marks);
    pthread_mutex_init(&leftover_lock, NULL);
    leftover.inside = 0;
}

static void name_thread(struct mprof__arena *arena,
                        struct mprof_thread *record) {
    char text[MPROF__NAME_BYTES];
    mprof__adapter.thread(text, sizeof text);
    if (text[0] != '\0')
        record->name = mprof__arena_string(arena, text, strlen(text));
}

/* The root, which has counters of all classes, for what finds no room. */
static struct mprof_node *make_root(struct mprof__session *session,
                                    mprof_ref thread) {
    struct mprof__arena *arena = &session->arena;
    struct mprof_node *root =
        mprof__arena_record(arena, MPROF_NODE, sizeof *root);
    if (root == NULL)
        return NULL;
    root->thread = thread;
    mprof__arena_publish(arena, root);
    for (unsigned c = 0; c < MPROF_CLASSES; c++)
        if (!mprof__add_counter(session, thread, root, 0, c))
            return NULL;
    return root;
}

/* Go on where a thread that has ended stopped; NULL: there is none. */
static struct mprof__thread *take_over(struct mprof__session *session,
                                       enum mprof_heap heap) {
    struct mprof__thread *thread = session->free_threads[heap];
    if (thread == NULL)
        return NULL;
    session->free_threads[heap] = thread->next_free;
    thread->record->tid = (uint32_t)syscall(SYS_gettid);
    thread->record->flags = 0;
    thread->record->members++;
    return thread;
}

static struct mprof__thread *make_thread(struct mprof__session *session,
                                         enum mprof_heap heap) {
    struct mprof__arena *arena = &session->arena;
    struct mprof__thread *thread = take_over(session, heap);
    if (thread != NULL)
        return thread;
    struct mprof_thread *record =
        mprof__arena_record(arena, MPROF_THREAD, sizeof *record);
    if (record == NULL)
        return NULL;
    record->tid = (uint32_t)syscall(SYS_gettid);
    record->heap = heap;
    record->members = 1;
    mprof_ref ref = mprof__arena_publish(arena, record);
    name_thread(arena, record);
    struct mprof_node *root = make_root(session, ref);
    if (root == NULL)
        return NULL;
    thread = mprof__session_alloc(session, sizeof *thread);
    if (thread == NULL)
        return NULL;
    thread->session = session;
    thread->record = record;
    thread->ref = ref;
    uint32_t number;
    thread->root = mprof__new_link(thread, &number);
    if (thread->root == NULL)
        return NULL;
    thread->root->node = mprof__arena_ref(arena, root);
    thread->chain.record = record;
    thread->chain.patience = 1;
    thread->chain.fewest = SIZE_MAX;
    thread->number = ++session->thread_count[heap];
    thread->next = session->threads;
    __atomic_store_n(&session->threads, thread, __ATOMIC_RELEASE);
    return thread;
}

struct mprof__thread *mprof__thread_self(struct mprof__session *session,
                                         enum mprof_heap heap) {
    struct mprof__self *me = mprof__self;
    mprof__lock(&session->lock);
    struct mprof__thread *thread = make_thread(session, heap);
    mprof__unlock(&session->lock);
    /* What another thread walked before is not on this stack. */
    if (thread != NULL) {
        mprof__chain_forget(&thread->chain);
        thread->chain.marks = me->marks;
        thread->chain.refused = 0;
    }
    /* Also when there was no room: it will not come. */
    me->heap[heap].thread = thread;
    me->heap[heap].id = session->id;
    return thread;
}

void mprof__thread_shrink(struct mprof__thread *thread) {
    mprof__chain_free(&thread->chain);
    mprof__tree_free(thread);
    mprof__table_free(&thread->bins);
    mprof__table_free(&thread->foreign);
    mprof__table_free(&thread->foreign_sizes);
    mprof__unmap(thread->sizes, MPROF__SIZES * sizeof *thread->sizes);
    thread->sizes = NULL;
}
