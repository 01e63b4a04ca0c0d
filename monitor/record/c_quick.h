/* c_quick.h - the way of nearly all events of the C heap: within malloc() and
 * free() themselves while the recording is direct, else in c_record.c and
 * c_free.c, which have all other ways, too.
 *
 * These functions call nothing but such ways, as the last thing that they do.
 */
#ifndef MONITOR_RECORD_C_QUICK_H
#define MONITOR_RECORD_C_QUICK_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/atomic.h"
#include "monitor/base/objects.h"
#include "monitor/base/self.h"
#include "monitor/heap/live.h"
#include "monitor/record/c_size.h"
#include "monitor/record/current.h"
#include "monitor/record/find_counter.h"
#include "monitor/tree/c_counter.h"

/* The longer ways, for ME, which is inside and leaves there.  An allocation,
 * the object of which is returned, so that who calls last need not keep it:
 * when the chain is not as it was, and the walk came from FIRST to LAST; */
void *mprof__c_allocated_elsewhere(struct mprof__self *me, void *object,
                                   uint64_t bytes, const void *frame,
                                   struct mprof__cell *first,
                                   struct mprof__cell *last);
/* ... when it has COUNTER; IS_RAISED: the object is among what lives, and
 * mprof__live_slowly() is to be called; */
void *mprof__c_allocated_in(struct mprof__self *me, void *object,
                            uint64_t bytes, const void *frame,
                            struct mprof_c_counter *counter, bool is_raised);
/* ... when it is counted, and has the counter REF; */
void *mprof__c_put_slowly(struct mprof__self *me, void *object, uint64_t bytes,
                          mprof_ref ref);
/* ... a free that needs another shadow, or another thread's counter; */
void mprof__c_release_anew(struct mprof__self *me, const void *object);
/* ... and one of BYTES, which is in COUNTER and the shadow.  IS_LOWERED: it is
 * in the shadow no more, and off what lives, and mprof__live_slowly() is to be
 * called. */
void mprof__c_release_from(struct mprof__self *me, const void *object,
                           uint32_t bytes, struct mprof_c_counter *counter,
                           bool is_lowered);

/* Enter the hook at STACK, where malloc() or free() is; NULL: they are to
 * report to the monitor. */
static inline __attribute__((always_inline)) struct mprof__self *
mprof__c_enter_directly(uintptr_t stack) {
    struct mprof__self *me = mprof__enter_quickly(stack);
    if (__builtin_expect(
            me == NULL || mprof__is_direct(me->heap[MPROF_C_HEAP].id), 1))
        return me;
    mprof__leave_quickly(me);
    return NULL;
}

/* Where THREAD counts its objects of BYTES, as the shadow has them; NULL: that
 * is to be made, or these are not all of its bytes. */
static inline __attribute__((always_inline)) struct mprof_size *
mprof__c_size_quickly(const struct mprof__thread *thread, uint64_t bytes) {
    if (__builtin_expect(bytes <= MPROF_LARGEST_BIN, 1))
        return thread->sizes[bytes];
    return bytes >> MPROF__BYTES_BITS != 0
               ? NULL
               : thread->sizes[MPROF_LARGEST_BIN + 1];
}

/* The counter of CLASS_ that CELL knows, or NULL; *REF is its ref. */
static inline __attribute__((always_inline)) struct mprof_c_counter *
mprof__c_counter_at(const struct mprof__memo *memo,
                    const struct mprof__cell *cell, uint32_t class_,
                    mprof_ref *ref) {
    *ref = cell->counter[mprof__cell_counter_slot(class_)];
    struct mprof_c_counter *counter = mprof__memo_at(memo, *ref);
    /* 0 is the file's header, in which no class is at the place of the key. */
    return __builtin_expect(counter->counter.key == class_, 1) ? counter : NULL;
}

/* OBJECT of BYTES was allocated, as FRAME called for it; ME is inside, records,
 * and leaves here.  Returns OBJECT. */
static inline __attribute__((always_inline)) void *
mprof__c_allocated_quickly(struct mprof__self *me, void *object, uint64_t bytes,
                           const void *frame) {
    struct mprof__thread *thread = me->heap[MPROF_C_HEAP].thread;
    struct mprof__share *share = &thread->share;
    struct mprof__trail trail;
    const struct mprof__cell *cell = mprof__cell_quickly(thread, frame, &trail);
    if (__builtin_expect(cell == NULL, 0))
        return mprof__c_allocated_elsewhere(me, object, bytes, frame,
                                            trail.first, trail.last);
    uint32_t class_ = __builtin_expect(bytes <= MPROF_LARGEST_BIN, 1)
                          ? mprof__classes[bytes]
                          : mprof_size_class(bytes);
    struct mprof_size *size = mprof__c_size_quickly(thread, bytes);
    mprof_ref ref;
    struct mprof_c_counter *counter =
        mprof__c_counter_at(&thread->memo, cell, class_, &ref);
    if (counter == NULL)
        return mprof__c_allocated_elsewhere(me, object, bytes, frame, NULL,
                                            NULL);
    uint64_t clock = share->clock + bytes;
    if (__builtin_expect(
            size == NULL || !mprof__shadow_has(&me->shadow, object), 0) ||
        !mprof__c_counter_is_quick(share, counter, mprof__c_one(bytes)) ||
        !mprof__live_passes(share, clock))
        return mprof__c_allocated_in(me, object, bytes, frame, counter, false);
    uint32_t *entry = mprof__shadow_entry(&me->shadow, object);
    if (!mprof__live_raise(share, bytes))
        return mprof__c_allocated_in(me, object, bytes, frame, counter, true);
    mprof__live_pass(share, object, clock);
    mprof__c_counter_allocated(share, counter, bytes, false);
    mprof__count(&size->allocated, bytes);
    if (!mprof__entry_write(entry, ref, bytes))
        return mprof__c_put_slowly(me, object, bytes, ref);
    mprof__leave_quickly(me);
    return object;
}

/* OBJECT is about to be freed; likewise. */
static inline __attribute__((always_inline)) void
mprof__c_release_quickly(struct mprof__self *me, const void *object) {
    struct mprof__thread *thread = me->heap[MPROF_C_HEAP].thread;
    struct mprof__share *share = &thread->share;
    if (!mprof__shadow_has(&me->shadow, object)) {
        mprof__c_release_anew(me, object);
        return;
    }
    uint32_t *entry = mprof__shadow_entry(&me->shadow, object);
    uint32_t bytes;
    mprof_ref ref;
    if (!mprof__entry_read(entry, &ref, &bytes)) {
        mprof__c_release_anew(me, object);
        return;
    }
    struct mprof_c_counter *counter = mprof__memo_at(&thread->memo, ref);
    struct mprof_size *size = mprof__c_size_quickly(thread, bytes);
    if (__builtin_expect(counter->thread != thread->ref || size == NULL, 0)) {
        mprof__c_release_anew(me, object);
        return;
    }
    if (!mprof__c_counter_frees_quickly(share, counter)) {
        mprof__c_release_from(me, object, bytes, counter, false);
        return;
    }
    mprof__store_relaxed(entry, 0);
    if (!mprof__live_lower(share, bytes)) {
        mprof__c_release_from(me, object, bytes, counter, true);
        return;
    }
    mprof__c_counter_freed(share, counter, object, bytes);
    mprof__count(&size->freed, bytes);
    mprof__leave_quickly(me);
}

#endif
