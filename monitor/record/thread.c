/* thread.c - each thread's part of a session; see thread.h. */
#define _GNU_SOURCE
#include "monitor/record/thread.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/names/names.h"
#include "monitor/names/sites.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Threads of a heap that have a record of their own for good.  A program that
 * starts thousands must not fill the data file with their trees. */
enum { OWN_RECORDS = 64, OWN_RECORDS_WHEN_FULL = 8 };

/* Ended threads, of the others, that keep their memory for the thread that goes
 * on with their record: to map it again takes longer than all else that a
 * thread needs. */
enum { MOST_READY = 64 };

static uint32_t last_tree; /* atomic */

struct mprof_size *mprof__no_sizes[MPROF__SIZES];

static void begin_chain(struct mprof__thread *thread, uint32_t number) {
    mprof__chain_begin(&thread->chain, mprof__site_of, &thread->session->names,
                       thread->record);
    thread->chain.number = number;
}

static void unmap_sizes(struct mprof__thread *thread) {
    if (thread->sizes != mprof__no_sizes)
        mprof__unmap(thread->sizes, MPROF__SIZES * sizeof *thread->sizes);
    thread->sizes = mprof__no_sizes;
}

/* Where the sizes of THREAD are; under the lock. */
static void park_sizes(struct mprof__thread *thread) {
    struct mprof__table *table = &thread->session->sizes;
    for (uint32_t i = 0; i < MPROF__SIZES; i++) {
        uint64_t key = mprof__size_key(thread->ref, i);
        if (thread->sizes[i] != NULL && mprof__table_find(table, key) == NULL)
            mprof__table_add(table, key, (uintptr_t)thread->sizes[i]);
    }
    unmap_sizes(thread);
}

/* Give back what THREAD only remembers. */
static void forget(struct mprof__thread *thread) {
    uint32_t number = thread->chain.number;
    mprof__memo_free(&thread->memo);
    mprof__chain_free(&thread->chain);
    begin_chain(thread, number);
    mprof__tree_forget(&thread->trees.tree);
    mprof__lock(&thread->session->arena.lock);
    park_sizes(thread);
    mprof__unlock(&thread->session->arena.lock);
}

/* THREAD has ended, and another will count on in its record. */
static void park(struct mprof__thread *thread, enum mprof_heap heap) {
    struct mprof__session *session = thread->session;
    if (mprof__load_relaxed(&session->ready[heap]) >= MOST_READY)
        forget(thread);
    mprof__lock(&session->arena.lock);
    if (thread->chain.first != NULL)
        mprof__add_relaxed(&session->ready[heap], 1);
    thread->next_free = session->free_threads[heap];
    session->free_threads[heap] = thread;
    mprof__unlock(&session->arena.lock);
}

/* Does THREAD, which ends, have its record for good?  When the tree is full, a
 * spill and totals take what room there is, and serve the next thread as well.
 */
static bool keeps_record(const struct mprof__thread *thread) {
    bool full =
        !mprof__arena_has_room(&thread->session->arena, MPROF__FOR_CHAINS);
    return thread->number <= (full ? OWN_RECORDS_WHEN_FULL : OWN_RECORDS);
}

void mprof__thread_retire(struct mprof__thread *thread, enum mprof_heap heap) {
    if (keeps_record(thread))
        mprof__thread_shrink(thread);
    else
        park(thread, heap);
}

static void end_in_heap(struct mprof__self *me, enum mprof_heap heap,
                        struct mprof__session *session) {
    struct mprof__thread *thread = me->heap[heap].thread;
    if (session != NULL && thread != NULL && me->heap[heap].id == session->id) {
        /* A file that is complete stays as it is. */
        if (mprof__load_acquire(&session->open))
            mprof__store_relaxed(&thread->record->flags,
                                 thread->record->flags | MPROF_THREAD_ENDED);
        if (heap == MPROF_C_HEAP)
            mprof__live_leave(&thread->share);
        mprof__thread_retire(thread, heap);
    }
    me->heap[heap].thread = NULL;
    me->heap[heap].id = MPROF__NO_ID;
}

void mprof__threads_end(struct mprof__session *session) {
    if (mprof__adapter.has_ended == NULL)
        return;
    mprof__lock(&session->arena.lock);
    struct mprof__thread *thread = session->threads;
    for (; thread != NULL; thread = thread->next)
        if (thread->self != 0 && mprof__adapter.has_ended(thread->self))
            mprof__store_relaxed(&thread->record->flags,
                                 thread->record->flags | MPROF_THREAD_ENDED);
    mprof__unlock(&session->arena.lock);
}

static void thread_ends(struct mprof__self *me) {
    struct mprof__session *session = mprof__tracked();
    for (int heap = 0; heap < MPROF_HEAPS; heap++)
        end_in_heap(me, heap, session);
    if (me->marks != NULL)
        mprof__marks_give(me->marks);
    me->marks = NULL;
}

static void initialize(void) {
    mprof__keep_current();
    mprof__selves_initialize(thread_ends);
}

void mprof__threads_initialize(void) {
    pthread_once(&once, initialize);
}

void mprof__threads_forked(void) {
    mprof__selves_forked();
    mprof__marks_forked(mprof__self->marks);
}

void mprof__thread_unwinding(uintptr_t frame) {
    if (MPROF__HAS_MARKS)
        mprof__marks_unwinding(frame);
    if (frame == 0)
        return;
    /* A signal handler must not set marks meanwhile. */
    struct mprof__self *me = mprof__self->marks == NULL ? NULL : mprof__enter();
    if (me != NULL)
        mprof__marks_lift(me->marks);
    mprof__leave(me);
}

/* While it lasts, the number of the recording is one that none has: so each
 * allocation comes by the longer way, and is asked whose it is. */
void mprof__thread_silence(bool begins) {
    /* There was no beginning if nothing was recorded then. */
    if (!begins && mprof__self->silences == 0)
        return;
    struct mprof__self *me = mprof__enter();
    if (me == NULL)
        return;
    if (begins && me->silences++ == 0) {
        me->silent_id = me->heap[MPROF_LISP_HEAP].id;
        me->heap[MPROF_LISP_HEAP].id = MPROF__NO_ID;
    } else if (!begins && me->silences > 0 && --me->silences == 0) {
        me->heap[MPROF_LISP_HEAP].id = me->silent_id;
    }
    mprof__leave(me);
}

static void name_thread(struct mprof__session *session,
                        struct mprof_thread *record) {
    char *text = mprof__name_new(&session->names, MPROF_C)->text;
    mprof__adapter.thread(text, MPROF__NAME_BYTES);
    if (text[0] != '\0')
        record->name = mprof__arena_string(&session->arena, text, strlen(text));
}

/* Go on where a thread that has ended stopped; NULL: there is none. */
static struct mprof__thread *take_over(struct mprof__session *session,
                                       enum mprof_heap heap) {
    struct mprof__thread *thread = session->free_threads[heap];
    if (thread == NULL)
        return NULL;
    session->free_threads[heap] = thread->next_free;
    if (thread->chain.first != NULL)
        mprof__sub_relaxed(&session->ready[heap], 1);
    thread->record->tid = (uint32_t)syscall(SYS_gettid);
    thread->record->flags &= ~(uint32_t)MPROF_THREAD_ENDED;
    thread->record->members++;
    return thread;
}

/* A thread with a record, but without a tree; under the lock. */
static struct mprof__thread *add_thread(struct mprof__session *session,
                                        enum mprof_heap heap) {
    struct mprof__arena *arena = &session->arena;
    struct mprof_thread *record =
        mprof__arena_record(arena, MPROF_THREAD, sizeof *record);
    if (record == NULL)
        return NULL;
    record->tid = (uint32_t)syscall(SYS_gettid);
    record->heap = heap;
    record->flags = heap == MPROF_LISP_HEAP && session->alive.mode != 0
                        ? MPROF_THREAD_LIVES
                        : 0;
    record->members = 1;
    mprof_ref ref = mprof__arena_publish(arena, record);
    name_thread(session, record);
    char *memory = mprof__chunks_alloc(
        &session->memory, sizeof(struct mprof__thread) + MPROF__LINE);
    if (memory == NULL)
        return NULL;
    struct mprof__thread *thread =
        (void *)(memory + -(uintptr_t)memory % MPROF__LINE);
    thread->session = session;
    thread->record = record;
    thread->ref = ref;
    thread->sizes = mprof__no_sizes;
    thread->memo.trees = &thread->trees;
    thread->trees.arena = arena;
    thread->trees.chain = &thread->chain;
    thread->trees.record = record;
    thread->trees.ref = ref;
    thread->trees.shows.names = &session->names;
    thread->trees.shows.is_lisp = heap == MPROF_LISP_HEAP;
    thread->trees.lives = heap == MPROF_LISP_HEAP && session->alive.mode != 0;
    mprof__live_enter(&session->live, &thread->share, record);
    begin_chain(thread, mprof__add_relaxed(&last_tree, 1));
    return thread;
}

static struct mprof__thread *make_thread(struct mprof__session *session,
                                         enum mprof_heap heap) {
    mprof__lock(&session->arena.lock);
    struct mprof__thread *thread = take_over(session, heap);
    bool is_new = thread == NULL;
    if (is_new)
        thread = add_thread(session, heap);
    mprof__unlock(&session->arena.lock);
    if (thread == NULL || !is_new)
        return thread;
    if (!mprof__trees_begin(&thread->trees))
        return NULL;
    mprof__lock(&session->arena.lock);
    thread->number = ++session->thread_count[heap];
    thread->next = session->threads;
    mprof__store_release(&session->threads, thread);
    mprof__unlock(&session->arena.lock);
    return thread;
}

struct mprof__thread *mprof__thread_self(struct mprof__session *session,
                                         enum mprof_heap heap) {
    struct mprof__self *me = mprof__self;
    if (me->heap[heap].id == ~session->id)
        return NULL; /* there was no room, and will be none */
    struct mprof__thread *thread = make_thread(session, heap);
    /* Frames that another thread walked are not on this stack. */
    if (thread != NULL) {
        thread->self = mprof__adapter.self == NULL ? 0 : mprof__adapter.self();
        thread->chain.generation = 0;
        thread->memo.generation = 0;
        thread->memo.base = session->arena.base;
        thread->memo.deepest = 0;
        thread->chain.marks = me->marks;
        thread->chain.refused = 0;
    }
    me->heap[heap].thread = thread;
    me->heap[heap].id = thread == NULL ? ~session->id : session->id;
    return thread;
}

void mprof__thread_shrink(struct mprof__thread *thread) {
    mprof__memo_free(&thread->memo);
    mprof__chain_free(&thread->chain);
    mprof__tree_free(&thread->trees.tree);
    mprof__spill_free(&thread->trees.spill);
    mprof__shows_free(&thread->trees.shows);
    mprof__table_free(&thread->bins);
    mprof__table_free(&thread->foreign);
    mprof__table_free(&thread->foreign_sizes);
    unmap_sizes(thread);
}
