/* alive.c - see alive.h. */
#include "monitor/heap/alive.h"

#include <errno.h>
#include <stddef.h>

#include "monitor/base/sampled.h"

/* Sums over objects of one counter, which come one after the other. */
struct found {
    struct mprof__arena *arena;
    bool (*is_alive)(const void *address); /* NULL: all but those known dead */
    mprof_ref counter;                     /* 0: none yet */
    struct mprof_count dead;
    uint64_t ages; /* how much more, or less, all have survived */
};

/* Threads that use the place of what was freed count as well. */
static void add(struct found *found) {
    if (found->counter == 0)
        return;
    struct mprof_alive_counter *counter =
        mprof__arena_at(found->arena, found->counter);
    if (found->dead.allocs != 0) {
        mprof__add_relaxed(&counter->freed.allocs, found->dead.allocs);
        mprof__add_relaxed(&counter->freed.bytes, found->dead.bytes);
    }
    if (found->ages != 0)
        mprof__add_relaxed(&counter->ages, found->ages);
    found->counter = 0;
    found->ages = 0;
    found->dead = (struct mprof_count){0, 0};
}

static void add_dead(struct found *found, const struct mprof__object *object,
                     const struct mprof__past *past) {
    found->dead.allocs += object->allocs;
    found->dead.bytes += object->bytes;
    found->ages -= past->age * object->allocs;
}

void mprof__alive_begin_slowly(const struct mprof__alive *alive,
                               const void *object, mprof_ref counter,
                               struct mprof_count n) {
    int saved = errno;
    struct mprof__arena *arena = alive->arena;
    struct mprof_header *header = mprof__arena_header(arena);
    struct mprof__object what = {
        .counter = counter, .bytes = n.bytes, .allocs = n.allocs};
    struct mprof__object before = {.counter = 0};
    struct mprof__past past = {0, alive->epoch};
    bool done = alive->sampling == 0
                    ? mprof__collected_put(object, what, &past, &before)
                    : mprof__sampled_put(object, what, &past, &before);
    if (!done) {
        mprof__add_relaxed(&header->untracked_allocs, n.allocs);
        mprof__add_relaxed(&header->untracked_bytes, n.bytes);
    }
    if (before.counter != 0) {
        struct found found = {.arena = arena, .counter = before.counter};
        add_dead(&found, &before, &past);
        add(&found);
    }
    errno = saved;
}

/* Call VISIT for each object.  They are all in one table, or all in the other.
 */
static bool for_each(mprof__collected_visitor *visit, void *data,
                     bool may_wait) {
    mprof__collected_each(visit, data);
    return mprof__sampled_each(visit, data, may_wait);
}

static bool for_one(const void *address, mprof__collected_visitor *visit,
                    void *data) {
    mprof__collected_one(address, visit, data);
    return mprof__sampled_one(address, visit, data);
}

/* It was not seen what died. */
static void miss(struct mprof__arena *arena) {
    mprof__arena_header(arena)->alive |= MPROF_ALIVE_MISSED;
}

/* Of one object; false: it is dead. */
static bool look(const struct mprof__object *object, struct mprof__past *past,
                 void *data) {
    struct found *found = data;
    if (found->counter != object->counter) {
        add(found);
        found->counter = object->counter;
    }
    if (past->epoch == MPROF__DEAD ||
        (found->is_alive != NULL && !found->is_alive(object->at))) {
        add_dead(found, object, past);
        return false;
    }
    if (found->is_alive != NULL && past->age < MPROF__OLDEST) {
        past->age++;
        found->ages += object->allocs;
    }
    return true;
}

/* While the recording is stopped the data file stays as it is. */
static bool look_only(const struct mprof__object *object,
                      struct mprof__past *past, void *data) {
    struct found *found = data;
    if (!found->is_alive(object->at))
        past->epoch = MPROF__DEAD;
    return true;
}

void mprof__alive_collected(struct mprof__alive *alive, bool records,
                            bool (*is_alive)(const void *address)) {
    struct found found = {.arena = alive->arena, .is_alive = is_alive};
    bool all = for_each(records ? look : look_only, &found, false);
    add(&found);
    if (!all)
        miss(found.arena);
    else if (records)
        mprof__bump(&mprof__arena_header(found.arena)->alive_collections, 1);
}

/* It is given back; FOUND: now, or else when the recording goes on. */
static bool die(const struct mprof__object *object, struct mprof__past *past,
                void *found) {
    past->epoch = MPROF__DEAD;
    return found == NULL || look(object, past, found);
}

void mprof__alive_freed(struct mprof__alive *alive, bool records,
                        const void *block) {
    struct found found = {.arena = alive->arena};
    if (!for_one(block, die, records ? &found : NULL))
        miss(found.arena);
    add(&found);
}

void mprof__alive_resume(struct mprof__alive *alive) {
    struct found found = {.arena = alive->arena};
    if (alive->mode == 0)
        return;
    for_each(look, &found, true);
    add(&found);
}

/* A copy of the data file. */
struct choosing {
    struct mprof_header *copy;
    const struct mprof__epochs *epochs;
};

static void *at(const struct mprof_header *copy, mprof_ref ref) {
    return (char *)copy + (size_t)ref * 8;
}

/* Count all objects as dead in the counters of BLOCK, if these follow live
 * objects of Lisp. */
static void bury_block(struct mprof_header *copy, struct mprof_block *block) {
    const struct mprof_thread *thread = at(copy, block->thread);
    struct mprof_alive_counter *counter = (void *)(block + 1);
    if (!(thread->flags & MPROF_THREAD_LIVES))
        return;
    for (uint32_t i = 0; i < block->count; i++, counter++) {
        const struct mprof_count *own = &counter->allocated;
        counter->freed =
            (struct mprof_count){own->allocs + counter->spilled.allocs,
                                 own->bytes + counter->spilled.bytes};
        counter->ages = 0;
    }
}

/* Count this object as live again, if it is chosen. */
static bool keep(const struct mprof__object *object, struct mprof__past *past,
                 void *data) {
    const struct choosing *c = data;
    bool is_chosen = past->epoch != MPROF__DEAD &&
                     past->epoch >= c->epochs->from &&
                     past->epoch < c->epochs->until;
    /* Others may have allocated since the copy was made. */
    if (!is_chosen ||
        (uint64_t)object->counter * 8 + sizeof(struct mprof_alive_counter) >
            c->copy->used)
        return true;
    struct mprof_alive_counter *counter = at(c->copy, object->counter);
    if (counter->freed.allocs < object->allocs ||
        counter->freed.bytes < object->bytes)
        return true;
    counter->freed.allocs -= object->allocs;
    counter->freed.bytes -= object->bytes;
    counter->ages += past->age * object->allocs;
    return true;
}

void mprof__alive_choose(struct mprof_header *copy, const void *epochs) {
    struct choosing choosing = {copy, epochs};
    struct mprof_record *record;
    for (size_t n = MPROF_HEADER_BYTES; n < copy->used;
         n += mprof__record_size(record)) {
        record = (void *)((char *)copy + n);
        if (record->type == MPROF_COUNTERS)
            bury_block(copy, (void *)record);
    }
    for_each(keep, &choosing, true);
}
