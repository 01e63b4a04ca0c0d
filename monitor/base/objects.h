/* objects.h - the recorded objects of the C heap that are not freed yet, and
 * the objects of a collected heap that were not found dead yet.
 *
 *     address        46      35 34     25 24        4 3    0
 *                   | region  |  leaf   |   entry   | 0/8 |
 *                        |         |          |        |
 *      regions[shadow] --+         |          |        +-- which shadow
 *         region: 64 GiB, leaves --+          |
 *            leaf: 32 MiB, entries -----------+
 *
 * A shadow of the address space: four bytes for each sixteen in which an object
 * may begin, mapped where objects are.  The less there is of it, the less of
 * the program's own memory leaves the processor's cache.
 *
 *     entry:  31 30                  0
 *            | 0 |       counter      |  an object begins, of more than sixteen
 *            | 1 0 |      bytes       |  bytes; so the next entry is its, too
 *            | 1 1 | bytes | counter  |  one of one to sixteen bytes begins
 *
 * An entry of 0 is no object: a counter is never 0.  Where numbers are too
 * large for that, the entry is MPROF__ELSEWHERE, and another shadow has them.
 * Of objects of a collector, a word of eight bytes has both.
 *
 * Whoever has an object has its entries too, from the allocator's answer to the
 * call that frees it, so putting and taking need no lock and no atomic
 * exchange.
 */
#ifndef MONITOR_BASE_OBJECTS_H
#define MONITOR_BASE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/base/atomic.h"
#include "monitor/format/format.h"

/* Where an object was counted, and the bytes that were asked for. */
struct mprof__object {
    mprof_ref counter; /* counter; never 0 */
    uint64_t bytes;
    /* Not remembered here: */
    uint64_t session; /* id of the one that recorded it */
    const void *at;   /* its address */
    uint64_t allocs;  /* allocations that it represents; 1 without sampling */
};

/* The invariants, of the word of ADDRESS. */
void mprof__objects_check(const void *address);

/* The result of realloc() for OLD, which is described by WHAT, or NULL: it was
 * not recorded.  It is FRESH now, of BYTES, or freed: NULL, or stays: KEPT. */
struct mprof__resized {
    const void *old, *fresh;
    uint64_t bytes;
    const struct mprof__object *what;
    bool kept;
};

/* Remember OBJECT, which begins at ADDRESS.  False: no memory, or an address
 * that no allocator returns (not a multiple of 8). */
bool mprof__objects_put(const void *address, struct mprof__object object);

/* Forget the object at ADDRESS and store in *WHAT what it was; false: it was
 * not recorded. */
bool mprof__objects_take(const void *address, struct mprof__object *object);

enum { MPROF__LEAF_ENTRIES = 1 << 21 };

/* The entries of 32 MiB of addresses, for a thread that comes there again:
 * those that are as far from a multiple of sixteen as START. */
struct mprof__shadow {
    uintptr_t start;
    size_t entries; /* so many; 0: none */
    union {
        uint32_t *entry;
        uint64_t *word; /* of objects of a collector */
    };
};

/* Where the entry of ADDRESS is, by SHADOW or by a longer way; NULL: there are
 * none yet, or ADDRESS cannot be an object's. */
uint32_t *mprof__objects_find(uintptr_t address, struct mprof__shadow *shadow);

/* The number of OBJECT's entry in SHADOW, or one that is too large. */
static inline size_t mprof__shadow_index(const struct mprof__shadow *shadow,
                                         const void *object) {
    uintptr_t away = (uintptr_t)object - shadow->start;
    return away >> 4 | away << (8 * sizeof away - 4);
}

/* Does SHADOW have the entry of OBJECT; and which is it then? */
static inline bool mprof__shadow_has(const struct mprof__shadow *shadow,
                                     const void *object) {
    return __builtin_expect(
        mprof__shadow_index(shadow, object) < shadow->entries, 1);
}

static inline uint32_t *mprof__shadow_entry(const struct mprof__shadow *shadow,
                                            const void *object) {
    return &shadow->entry[mprof__shadow_index(shadow, object)];
}

static inline uint64_t *mprof__shadow_word(const struct mprof__shadow *shadow,
                                           const void *object) {
    return &shadow->word[mprof__shadow_index(shadow, object)];
}

/* The entry of OBJECT as *ENTRY; false: NULL. */
static inline __attribute__((always_inline)) bool
mprof__objects_entry(const void *object, struct mprof__shadow *shadow,
                     uint32_t **entry) {
    *entry = mprof__shadow_has(shadow, object)
                 ? mprof__shadow_entry(shadow, object)
                 : mprof__objects_find((uintptr_t)object, shadow);
    return *entry != NULL;
}

#define MPROF__BYTES ((uint32_t)2 << 30)
#define MPROF__SMALL ((uint32_t)3 << 30)
#define MPROF__ELSEWHERE                                                       \
    MPROF__BYTES /* none that has an entry for them has 0 */
enum { MPROF__MOST_SMALL = 16, MPROF__SMALL_BITS = 26, MPROF__BYTES_BITS = 30 };

/* An object of BYTES, which has no more bits than there may be, has COUNTER, of
 * less than 31 bits: let that be in ENTRY.  False: there is no room. */
static inline __attribute__((always_inline)) bool
mprof__entry_write(uint32_t *entry, mprof_ref counter, uint64_t bytes) {
    if (__builtin_expect(bytes > MPROF__MOST_SMALL, 1)) {
        mprof__store_relaxed(entry, counter);
        mprof__store_relaxed(entry + 1, (uint32_t)bytes | MPROF__BYTES);
        return true;
    }
    if (bytes == 0 || counter >> MPROF__SMALL_BITS != 0)
        return false;
    mprof__store_relaxed(entry, MPROF__SMALL |
                                    (uint32_t)(bytes - 1) << MPROF__SMALL_BITS |
                                    counter);
    return true;
}

/* Read ENTRY; false: no object begins there, or it is ELSEWHERE.  It is
 * forgotten when ENTRY becomes 0.  Where BYTES has more bits than there may be,
 * the next entry is not this object's. */
static inline __attribute__((always_inline)) bool
mprof__entry_read(const uint32_t *entry, mprof_ref *counter, uint32_t *bytes) {
    uint32_t value = mprof__load_relaxed(entry);
    if (__builtin_expect((int32_t)value > 0, 1)) {
        *counter = value;
        *bytes = mprof__load_relaxed(entry + 1) ^ MPROF__BYTES;
        return true;
    }
    *counter = value & (((uint32_t)1 << MPROF__SMALL_BITS) - 1);
    *bytes = (value >> MPROF__SMALL_BITS) % MPROF__MOST_SMALL + 1;
    return value >= MPROF__SMALL;
}

/* Call VISIT for each, in the order of their addresses; only while no thread
 * puts or takes. */
void mprof__objects_each(void (*visit)(const struct mprof__object *object,
                                       void *data),
                         void *data);

/* Forget all; only while no thread puts or takes. */
void mprof__objects_clear(void);

/* Return the bytes of memory in use, with the tables of collected objects. */
uint64_t mprof__objects_memory(void);

/* Objects that a collector gave, all at multiples of sixteen, have a shadow of
 * their own, and there each has a past beside its word. */
struct mprof__past {
    uint8_t age;   /* collections that it survived, MPROF__OLDEST for more */
    uint8_t epoch; /* in which it was allocated; or MPROF__DEAD */
};
enum { MPROF__OLDEST = 255, MPROF__DEAD = 255 };

/* As mprof__objects_find(), for the word of ADDRESS, which is made where there
 * is none.  The counter is in its upper half, and in the lower are the bytes,
 * or UINT32_MAX where they do not fit. */
uint64_t *mprof__collected_find(uintptr_t address,
                                struct mprof__shadow *shadow);

/* The past of OBJECT, of which SHADOW has the word. */
static inline struct mprof__past *
mprof__shadow_past(const struct mprof__shadow *shadow, const void *object) {
    return (struct mprof__past *)(void *)&shadow->word[shadow->entries] +
           mprof__shadow_index(shadow, object);
}

/* Put OBJECT at ADDRESS, also a huge one, with PAST.  Store an object that was
 * there before in *BEFORE and *PAST; its counter is 0 when there was none.
 * False: as above. */
bool mprof__collected_put(const void *address, struct mprof__object object,
                          struct mprof__past *past,
                          struct mprof__object *before);

/* Call VISIT for each object, and forget it if that returns false.  Other
 * threads may put objects meanwhile, but in no word that has one. */
typedef bool mprof__collected_visitor(const struct mprof__object *object,
                                      struct mprof__past *past, void *data);
void mprof__collected_each(mprof__collected_visitor *visit, void *data);

/* The same for the object at ADDRESS, if there is one.  Not while another
 * thread does this for the same object, or for each. */
void mprof__collected_one(const void *address, mprof__collected_visitor *visit,
                          void *data);

#endif
