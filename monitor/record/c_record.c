/* c_record.c - allocations of the C heap; see c_free.c for frees. */
#include <errno.h>
#include <stddef.h>

#include "monitor/base/atomic.h"
#include "monitor/base/objects.h"
#include "monitor/tree/c_counter.h"
#include "monitor/record/c_record.h"
#include "monitor/record/c_size.h"
#include "monitor/heap/live.h"
#include "monitor/record/find_counter.h"
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
    struct mprof__object what = {.counter = ref, .bytes = bytes};
    if (!mprof__objects_put(object, what)) {
        struct mprof_header *header = mprof__arena_header(arena);
        mprof__count_atomic(&header->untracked_allocs, &header->untracked_bytes,
                            bytes);
    }
    if (__builtin_expect(mprof__load_relaxed(&mprof__autosave) != 0, 0))
        autosave(thread);
    return true;
}

/* All that is needed to count an allocation when nothing has to be made. */
struct ready {
    struct mprof__thread *thread;
    struct mprof_size *size;
    uint64_t *word; /* the object's, in the shadow */
};

/* Find P, which counts OBJECT for ME; false: something has to be made. */
static inline __attribute__((always_inline)) bool
get_ready(struct mprof__self *me, const void *object, uint64_t bytes,
          struct ready *p) {
    p->thread = me->heap[MPROF_C_HEAP].thread;
    if (me->heap[MPROF_C_HEAP].id != mprof__recording_id() ||
        p->thread == NULL || p->thread->sizes == NULL ||
        bytes > MPROF__MOST_AT_ONCE ||
        mprof__load_relaxed(&mprof__autosave) != 0)
        return false;
    p->size = p->thread->sizes[mprof__size_bin(bytes)];
    return p->size != NULL &&
           mprof__objects_word(object, &me->shadow, &p->word);
}

/* An object of BYTES is in the counter REF. */
static inline void put(const struct ready *p, mprof_ref ref, uint64_t bytes) {
    mprof__count(&p->size->allocated, bytes);
    mprof__store_relaxed(p->word, (uint64_t)ref << 32 | bytes);
}

/* OBJECT in COUNTER; false: it has no room. */
static bool count_in(const struct ready *p, struct mprof_c_counter *counter,
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
static bool count_by_cells(const struct ready *p, const void *object,
                           uint64_t bytes, const void *frame) {
    struct mprof_counter *counter = mprof__counter_by_cells(
        p->thread, frame, (struct mprof__trail){NULL, NULL},
        mprof_size_class(bytes));
    return counter != NULL &&
           count_in(p, (struct mprof_c_counter *)counter, object, bytes);
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
    struct ready p;
    return (me != NULL && get_ready(me, object, bytes, &p) &&
            count_by_cells(&p, object, bytes, frame)) ||
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

/* Mostly the chain is remembered, and nothing has to be made. */
MPROF__HOT void mprof__c_allocated(const void *object, uint64_t bytes,
                                   const void *frame) {
    uintptr_t stack = mprof__stack();
    struct mprof__self *me = mprof__enter_quickly(stack);
    bool by_rules = false;
    struct ready p;
    if (__builtin_expect(me == NULL, 0)) {
        enter_and_allocate(object, bytes, frame, stack);
        return;
    }
    if (__builtin_expect(get_ready(me, object, bytes, &p), 1)) {
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
    bool found = me == NULL && mprof__self != NULL;
    if (me != NULL && session != NULL && mprof__guard(me)) {
        thread = mprof__thread_here(me, session, MPROF_C_HEAP);
        found = thread != NULL && has_handler(&thread->chain, frame, stack);
    }
    mprof__leave(me);
    return found;
}
