/* c_counter.c - see c_counter.h. */
#include "monitor/record/c_counter.h"

#include <errno.h>

#include "monitor/record/arena.h"
#include "monitor/record/session.h"

/* Under the session's lock. */
static struct mprof_c_wide *make(struct mprof__arena *arena,
                                 const struct mprof_c_counter *counter) {
    struct mprof_c_wide *wide = NULL;
    if (mprof__arena_has_room(arena, MPROF__FOR_ROOTS))
        wide = mprof__arena_record(arena, MPROF_C_WIDE, sizeof *wide);
    if (wide == NULL)
        return NULL;
    wide->counter = mprof__arena_ref(arena, counter);
    wide->number = mprof_c_narrow_numbers(counter);
    mprof__arena_publish(arena, wide);
    return wide;
}

bool mprof__c_counter_widen(struct mprof__session *session,
                            struct mprof_c_counter *counter) {
    int saved = errno;
    if (mprof__c_counter_is_wide(counter))
        return true;
    mprof__lock(&session->lock);
    struct mprof_c_wide *wide = make(&session->arena, counter);
    mprof__unlock(&session->lock);
    errno = saved;
    if (wide != NULL)
        mprof__store_release(&counter->allocated,
                             MPROF_IS_WIDE |
                                 mprof__arena_ref(&session->arena, wide));
    return wide != NULL;
}

bool mprof__c_counter_prepare(struct mprof__session *session,
                              const struct mprof__share *share,
                              struct mprof_c_counter *counter, uint64_t bytes,
                              bool spilled) {
    uint64_t next =
        (spilled ? counter->spilled : counter->allocated) + mprof__c_one(bytes);
    if (mprof__c_counter_is_wide(counter))
        return true;
    bool fits = bytes <= MPROF__MOST_AT_ONCE && (next & MPROF_NOT_NARROW) == 0;
    return (fits && (next & share->not_narrow) == 0) ||
           mprof__c_counter_widen(session, counter) || fits;
}

void mprof__c_counter_add(const struct mprof__session *session,
                          const struct mprof__share *share,
                          struct mprof_c_counter *counter, uint64_t bytes,
                          bool spilled) {
    if (mprof__c_counter_is_wide(counter))
        mprof__c_wide_allocated(session->arena.base, share, counter, bytes,
                                spilled);
    else
        mprof__c_counter_allocated(share, counter, bytes, spilled);
}

void mprof__c_counter_free(struct mprof__session *session,
                           struct mprof__share *share,
                           struct mprof_c_counter *counter, const void *object,
                           uint64_t bytes) {
    if (mprof__c_counter_frees(share, counter) ||
        !mprof__c_counter_widen(session, counter))
        mprof__c_counter_freed(share, counter, object, bytes);
    else
        mprof__c_wide_freed(session->arena.base, share, counter, object, bytes);
}

void mprof__c_counter_set(char *base, struct mprof_c_counter *counter,
                          const struct mprof_c_numbers *number) {
    if (mprof__c_counter_is_wide(counter)) {
        *mprof__c_counter_wide(base, counter) = *number;
        return;
    }
    counter->allocated = mprof_narrow_sum(number->allocated);
    counter->spilled = mprof_narrow_sum(number->spilled);
    counter->freed = mprof_narrow_sum(number->freed);
    counter->lifetime = (int64_t)number->lifetime[0];
    counter->temporary = (uint32_t)number->temporary;
    counter->stamp = number->stamp;
    counter->at_peak = mprof_narrow_sum(number->at_peak);
}
