/* c_record.c - allocations and frees of the C heap.
 *
 * The shadow of an object has its counter, so a free needs no walk.  Each
 * counter has one writer: a thread that frees another thread's object counts
 * that in a counter of its own.
 */
#include <errno.h>
#include <stddef.h>

#include "monitor/base/atomic.h"
#include "monitor/base/objects.h"
#include "monitor/tree/c_counter.h"
#include "monitor/record/c_record.h"
#include "monitor/heap/live.h"
#include "monitor/record/place.h"
#include "monitor/record/recording.h"

/* Of functions that nearly all events take: each begins with a line of the
 * cache, wherever others end. */
#define HOT __attribute__((aligned(MPROF__LINE)))

static uint32_t bin_of(uint64_t bytes) {
    return bytes <= MPROF_LARGEST_BIN ? (uint32_t)bytes : MPROF_LARGEST_BIN + 1;
}

static void add_atomic(uint64_t *count, uint64_t *sum, uint64_t bytes) {
    mprof__add_relaxed(count, 1);
    mprof__add_relaxed(sum, bytes);
}

/* A SIZE of THREAD's for what thread OWNER allocated; NULL: no room. */
static struct mprof_size *add_size(struct mprof__thread *thread,
                                   mprof_ref owner, uint32_t size) {
    struct mprof__session *session = thread->session;
    struct mprof__arena *arena = &session->arena;
    mprof__lock(&session->arena.lock);
    struct mprof_size *record =
        mprof__arena_record(arena, MPROF_SIZE, sizeof *record);
    if (record != NULL) {
        record->thread = owner;
        record->size = size;
        mprof__arena_publish(arena, record);
    }
    mprof__unlock(&session->arena.lock);
    return record;
}

static struct mprof_size *make_size(struct mprof__thread *thread,
                                    uint32_t size) {
    if (thread->sizes == NULL) {
        thread->sizes = mprof__map(MPROF__SIZES * sizeof *thread->sizes);
        if (thread->sizes == NULL)
            return NULL;
    }
    const struct mprof__slot *slot = mprof__table_find(
        &thread->session->sizes, mprof__size_key(thread->ref, size));
    if (slot != NULL)
        thread->sizes[size] = (struct mprof_size *)(uintptr_t)slot->value;
    if (thread->sizes[size] == NULL)
        thread->sizes[size] = add_size(thread, thread->ref, size);
    return thread->sizes[size];
}

static inline struct mprof_size *own_size(struct mprof__thread *thread,
                                          uint32_t size) {
    if (thread->sizes == NULL || thread->sizes[size] == NULL)
        return make_size(thread, size);
    return thread->sizes[size];
}

/* A long run's file on disk is to be up to date now and then. */
static void autosave(struct mprof__thread *thread) {
    uint64_t every = mprof__load_relaxed(&mprof__autosave);
    if (thread->autosave == 0 || thread->autosave > every)
        thread->autosave = every;
    if (--thread->autosave > 0)
        return;
    mprof__arena_clock(&thread->session->arena);
    mprof__arena_flush(&thread->session->arena);
}

/* Return the counter in the tree for an object of CLASS_ and BYTES whose chain
 * THREAD just walked, when COUNTER is the chain's.  *SPILLED: COUNTER is in the
 * spill; else it is the one returned.  It has space for the object; at worst it
 * is the root's. */
static mprof_ref find_owner(struct mprof__thread *thread,
                            const struct mprof_counter *counter,
                            unsigned class_, uint64_t bytes, bool *spilled) {
    struct mprof__session *session = thread->session;
    mprof_ref ref = thread->trees.owner[class_];
    struct mprof_c_counter *owner = mprof__arena_at(&session->arena, ref);
    *spilled = &owner->counter != counter;
    if (mprof__c_counter_prepare(&session->arena, &thread->share, owner, bytes,
                                 *spilled))
        return ref;
    *spilled = false;
    return mprof__root_counter(&thread->trees, class_,
                               (struct mprof_count){1, bytes});
}

static bool place(struct mprof__thread *thread, const void *object,
                  uint64_t bytes, const void *frame) {
    struct mprof__session *session = thread->session;
    struct mprof__arena *arena = &session->arena;
    mprof_ref node = mprof__locate(thread, frame);
    struct mprof_size *size = own_size(thread, bin_of(bytes));
    if (size == NULL) {
        mprof__count_unplaced(session, (struct mprof_count){1, bytes});
        return false;
    }
    unsigned class_ = mprof_size_class(bytes);
    struct mprof_counter *counter = mprof__counter(
        &thread->trees, node, class_, (struct mprof_count){1, bytes});
    bool spilled;
    mprof_ref ref = find_owner(thread, counter, class_, bytes, &spilled);
    mprof__live_add(&thread->share, object, bytes);
    if (spilled)
        mprof__count(&((struct mprof_spill_counter *)counter)->allocated,
                     bytes);
    mprof__c_counter_add(&session->arena, &thread->share,
                         mprof__arena_at(arena, ref), bytes, spilled);
    mprof__count(&size->allocated, bytes);
    if (__builtin_expect(mprof__has_losses(&thread->trees), 0))
        mprof__count_losses(thread, (struct mprof_count){1, bytes});
    struct mprof__object what = {.counter = ref, .bytes = bytes};
    if (!mprof__objects_put(object, what)) {
        struct mprof_header *header = mprof__arena_header(arena);
        add_atomic(&header->untracked_allocs, &header->untracked_bytes, bytes);
    }
    if (__builtin_expect(mprof__autosave != 0, 0))
        autosave(thread);
    return true;
}

/* All that is needed to count an allocation when nothing has to be made. */
struct place {
    struct mprof__thread *thread;
    struct mprof_size *size;
    uint64_t *word; /* the object's, in the shadow */
};

/* The place of OBJECT for ME; false: something has to be made. */
static inline __attribute__((always_inline)) bool
find_place(struct mprof__self *me, const void *object, uint64_t bytes,
           struct place *p) {
    p->thread = me->heap[MPROF_C_HEAP].thread;
    if (me->heap[MPROF_C_HEAP].id != mprof__recording_id() ||
        p->thread == NULL || p->thread->sizes == NULL ||
        bytes > MPROF__MOST_AT_ONCE || mprof__autosave != 0)
        return false;
    p->size = p->thread->sizes[bin_of(bytes)];
    return p->size != NULL &&
           mprof__objects_word(object, &me->shadow, &p->word);
}

/* An object of BYTES is in the counter REF. */
static inline void put(const struct place *p, mprof_ref ref, uint64_t bytes) {
    mprof__count(&p->size->allocated, bytes);
    mprof__store_relaxed(p->word, (uint64_t)ref << 32 | bytes);
}

/* OBJECT in COUNTER; false: it has no room. */
static bool count_in(const struct place *p, struct mprof_c_counter *counter,
                     const void *object, uint64_t bytes) {
    struct mprof__thread *thread = p->thread;
    struct mprof__session *session = thread->session;
    if (!mprof__c_counter_prepare(&session->arena, &thread->share, counter,
                                  bytes, false))
        return false;
    mprof__live_add(&thread->share, object, bytes);
    mprof__c_counter_add(&session->arena, &thread->share, counter, bytes,
                         false);
    put(p, mprof__arena_ref(&session->arena, counter), bytes);
    return true;
}

/* By what is remembered.  False: it is not. */
static bool place_by_walk(const struct place *p, const void *object,
                          uint64_t bytes, const void *frame) {
    struct mprof_counter *counter = mprof__counter_by_walk(
        p->thread, frame, (struct mprof__trail){NULL, NULL},
        mprof_size_class(bytes));
    return counter != NULL &&
           count_in(p, (struct mprof_c_counter *)counter, object, bytes);
}

static bool __attribute__((noinline))
place_slowly(struct mprof__self *me, const void *object, uint64_t bytes,
             const void *frame) {
    int saved = errno;
    struct mprof__session *session = mprof__current();
    struct mprof__thread *thread = NULL;
    bool placed = false;
    if (me != NULL && session != NULL)
        thread = mprof__thread_here(me, session, MPROF_C_HEAP);
    if (session == NULL)
        mprof__recording_absent();
    if (thread != NULL)
        placed = place(thread, object, bytes, frame);
    else if (session != NULL && (me != NULL || !mprof__thread_is_silent()))
        mprof__count_unplaced(session, (struct mprof_count){1, bytes});
    errno = saved;
    return placed;
}

static inline bool place_at(struct mprof__self *me, const void *object,
                            uint64_t bytes, const void *frame) {
    struct place p;
    return (find_place(me, object, bytes, &p) &&
            place_by_walk(&p, object, bytes, frame)) ||
           place_slowly(me, object, bytes, frame);
}

bool mprof__c_place(struct mprof__self *me, const void *object, uint64_t bytes,
                    const void *frame) {
    return me == NULL ? place_slowly(me, object, bytes, frame)
                      : place_at(me, object, bytes, frame);
}

/* The same when ME is inside already and leaves here, or is NULL.  BY_RULES: a
 * walk by cells led nowhere, or there was no room. */
static void __attribute__((noinline))
allocated_slowly(struct mprof__self *me, const void *object, uint64_t bytes,
                 const void *frame, bool by_rules) {
    if (me == NULL) {
        place_slowly(me, object, bytes, frame);
        return;
    }
    if (mprof__guard(me)) {
        if (by_rules)
            place_slowly(me, object, bytes, frame);
        else
            place_at(me, object, bytes, frame);
    }
    mprof__leave(me);
}

/* ... when it is to enter at STACK, which took more than usual. */
static void __attribute__((noinline))
enter_and_allocate(const void *object, uint64_t bytes, const void *frame,
                   uintptr_t stack) {
    allocated_slowly(mprof__enter_slowly(stack), object, bytes, frame, false);
}

/* Mostly the chain is remembered, and nothing has to be made. */
HOT void mprof__c_allocated(const void *object, uint64_t bytes,
                            const void *frame) {
    uintptr_t stack = mprof__stack();
    struct mprof__self *me = mprof__enter_quickly(stack);
    bool by_rules = false;
    struct place p;
    if (__builtin_expect(me == NULL, 0)) {
        enter_and_allocate(object, bytes, frame, stack);
        return;
    }
    if (__builtin_expect(find_place(me, object, bytes, &p), 1)) {
        const struct mprof__memo *memo = &p.thread->memo;
        struct mprof_counter *counter = mprof__counter_quickly(
            me, p.thread, frame, mprof_size_class(bytes));
        if (__builtin_expect(counter != NULL, 1)) {
            struct mprof_c_counter *own = (struct mprof_c_counter *)counter;
            bool is_quick = mprof__c_counter_is_quick(&p.thread->share, own,
                                                      mprof__c_one(bytes));
            if (!is_quick && !mprof__c_counter_is_wide(own)) {
                allocated_slowly(me, object, bytes, frame, false);
                return;
            }
            mprof__live_add(&p.thread->share, object, bytes);
            if (is_quick)
                mprof__c_counter_allocated(&p.thread->share, own, bytes, false);
            else
                mprof__c_wide_allocated(memo->base, &p.thread->share, own,
                                        bytes, false);
            put(&p, mprof__ref_from(memo->base, counter), bytes);
            mprof__leave_quickly(me);
            return;
        }
        by_rules = true;
    }
    allocated_slowly(me, object, bytes, frame, by_rules);
}

void mprof__c_failed(void) {
    struct mprof__self *me = mprof__enter();
    struct mprof__session *session = mprof__current();
    if (session != NULL && !mprof__thread_is_silent())
        mprof__add_relaxed(&mprof__arena_header(&session->arena)->failed_allocs,
                           1);
    if (me != NULL)
        mprof__leave(me);
}

/* Return the record of THREAD's frees of objects that COUNTER, another
 * thread's, has counted; NULL: no space. */
static struct mprof_freed *foreign_counter(struct mprof__thread *thread,
                                           mprof_ref counter) {
    struct mprof__session *session = thread->session;
    struct mprof__arena *arena = &session->arena;
    struct mprof__slot *slot = mprof__table_find(&thread->foreign, counter);
    if (slot != NULL)
        return (struct mprof_freed *)(uintptr_t)slot->value;
    mprof__lock(&session->arena.lock);
    struct mprof_freed *ours = NULL;
    if (mprof__arena_has_room(arena, MPROF__FOR_COUNTERS))
        ours = mprof__arena_record(arena, MPROF_FREED, sizeof *ours);
    if (ours != NULL) {
        ours->thread = thread->ref;
        ours->counter = counter;
        mprof__arena_publish(arena, ours);
    }
    mprof__unlock(&session->arena.lock);
    if (ours != NULL)
        mprof__table_add(&thread->foreign, counter, (uintptr_t)ours);
    return ours;
}

static struct mprof_size *foreign_size(struct mprof__thread *thread,
                                       mprof_ref owner, uint32_t size) {
    uint64_t key = mprof__size_key(owner, size);
    struct mprof__slot *slot = mprof__table_find(&thread->foreign_sizes, key);
    if (slot != NULL)
        return (struct mprof_size *)(uintptr_t)slot->value;
    struct mprof_size *record = add_size(thread, owner, size);
    if (record != NULL)
        mprof__table_add(&thread->foreign_sizes, key, (uintptr_t)record);
    return record;
}

/* BYTES that another thread has allocated live no more. */
static void end_foreign_life(struct mprof__thread *thread,
                             struct mprof_freed *ours, uint64_t bytes) {
    struct mprof__share *share = &thread->share;
    mprof__live_subtract(share, bytes);
    uint64_t peak = (uint64_t)mprof__load_relaxed(&share->peak);
    if (ours->stamp != peak) {
        mprof__store_relaxed(&ours->at_peak.allocs, ours->freed.allocs);
        mprof__store_relaxed(&ours->at_peak.bytes, ours->freed.bytes);
        mprof__order_for_handlers();
        mprof__store_relaxed(&ours->stamp, peak);
    }
    share->last = NULL;
    mprof__sum_add(ours->lifetime, share->clock);
    mprof__count(&ours->freed, bytes);
}

static bool count_free(struct mprof__thread *thread,
                       const struct mprof__object *what) {
    struct mprof__arena *arena = &thread->session->arena;
    struct mprof_c_counter *counter = mprof__arena_at(arena, what->counter);
    mprof_ref owner = counter->thread;
    struct mprof_freed *ours = NULL;
    struct mprof_size *size;
    bool is_own = owner == thread->ref;
    if (is_own) {
        size = own_size(thread, bin_of(what->bytes));
    } else {
        ours = foreign_counter(thread, what->counter);
        size = foreign_size(thread, owner, bin_of(what->bytes));
    }
    if (size == NULL || (!is_own && ours == NULL))
        return false;
    if (is_own) {
        mprof__live_subtract(&thread->share, what->bytes);
        mprof__c_counter_free(&thread->session->arena, &thread->share, counter,
                              what->at, what->bytes);
    } else {
        end_foreign_life(thread, ours, what->bytes);
    }
    mprof__count(&size->freed, what->bytes);
    return true;
}

struct mprof__session *mprof__c_enter_open(struct mprof__self **me,
                                           uintptr_t stack) {
    for (;;) {
        *me = mprof__enter_slowly(stack);
        struct mprof__session *session = mprof__tracked();
        if (*me == NULL || session == NULL ||
            mprof__load_acquire(&session->open))
            return session;
        /* It is complete: whoever completes it waits for who is inside. */
        mprof__leave(*me);
        if (!mprof__reopen(session)) {
            *me = mprof__enter_slowly(stack);
            return NULL;
        }
    }
}

bool mprof__c_forget(struct mprof__session *session, const void *object,
                     struct mprof__object *what) {
    if (session == NULL)
        return false;
    what->session = session->id;
    what->at = object;
    if (mprof__objects_take(object, what))
        return true;
    if (session == mprof__current() && !mprof__thread_is_silent())
        mprof__add_relaxed(&mprof__arena_header(&session->arena)->unknown_frees,
                           1);
    return false;
}

bool mprof__c_drop(const struct mprof__self *me, struct mprof__session *session,
                   const struct mprof__object *what) {
    if (session == NULL || session->id != what->session)
        return false;
    struct mprof__thread *thread =
        me == NULL ? NULL : mprof__thread_here(me, session, MPROF_C_HEAP);
    struct mprof_header *header = mprof__arena_header(&session->arena);
    if (thread != NULL && count_free(thread, what))
        return true;
    add_atomic(&header->unplaced_frees, &header->unplaced_freed_bytes,
               what->bytes);
    return false;
}

/* Count OBJECT, which the recording has and its own thread frees; false: it is
 * none such.  While there is a recording its data file may be changed. */
static inline __attribute__((always_inline)) bool
release_quickly(struct mprof__self *me, const void *object) {
    struct mprof__thread *thread = me->heap[MPROF_C_HEAP].thread;
    if (me->heap[MPROF_C_HEAP].id != mprof__recording_id() || thread == NULL ||
        thread->sizes == NULL)
        return false;
    uint64_t *word;
    if (!mprof__objects_word(object, &me->shadow, &word))
        return false;
    uint64_t what = mprof__load_relaxed(word);
    uint32_t bytes = (uint32_t)what;
    if (what == 0 || bytes == UINT32_MAX)
        return false;
    struct mprof_c_counter *counter =
        mprof__arena_at(&thread->session->arena, (mprof_ref)(what >> 32));
    struct mprof_size *size = thread->sizes[bin_of(bytes)];
    if (counter->thread != thread->ref || size == NULL)
        return false;
    bool is_quick = mprof__c_counter_frees(&thread->share, counter);
    if (!is_quick && !mprof__c_counter_is_wide(counter))
        return false;
    mprof__store_relaxed(word, 0);
    mprof__live_subtract(&thread->share, bytes);
    if (is_quick)
        mprof__c_counter_freed(&thread->share, counter, object, bytes);
    else
        mprof__c_wide_freed(thread->session->arena.base, &thread->share,
                            counter, object, bytes);
    mprof__count(&size->freed, bytes);
    return true;
}

static void __attribute__((noinline))
release_slowly(const void *object, uintptr_t stack) {
    int saved = errno;
    struct mprof__self *me;
    struct mprof__object what;
    struct mprof__session *session = mprof__c_enter_open(&me, stack);
    if ((me == NULL || mprof__guard(me)) &&
        mprof__c_forget(session, object, &what))
        mprof__c_drop(me, session, &what);
    if (me != NULL)
        mprof__leave(me);
    errno = saved;
}

HOT void mprof__c_release(const void *object) {
    uintptr_t stack = mprof__stack();
    struct mprof__self *me = mprof__enter_quickly(stack);
    if (__builtin_expect(me != NULL, 1)) {
        bool released = release_quickly(me, object);
        mprof__leave_quickly(me);
        if (__builtin_expect(released, 1))
            return;
    }
    /* Perhaps the data file must be opened again, from outside of the hook. */
    release_slowly(object, stack);
}

/* Nothing of this chain gets a place. */
static bool has_handler(struct mprof__chain *chain, const void *frame,
                        uintptr_t place) {
    mprof__walk(chain, frame);
    for (size_t i = chain->count; i > 0; i--) {
        const struct mprof__frame *f = &chain->frames[i - 1];
        if (f->low >= place)
            return false;
        if (f->exact)
            return true;
    }
    return false;
}

bool mprof__c_interrupts(const void *frame, uintptr_t place) {
    struct mprof__self *me = mprof__enter_slowly(mprof__stack());
    struct mprof__session *session = mprof__current();
    struct mprof__thread *thread = NULL;
    /* Inside of the hook, as before a free, no allocator works. */
    bool found = me == NULL && mprof__self != NULL;
    if (me != NULL && session != NULL && mprof__guard(me)) {
        thread = mprof__thread_here(me, session, MPROF_C_HEAP);
        found = thread != NULL && has_handler(&thread->chain, frame, place);
    }
    if (me != NULL)
        mprof__leave(me);
    return found;
}

bool mprof__c_take(const void *object, struct mprof__object *what) {
    struct mprof__self *me;
    struct mprof__session *session = mprof__c_enter_open(&me, mprof__stack());
    bool found = (me == NULL || mprof__guard(me)) &&
                 mprof__c_forget(session, object, what);
    if (me != NULL) {
        mprof__store_relaxed(&me->moves, found && !me->shared);
        mprof__leave(me);
    }
    return found;
}

/* The thread may have no state of its own any more. */
void mprof__c_moved(void) {
    struct mprof__self *me = mprof__self;
    if (me != NULL)
        mprof__store_relaxed(&me->moves, false);
}

void mprof__c_freed(const struct mprof__object *what) {
    struct mprof__self *me;
    struct mprof__session *session = mprof__c_enter_open(&me, mprof__stack());
    if (me == NULL || mprof__guard(me))
        mprof__c_drop(me, session, what);
    if (me != NULL)
        mprof__leave(me);
}

void mprof__c_untake(const void *object, const struct mprof__object *what) {
    struct mprof__self *me = mprof__enter();
    struct mprof__session *session = mprof__tracked();
    if (session != NULL && session->id == what->session)
        mprof__objects_put(object, *what);
    if (me != NULL)
        mprof__leave(me);
}
