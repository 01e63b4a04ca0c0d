/* table.h - a hash table of 64-bit keys and values for the monitor.
 *
 * Any number of threads may look up while one adds: a slot's key is written
 * after its value, and a table that grew is replaced as a whole; the old one
 * stays readable until the table is freed.  Memory is mapped, never malloced.
 * Key 0 is not a key.
 */
#ifndef MONITOR_BASE_TABLE_H
#define MONITOR_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/base/atomic.h"

struct mprof__slot {
    uint64_t key; /* 0 empty, 1 removed */
    uint64_t value;
};

struct mprof__slots {
    struct mprof__slots *old; /* the smaller one that this replaced */
    size_t mask;              /* number of slots - 1, a power of two - 1 */
    size_t bytes;             /* mapped */
    struct mprof__slot slot[];
};

struct mprof__table {
    struct mprof__slots *slots; /* NULL while empty */
    size_t count;               /* used and removed; for the one that adds */
};

/* Mapped, zeroed memory that is counted in mprof__mapped.  NULL: there is none,
 * or was none for as much a while ago, unless mprof__map_again() was called
 * since. */
void *mprof__map(size_t bytes);
void mprof__map_again(void);
void mprof__unmap(void *memory, size_t bytes);
/* Return LIST, which was mapped, of *ROOM things of SIZE, with room for twice
 * as many; or NULL: no memory, and LIST is as it was. */
void *mprof__grow(void *list, size_t *room, size_t size);
/* Return LIST with room for more than COUNT; or NULL, as mprof__grow(). */
static inline void *mprof__with_room(void *list, size_t count, size_t *room,
                                     size_t size) {
    return count < *room ? list : mprof__grow(list, room, size);
}
extern uint64_t mprof__mapped; /* bytes; atomic */

/* Find the memory that these functions have mapped behind ADDRESS, or around
 * it: the first piece, from *START to *END.  False: there is none.  If there
 * are more than a few thousand pieces, some are not found. */
bool mprof__mapped_behind(uintptr_t address, uintptr_t *start, uintptr_t *end);

/* Add a key that is not there; false when there is no memory. */
bool mprof__table_add(struct mprof__table *table, uint64_t key, uint64_t value);
/* Free what was replaced as the table grew; no other thread may look up. */
void mprof__table_trim(struct mprof__table *table);
/* Remove all keys for which DEAD says so.  No other thread may add. */
void mprof__table_sweep(struct mprof__table *table,
                        bool (*dead)(uint64_t key, uint64_t value, void *),
                        void *data);
void mprof__table_free(struct mprof__table *table);

static inline uint64_t mprof__hash(uint64_t key) {
    key *= 0x9e3779b97f4a7c15u; /* Fibonacci hashing, Knuth 6.4 */
    return key ^ (key >> 32);
}

/* A key for LENGTH bytes of text (FNV-1a).  That two texts have the same does
 * not happen. */
static inline uint64_t mprof__hash_text(const char *text, size_t length) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash | 2;
}

/* The slot of KEY, or NULL. */
static inline struct mprof__slot *
mprof__table_find(const struct mprof__table *table, uint64_t key) {
    struct mprof__slots *slots = mprof__load_acquire(&table->slots);
    if (slots == NULL)
        return NULL;
    for (size_t i = mprof__hash(key) & slots->mask;;
         i = (i + 1) & slots->mask) {
        uint64_t k = mprof__load_acquire(&slots->slot[i].key);
        if (k == key)
            return &slots->slot[i];
        if (k == 0)
            return NULL;
    }
}

#endif
