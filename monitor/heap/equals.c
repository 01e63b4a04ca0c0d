/* equals.c - see equals.h. */
#include "monitor/heap/equals.h"

static struct mprof__equal *find(struct mprof__equals *equals,
                                 mprof_ref counter) {
    const struct mprof__slot *slot = mprof__table_find(&equals->known, counter);
    if (slot != NULL)
        return &equals->list[slot->value - 1];
    void *list = mprof__with_room(equals->list, equals->count, &equals->room,
                                  sizeof *equals->list);
    if (list == NULL ||
        !mprof__table_add(&equals->known, counter, equals->count + 1)) {
        equals->list = list == NULL ? equals->list : list;
        return NULL;
    }
    equals->list = list;
    equals->list[equals->count] = (struct mprof__equal){.counter = counter};
    return &equals->list[equals->count++];
}

void mprof__equals_add(struct mprof__equals *equals, mprof_ref counter,
                       uint64_t bytes, bool is_equal) {
    struct mprof__equal *equal = equals->failed ? NULL : find(equals, counter);
    equals->failed = equal == NULL;
    if (equal == NULL)
        return;
    equal->compared.allocs++;
    equal->compared.bytes += bytes;
    equal->equal.allocs += is_equal;
    equal->equal.bytes += is_equal ? bytes : 0;
}

void mprof__equals_end(struct mprof__equals *equals) {
    mprof__unmap(equals->list, equals->room * sizeof *equals->list);
    mprof__table_free(&equals->known);
}
