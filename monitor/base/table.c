/* table.c - see table.h. */
#define _GNU_SOURCE
#include "monitor/base/table.h"

#include <string.h>
#include <sys/mman.h>

#include "monitor/base/atomic.h"

enum { FIRST_SLOTS = 256 };

uint64_t mprof__mapped;

/* Where there is no memory, who asks for it at each allocation must not make
 * the kernel refuse it each time.  So after a refusal as many requests fail as
 * before it, twice over: those for as much, or more. */
static struct {
    size_t refused; /* the least that was; 0: nothing was */
    uint32_t waits, backoff;
} shortage; /* threads may lose a change of another */

enum { MOST_WAITS = 4095 };

static bool waits(size_t bytes) {
    size_t refused = mprof__load_relaxed(&shortage.refused);
    if (__builtin_expect(refused == 0 || bytes < refused, 1))
        return false;
    uint32_t left = mprof__load_relaxed(&shortage.waits);
    if (left > 0)
        mprof__store_relaxed(&shortage.waits, left - 1);
    return left > 0;
}

static void refuse(size_t bytes) {
    size_t refused = mprof__load_relaxed(&shortage.refused);
    uint32_t backoff = mprof__load_relaxed(&shortage.backoff) * 2 + 1;
    if (backoff > MOST_WAITS)
        backoff = MOST_WAITS;
    if (refused == 0 || bytes < refused)
        mprof__store_relaxed(&shortage.refused, bytes);
    mprof__store_relaxed(&shortage.backoff, backoff);
    mprof__store_relaxed(&shortage.waits, backoff);
}

void mprof__map_again(void) {
    mprof__store_relaxed(&shortage.refused, 0);
    mprof__store_relaxed(&shortage.backoff, 0);
}

/* All that is mapped, if there is room.  A place is free when `start` is 0;
 * it is taken and given back without a lock. */
enum { MOST_RANGES = 8192 };
static struct { uintptr_t start, end; /* atomic */ } ranges[MOST_RANGES];
static size_t used_ranges; /* all others were never used; atomic */

static void note_mapped(void *memory, size_t bytes) {
    uintptr_t start = (uintptr_t)memory, none = 0;
    for (size_t i = 0; i < MOST_RANGES; i++, none = 0) {
        if (mprof__load_relaxed(&ranges[i].start) != 0 ||
            !mprof__replace(&ranges[i].start, &none, start))
            continue;
        mprof__store_release(&ranges[i].end, start + bytes);
        size_t used = mprof__load_relaxed(&used_ranges);
        while (used <= i && !mprof__replace(&used_ranges, &used, i + 1))
            ;
        return;
    }
}

static void note_unmapped(const void *memory) {
    size_t used = mprof__load_acquire(&used_ranges);
    for (size_t i = 0; i < used; i++)
        if (mprof__load_relaxed(&ranges[i].start) == (uintptr_t)memory) {
            mprof__store_relaxed(&ranges[i].end, 0);
            mprof__store_release(&ranges[i].start, 0);
            return;
        }
}

bool mprof__mapped_behind(uintptr_t address, uintptr_t *start, uintptr_t *end) {
    size_t used = mprof__load_acquire(&used_ranges);
    *start = UINTPTR_MAX;
    for (size_t i = 0; i < used; i++) {
        uintptr_t first = mprof__load_relaxed(&ranges[i].start),
                  last = mprof__load_relaxed(&ranges[i].end);
        if (last > address && first < *start) {
            *start = first;
            *end = last;
        }
    }
    return *start != UINTPTR_MAX;
}

void *mprof__map(size_t bytes) {
    if (waits(bytes))
        return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        refuse(bytes);
        return NULL;
    }
    size_t refused = mprof__load_relaxed(&shortage.refused);
    if (__builtin_expect(refused != 0 && bytes >= refused, 0))
        mprof__map_again();
    mprof__add_relaxed(&mprof__mapped, bytes);
    note_mapped(memory, bytes);
    return memory;
}

void mprof__unmap(void *memory, size_t bytes) {
    if (memory == NULL)
        return;
    note_unmapped(memory);
    munmap(memory, bytes);
    mprof__sub_relaxed(&mprof__mapped, bytes);
}

void *mprof__grow(void *list, size_t *room, size_t size) {
    enum { FIRST_ROOM = 4096 };
    size_t more = *room == 0 ? FIRST_ROOM : *room * 2;
    void *larger =
        *room == 0 ? mprof__map(more * size)
                   : mremap(list, *room * size, more * size, MREMAP_MAYMOVE);
    if (larger == NULL || larger == MAP_FAILED)
        return NULL;
    if (*room != 0) {
        mprof__add_relaxed(&mprof__mapped, (more - *room) * size);
        note_unmapped(list);
        note_mapped(larger, more * size);
    }
    *room = more;
    return larger;
}

static void put(struct mprof__slots *slots, uint64_t key, uint64_t value) {
    size_t i = mprof__hash(key) & slots->mask;
    while (slots->slot[i].key != 0)
        i = (i + 1) & slots->mask;
    slots->slot[i].value = value;
    mprof__store_release(&slots->slot[i].key, key);
}

/* Slots for twice the keys; as many as before when most were removed. */
static size_t next_size(const struct mprof__slots *old) {
    if (old == NULL)
        return FIRST_SLOTS;
    size_t keys = 0;
    for (size_t i = 0; i <= old->mask; i++)
        keys += old->slot[i].key > 1;
    return 4 * keys > old->mask ? 2 * (old->mask + 1) : old->mask + 1;
}

static bool grow(struct mprof__table *table) {
    struct mprof__slots *old = table->slots;
    size_t n = next_size(old);
    size_t bytes = sizeof *old + n * sizeof old->slot[0];
    struct mprof__slots *slots = mprof__map(bytes);
    if (slots == NULL)
        return false;
    slots->old = old;
    slots->mask = n - 1;
    slots->bytes = bytes;
    size_t count = 0;
    for (size_t i = 0; old != NULL && i <= old->mask; i++) {
        if (old->slot[i].key > 1) {
            put(slots, old->slot[i].key, old->slot[i].value);
            count++;
        }
    }
    table->count = count;
    mprof__store_release(&table->slots, slots);
    return true;
}

bool mprof__table_add(struct mprof__table *table, uint64_t key,
                      uint64_t value) {
    /* At most half full: a look-up that fails looks at two slots. */
    if ((table->slots == NULL || 2 * (table->count + 1) > table->slots->mask) &&
        !grow(table))
        return false;
    put(table->slots, key, value);
    table->count++;
    return true;
}

void mprof__table_trim(struct mprof__table *table) {
    if (table->slots == NULL)
        return;
    struct mprof__slots *old = table->slots->old;
    table->slots->old = NULL;
    while (old != NULL) {
        struct mprof__slots *older = old->old;
        mprof__unmap(old, old->bytes);
        old = older;
    }
}

void mprof__table_sweep(struct mprof__table *table,
                        bool (*dead)(uint64_t, uint64_t, void *), void *data) {
    struct mprof__slots *slots = table->slots;
    for (size_t i = 0; slots != NULL && i <= slots->mask; i++) {
        struct mprof__slot *slot = &slots->slot[i];
        if (slot->key > 1 && dead(slot->key, slot->value, data))
            mprof__store_release(&slot->key, 1);
    }
}

void mprof__table_free(struct mprof__table *table) {
    mprof__table_trim(table);
    if (table->slots != NULL)
        mprof__unmap(table->slots, table->slots->bytes);
    *table = (struct mprof__table){.slots = NULL};
}
