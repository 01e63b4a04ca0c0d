/* c_counter.c - see c_counter.h. */
#include "monitor/tree/c_counter.h"

struct mprof_c_numbers mprof__counter_read(const char *base,
                                           const struct mprof_counter *counter,
                                           enum mprof_heap heap, bool lives) {
    const struct mprof_alive_counter *alive = (const void *)counter;
    if (heap == MPROF_C_HEAP)
        return mprof__c_counter_read(base, (const void *)counter);
    if (lives)
        return (struct mprof_c_numbers){.allocated = alive->allocated,
                                        .spilled = alive->spilled,
                                        .freed = alive->freed,
                                        .lifetime = {alive->ages, 0}};
    return (struct mprof_c_numbers){
        .allocated = mprof__lisp_counter_read(base, (const void *)counter)};
}

bool mprof__c_counter_widen(struct mprof__arena *arena,
                            struct mprof_c_counter *counter) {
    if (mprof__c_counter_is_wide(counter))
        return true;
    const struct mprof_c_numbers number = mprof_c_narrow_numbers(counter);
    mprof_ref wide =
        mprof__make_wide(arena, MPROF_C_WIDE, counter, &number, sizeof number);
    if (wide != 0)
        mprof__store_release(&counter->allocated, MPROF_IS_WIDE | wide);
    return wide != 0;
}

bool mprof__c_counter_prepare(struct mprof__arena *arena,
                              const struct mprof__share *share,
                              struct mprof_c_counter *counter, uint64_t bytes,
                              bool spilled) {
    if (mprof__c_counter_is_wide(counter))
        return true;
    uint64_t next =
        (spilled ? counter->spilled : counter->allocated) + mprof__c_one(bytes);
    bool fits = bytes <= MPROF__MOST_AT_ONCE && (next & MPROF_NOT_NARROW) == 0;
    return (fits && (next & share->not_narrow) == 0) ||
           mprof__c_counter_widen(arena, counter) || fits;
}

void mprof__c_counter_add(const struct mprof__arena *arena,
                          const struct mprof__share *share,
                          struct mprof_c_counter *counter, uint64_t bytes,
                          bool spilled) {
    if (mprof__c_counter_is_wide(counter))
        mprof__c_wide_allocated(arena->base, share, counter, bytes, spilled);
    else
        mprof__c_counter_allocated(share, counter, bytes, spilled);
}

void mprof__c_counter_free(struct mprof__arena *arena,
                           struct mprof__share *share,
                           struct mprof_c_counter *counter, const void *object,
                           uint64_t bytes) {
    if (mprof__c_counter_frees_quickly(share, counter) ||
        !mprof__c_counter_widen(arena, counter))
        mprof__c_counter_freed(share, counter, object, bytes);
    else
        mprof__c_wide_freed(arena->base, share, counter, object, bytes);
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
