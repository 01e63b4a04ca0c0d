/* c_free.c - frees of the C heap.
 *
 * The shadow of an object has its counter, so a free needs no walk.  Each
 * counter has one writer: a thread that frees another thread's object counts
 * that in a counter of its own.
 */
#include <errno.h>
#include <stddef.h>

#include "monitor/base/atomic.h"
#include "monitor/base/objects.h"
#include "monitor/record/c_quick.h"
#include "monitor/record/c_record.h"
#include "monitor/record/heap_events.h"
#include "monitor/record/recording.h"

/* Return the record of THREAD's frees of objects that COUNTER, another
 * thread's, has counted; NULL: no space. */
static struct mprof_freed *foreign_counter(struct mprof__thread *thread,
                                           mprof_ref counter) {
    struct mprof__arena *arena = &thread->session->arena;
    struct mprof__slot *slot = mprof__table_find(&thread->foreign, counter);
    if (slot != NULL)
        return (struct mprof_freed *)(uintptr_t)slot->value;
    mprof__lock(&arena->lock);
    struct mprof_freed *ours = NULL;
    if (mprof__arena_has_room(arena, MPROF__FOR_COUNTERS))
        ours = mprof__arena_record(arena, MPROF_FREED, sizeof *ours);
    if (ours != NULL) {
        ours->thread = thread->ref;
        ours->counter = counter;
        mprof__arena_publish(arena, ours);
    }
    mprof__unlock(&arena->lock);
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
    struct mprof_size *record = mprof__add_size(thread, owner, size);
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
    uint32_t bin = mprof__size_bin(what->bytes);
    struct mprof_size *size;
    if (owner == thread->ref) {
        size = mprof__own_size(thread, bin);
        if (size == NULL)
            return false;
        mprof__live_subtract(&thread->share, what->bytes);
        mprof__c_counter_free(arena, &thread->share, counter, what->at,
                              what->bytes);
    } else {
        struct mprof_freed *ours = foreign_counter(thread, what->counter);
        size = foreign_size(thread, owner, bin);
        if (size == NULL || ours == NULL)
            return false;
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
    mprof__count_atomic(&header->unplaced_frees, &header->unplaced_freed_bytes,
                        what->bytes);
    return false;
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
    mprof__leave(me);
    errno = saved;
}

void __attribute__((noinline))
mprof__c_release_anew(struct mprof__self *me, const void *object) {
    uintptr_t stack = me->stack;
    bool is_far = !mprof__shadow_has(&me->shadow, object) &&
                  mprof__objects_find((uintptr_t)object, &me->shadow) != NULL;
    mprof__leave_quickly(me);
    if (is_far)
        mprof__c_release(object);
    else
        release_slowly(object, stack);
}

void __attribute__((noinline))
mprof__c_release_from(struct mprof__self *me, const void *object,
                      uint32_t bytes, struct mprof_c_counter *counter,
                      bool is_lowered) {
    struct mprof__thread *thread = me->heap[MPROF_C_HEAP].thread;
    struct mprof__share *share = &thread->share;
    bool is_wide = mprof__c_counter_is_wide(counter);
    if (!is_lowered && !is_wide) {
        mprof__c_release_anew(me, object);
        return;
    }
    if (!is_lowered)
        mprof__store_relaxed(mprof__shadow_entry(&me->shadow, object), 0);
    if (is_lowered || !mprof__live_lower(share, bytes))
        mprof__live_slowly(share, -(int64_t)bytes);
    if (is_wide)
        mprof__c_wide_freed(thread->memo.base, share, counter, object, bytes);
    else
        mprof__c_counter_freed(share, counter, object, bytes);
    mprof__count(&thread->sizes[mprof__size_bin(bytes)]->freed, bytes);
    mprof__leave_quickly(me);
}

/* Like mprof__c_allocated(), it mostly calls nothing. */
MPROF__HOT void mprof__c_release(const void *object) {
    uintptr_t stack = mprof__stack();
    struct mprof__self *me = mprof__enter_quickly(stack);
    if (__builtin_expect(me == NULL, 0))
        release_slowly(object, stack);
    else if (__builtin_expect(!mprof__c_records(me), 0))
        mprof__c_release_anew(me, object);
    else
        mprof__c_release_quickly(me, object);
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
    mprof__leave(me);
}

void mprof__c_untake(const void *object, const struct mprof__object *what) {
    struct mprof__self *me = mprof__enter();
    struct mprof__session *session = mprof__tracked();
    if (session != NULL && session->id == what->session)
        mprof__objects_put(object, *what);
    mprof__leave(me);
}
