/* c_size.c - see c_size.h. */
#include "monitor/record/c_size.h"

#define CLASSES(from, to, class_) [from... to] = (class_)
const uint8_t mprof__classes[MPROF_LARGEST_BIN + 1] = {
    CLASSES(0, 32, MPROF_SMALL), CLASSES(33, 256, MPROF_MEDIUM),
    CLASSES(257, MPROF_LARGEST_BIN, MPROF_LARGE)};

struct mprof_size *mprof__add_size(struct mprof__thread *thread,
                                   mprof_ref owner, uint32_t size) {
    struct mprof__arena *arena = &thread->session->arena;
    mprof__lock(&arena->lock);
    struct mprof_size *record =
        mprof__arena_record(arena, MPROF_SIZE, sizeof *record);
    if (record != NULL) {
        record->thread = owner;
        record->size = size;
        mprof__arena_publish(arena, record);
    }
    mprof__unlock(&arena->lock);
    return record;
}

struct mprof_size *mprof__make_size(struct mprof__thread *thread,
                                    uint32_t size) {
    if (thread->sizes == mprof__no_sizes) {
        struct mprof_size **fresh = mprof__map(MPROF__SIZES * sizeof *fresh);
        if (fresh == NULL)
            return NULL;
        thread->sizes = fresh;
    }
    const struct mprof__slot *slot = mprof__table_find(
        &thread->session->sizes, mprof__size_key(thread->ref, size));
    if (slot != NULL)
        thread->sizes[size] = (struct mprof_size *)(uintptr_t)slot->value;
    if (thread->sizes[size] == NULL)
        thread->sizes[size] = mprof__add_size(thread, thread->ref, size);
    return thread->sizes[size];
}
