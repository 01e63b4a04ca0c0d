/* c_record.c - allocations of the C heap; see c_free.c for frees. */
#include <errno.h>
#include <stddef.h>

#include "monitor/base/atomic.h"
#include "monitor/base/objects.h"
#include "monitor/record/c_quick.h"
#include "monitor/record/c_record.h"
#include "monitor/record/recording.h"

/* A long run's file on disk is to be up to date now and then. */
static void autosave(struct mprof__thread *thread) {
    uint64_t every = mprof__load_relaxed(&mprof__autosave);
    if (thread->until_autosave == 0 || thread->until_autosave > every)
        thread->until_autosave = every;
    if (--thread->until_autosave > 0)
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

/* OBJECT of BYTES has the counter REF.  Its free will not be known if there is
 * no memory for that.  errno stays. */
static void __attribute__((noinline))
put_slowly(struct mprof__arena *arena, const void *object, mprof_ref ref,
           uint64_t bytes) {
    struct mprof__object what = {.counter = ref, .bytes = bytes};
    struct mprof_header *header = mprof__arena_header(arena);
    int saved = errno;
    if (!mprof__objects_put(object, what))
        mprof__count_atomic(&header->untracked_allocs, &header->untracked_bytes,
                            bytes);
    errno = saved;
}

static bool count_by_rules(struct mprof__thread *thread, const void *object,
                           uint64_t bytes, const void *frame) {
    struct mprof__session *session = thread->session;
    struct mprof__arena *arena = &session->arena;
    mprof_ref node = mprof__node_by_rules(thread, frame);
    struct mprof_size *size = mprof__own_size(thread, mprof__size_bin(bytes));
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
    put_slowly(arena, object, ref, bytes);
    if (__builtin_expect(mprof__load_relaxed(&mprof__autosave) != 0, 0))
        autosave(thread);
    return true;
}

/* Where an object is counted beside its counter: all of it is there. */
struct places {
    struct mprof_size *size;
    uint32_t *entry; /* in the shadow */
};

/* Does ME record by nothing but counting events? */
static inline bool only_counts(const struct mprof__self *me) {
    return mprof__c_records(me) && mprof__load_relaxed(&mprof__autosave) == 0;
}

/* False: one of them has to be made. */
static inline bool find_places(struct mprof__self *me,
                               const struct mprof__thread *thread,
                               const void *object, uint64_t bytes,
                               struct places *p) {
    p->size = thread->sizes[mprof__size_bin(bytes)];
    return p->size != NULL && bytes >> MPROF__BYTES_BITS == 0 &&
           mprof__objects_entry(object, &me->shadow, &p->entry);
}

/* OBJECT of BYTES is in the counter REF. */
static inline __attribute__((always_inline)) void
put(struct mprof__thread *thread, const struct places *p, const void *object,
    mprof_ref ref, uint64_t bytes) {
    mprof__count(&p->size->allocated, bytes);
    if (!mprof__entry_write(p->entry, ref, bytes))
        put_slowly(&thread->session->arena, object, ref, bytes);
}

/* OBJECT in COUNTER; false: it has no room. */
static bool count_in(struct mprof__thread *thread, const struct places *p,
                     struct mprof_c_counter *counter, const void *object,
                     uint64_t bytes) {
    struct mprof__session *session = thread->session;
    if (!mprof__c_counter_prepare(&session->arena, &thread->share, counter,
                                  bytes, false))
        return false;
    mprof__live_add(&thread->share, object, bytes);
    mprof__c_counter_add(&session->arena, &thread->share, counter, bytes,
                         false);
    put(thread, p, object, mprof__arena_ref(&session->arena, counter), bytes);
    return true;
}

/* By what is remembered.  False: it is not. */
static bool count_by_cells(struct mprof__self *me, const void *object,
                           uint64_t bytes, const void *frame) {
    struct mprof__thread *thread = me->heap[MPROF_C_HEAP].thread;
    struct places p;
    if (!only_counts(me) || !find_places(me, thread, object, bytes, &p))
        return false;
    struct mprof_counter *counter = mprof__counter_by_cells(
        thread, frame, (struct mprof__trail){NULL, NULL},
        mprof_size_class(bytes));
    return counter != NULL &&
           count_in(thread, &p, (struct mprof_c_counter *)counter, object,
                    bytes);
}

static bool __attribute__((noinline))
count_slowly(struct mprof__self *me, const void *object, uint64_t bytes,
             const void *frame) {
    int saved = errno;
    struct mprof__session *session = mprof__current();
    struct mprof__thread *thread = NULL;
    bool counted = false;
    if (me != NULL && session != NULL)
        thread = mprof__thread_here(me, session, MPROF_C_HEAP);
    if (session == NULL)
        mprof__recording_absent();
    if (thread != NULL)
        counted = count_by_rules(thread, object, bytes, frame);
    else if (session != NULL && (me != NULL || !mprof__thread_is_silent()))
        mprof__count_unplaced(session, (struct mprof_count){1, bytes});
    errno = saved;
    return counted;
}

bool mprof__c_count(struct mprof__self *me, const void *object, uint64_t bytes,
                    const void *frame) {
    return (me != NULL && count_by_cells(me, object, bytes, frame)) ||
           count_slowly(me, object, bytes, frame);
}

/* The same when ME is inside already and leaves here, or is NULL.  BY_RULES: a
 * walk by cells led nowhere, or there was no room. */
static void __attribute__((noinline))
allocated_slowly(struct mprof__self *me, const void *object, uint64_t bytes,
                 const void *frame, bool by_rules) {
    if (me == NULL || mprof__guard(me)) {
        if (by_rules)
            count_slowly(me, object, bytes, frame);
        else
            mprof__c_count(me, object, bytes, frame);
    }
    mprof__leave(me);
}

/* ... when it is to enter at STACK, which took more than usual. */
static void __attribute__((noinline))
enter_and_allocate(const void *object, uint64_t bytes, const void *frame,
                   uintptr_t stack) {
    allocated_slowly(mprof__enter_slowly(stack), object, bytes, frame, false);
}

/* The same when the chain has COUNTER, and IS_RAISED: the object is among what
 * lives, and mprof__live_slowly() is to be called. */
static inline __attribute__((always_inline)) void
count_found(struct mprof__self *me, const void *object, uint64_t bytes,
            const void *frame, struct mprof_c_counter *counter,
            bool is_raised) {
    struct mprof__thread *thread = me->heap[MPROF_C_HEAP].thread;
    struct mprof__share *share = &thread->share;
    struct places p;
    bool is_quick =
        mprof__c_counter_is_quick(share, counter, mprof__c_one(bytes));
    if (!find_places(me, thread, object, bytes, &p) ||
        (!is_quick && !mprof__c_counter_is_wide(counter))) {
        allocated_slowly(me, object, bytes, frame, false);
        return;
    }
    if (is_raised || !mprof__live_raise(share, bytes))
        mprof__live_slowly(share, (int64_t)bytes);
    mprof__live_pass_on(share, object, bytes);
    if (is_quick)
        mprof__c_counter_allocated(share, counter, bytes, false);
    else
        mprof__c_wide_allocated(thread->memo.base, share, counter, bytes,
                                false);
    put(thread, &p, object, mprof__ref_from(thread->memo.base, counter), bytes);
    mprof__leave_quickly(me);
}

void *__attribute__((noinline))
mprof__c_allocated_elsewhere(struct mprof__self *me, void *object,
                             uint64_t bytes, const void *frame,
                             struct mprof__cell *first,
                             struct mprof__cell *last) {
    struct mprof_counter *counter = mprof__counter_guarded(
        me, me->heap[MPROF_C_HEAP].thread, frame,
        (struct mprof__trail){first, last}, mprof_size_class(bytes));
    if (counter == NULL)
        allocated_slowly(me, object, bytes, frame, true);
    else
        count_found(me, object, bytes, frame, (struct mprof_c_counter *)counter,
                    false);
    return object;
}

void *__attribute__((noinline))
mprof__c_put_slowly(struct mprof__self *me, void *object, uint64_t bytes,
                    mprof_ref ref) {
    put_slowly(&me->heap[MPROF_C_HEAP].thread->session->arena, object, ref,
               bytes);
    mprof__leave_quickly(me);
    return object;
}

void *__attribute__((noinline))
mprof__c_allocated_in(struct mprof__self *me, void *object, uint64_t bytes,
                      const void *frame, struct mprof_c_counter *counter,
                      bool is_raised) {
    count_found(me, object, bytes, frame, counter, is_raised);
    return object;
}

/* Mostly the chain is remembered, and nothing has to be made: then nothing is
 * called, and no register has to be saved. */
MPROF__HOT void mprof__c_allocated(const void *object, uint64_t bytes,
                                   const void *frame) {
    uintptr_t stack = mprof__frame_position(frame);
    struct mprof__self *me = mprof__enter_quickly(stack);
    if (__builtin_expect(me == NULL, 0))
        enter_and_allocate(object, bytes, frame, stack);
    else if (__builtin_expect(!only_counts(me), 0))
        allocated_slowly(me, object, bytes, frame, false);
    else
        mprof__c_allocated_quickly(me, (void *)(uintptr_t)object, bytes, frame);
}

void mprof__c_failed(void) {
    struct mprof__self *me = mprof__enter();
    struct mprof__session *session = mprof__current();
    if (session != NULL && !mprof__thread_is_silent())
        mprof__add_relaxed(&mprof__arena_header(&session->arena)->failed_allocs,
                           1);
    mprof__leave(me);
}

/* Counts nothing of this chain. */
static bool has_handler(struct mprof__chain *chain, const void *frame,
                        uintptr_t stack) {
    mprof__walk(chain, frame);
    for (size_t i = chain->count; i > 0; i--) {
        const struct mprof__frame *f = &chain->frames[i - 1];
        if (f->low >= stack)
            return false;
        if (f->exact)
            return true;
    }
    return false;
}

bool mprof__c_interrupts(const void *frame, uintptr_t stack) {
    struct mprof__self *me = mprof__enter_slowly(mprof__stack());
    struct mprof__session *session = mprof__current();
    struct mprof__thread *thread = NULL;
    /* Inside of the hook, as before a free, no allocator works. */
    bool found = me == NULL && mprof__self != &mprof__nobody;
    if (me != NULL && session != NULL && mprof__guard(me)) {
        thread = mprof__thread_here(me, session, MPROF_C_HEAP);
        found = thread != NULL && has_handler(&thread->chain, frame, stack);
    }
    mprof__leave(me);
    return found;
}
