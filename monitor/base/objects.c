/* objects.c - see objects.h. */
#define _GNU_SOURCE
#include "monitor/base/objects.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/invariant.h"

/* An address of 47 bits, from the left: 11 bits choose a region of 64 GiB, 12
 * bits a leaf of 16 MiB, 20 bits a word; of the other four, one chooses
 * between two shadows: some allocators align small objects to eight only. */
enum { REGION_BITS = 11, LEAF_BITS = 12, WORD_BITS = 20, GRAIN_BITS = 4 };
enum {
    REGIONS = 1 << REGION_BITS,
    LEAVES = 1 << LEAF_BITS,
    WORDS = MPROF__LEAF_WORDS,
    SHADOWS = 2,
    COLLECTED = SHADOWS, /* another, of objects that a collector gave */
    LEAST_PAGE = 4096
};
_Static_assert(WORDS == 1 << WORD_BITS, "bits of an address");

/* A size that does not fit in 32 bits is in the next word, which belongs to the
 * same object. */
#define HUGE_BYTES UINT32_MAX

/* counter in the upper half, bytes in the lower */
struct leaf {
    uint64_t word[WORDS];
};

struct region {
    struct leaf *leaves[LEAVES];
};

/* Of COLLECTED. */
struct aged_leaf {
    struct leaf leaf;
    struct mprof__past past[WORDS];
};

/* atomic, also the leaves */
static struct region *regions[SHADOWS + 1][REGIONS];

static size_t leaf_bytes(size_t shadow) {
    return shadow == COLLECTED ? sizeof(struct aged_leaf) : sizeof(struct leaf);
}

/* Mapped memory at *PLACE, made when it is not there. */
static void *reach(void *place, size_t bytes) {
    void **at = place, *there = mprof__load_acquire(at);
    if (there != NULL)
        return there;
    void *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED)
        return NULL;
    /* Objects are far apart for the most part. */
    madvise(fresh, bytes, MADV_NOHUGEPAGE);
    if (mprof__replace(at, &there, fresh))
        return fresh;
    munmap(fresh, bytes);
    return there;
}

static inline size_t shadow_of(uintptr_t address) {
    return address >> 3 & 1;
}

static inline struct region **region_of(size_t shadow, uintptr_t address) {
    return &regions[shadow][address >> (GRAIN_BITS + WORD_BITS + LEAF_BITS)];
}

static inline struct leaf **leaf_of(struct region *region, uintptr_t address) {
    return &region->leaves[address >> (GRAIN_BITS + WORD_BITS) & (LEAVES - 1)];
}

static inline uint64_t *word_of(struct leaf *leaf, uintptr_t address) {
    return &leaf->word[address >> GRAIN_BITS & (WORDS - 1)];
}

static inline bool is_possible(uintptr_t address) {
    return address % 8 == 0 &&
           address >> (REGION_BITS + LEAF_BITS + WORD_BITS + GRAIN_BITS) == 0;
}

/* The word of ADDRESS in SHADOW; NULL: no memory. */
static uint64_t *make_word_in(size_t shadow, uintptr_t address) {
    struct region *region = reach(region_of(shadow, address), sizeof *region);
    if (region == NULL)
        return NULL;
    struct leaf *leaf = reach(leaf_of(region, address), leaf_bytes(shadow));
    return leaf == NULL ? NULL : word_of(leaf, address);
}

static uint64_t *make_word(uintptr_t address) {
    return make_word_in(shadow_of(address), address);
}

static struct leaf *find_leaf(size_t shadow, uintptr_t address) {
    struct region *region = mprof__load_acquire(region_of(shadow, address));
    return region == NULL ? NULL
                          : mprof__load_acquire(leaf_of(region, address));
}

static uint64_t *find_word(uintptr_t address) {
    struct leaf *leaf = find_leaf(shadow_of(address), address);
    return leaf == NULL ? NULL : word_of(leaf, address);
}

static uint64_t *remember(struct mprof__shadow *shadow, uintptr_t address,
                          uint64_t *word) {
    if (word != NULL) {
        uintptr_t within = address & (((uintptr_t)WORDS << GRAIN_BITS) - 1);
        *shadow = (struct mprof__shadow){address - within / 16 * 16,
                                         word - within / 16, WORDS};
    }
    return word;
}

uint64_t *mprof__objects_find(uintptr_t address, struct mprof__shadow *shadow) {
    return remember(shadow, address,
                    is_possible(address) ? find_word(address) : NULL);
}

void mprof__objects_check(const void *object) {
    uintptr_t address = (uintptr_t)object;
    const uint64_t *word = is_possible(address) ? find_word(address) : NULL;
    uint64_t value = word == NULL ? 0 : mprof__load_relaxed(word);
    MPROF__MUST(value == 0 || value >> 32 != 0);
    if ((uint32_t)value != HUGE_BYTES)
        return;
    const uint64_t *next = find_word(address + (1 << GRAIN_BITS));
    MPROF__MUST(next != NULL && mprof__load_relaxed(next) >= HUGE_BYTES);
}

bool mprof__objects_put(const void *object, struct mprof__object what) {
    uintptr_t address = (uintptr_t)object;
    uint64_t *word = is_possible(address) ? make_word(address) : NULL;
    uint64_t bytes = what.bytes;
    if (word == NULL)
        return false;
    if (bytes >= HUGE_BYTES) {
        uint64_t *next = make_word(address + (1 << GRAIN_BITS));
        if (next == NULL)
            return false;
        mprof__store_relaxed(next, bytes);
        bytes = HUGE_BYTES;
    }
    mprof__store_relaxed(word, (uint64_t)what.counter << 32 | bytes);
    if (MPROF__CHECKS)
        mprof__objects_check(object);
    return true;
}

bool mprof__objects_take(const void *object, struct mprof__object *what) {
    uintptr_t address = (uintptr_t)object;
    uint64_t *word = is_possible(address) ? find_word(address) : NULL;
    if (word == NULL)
        return false;
    if (MPROF__CHECKS)
        mprof__objects_check(object);
    uint64_t value = mprof__load_relaxed(word);
    if (value == 0)
        return false;
    mprof__store_relaxed(word, 0);
    what->counter = (mprof_ref)(value >> 32);
    what->bytes = (uint32_t)value;
    if (what->bytes == HUGE_BYTES) {
        word = find_word(address + (1 << GRAIN_BITS));
        what->bytes = mprof__load_relaxed(word);
        mprof__store_relaxed(word, 0);
    }
    return true;
}

/* Call VISIT for all leaves, including COLLECTED's, of BYTES each. */
static void for_leaves(void (*visit)(struct leaf *leaf, size_t bytes,
                                     void *data),
                       void *data) {
    for (size_t i = 0; i < (size_t)(SHADOWS + 1) * REGIONS; i++) {
        struct region *region = mprof__load_acquire(&regions[0][0] + i);
        for (size_t j = 0; region != NULL && j < LEAVES; j++) {
            struct leaf *leaf = mprof__load_acquire(&region->leaves[j]);
            if (leaf != NULL)
                visit(leaf, leaf_bytes(i / REGIONS), data);
        }
    }
}

/* A walk through all words. */
struct visit {
    void (*function)(const struct mprof__object *object, void *data);
    void *data;
    uintptr_t skipped[SHADOWS]; /* the second word of an object there */
};

static void visit_word(struct visit *v, struct leaf *const leaves[],
                       uintptr_t address) {
    for (size_t shadow = 0; shadow < SHADOWS; shadow++) {
        uintptr_t at = address + shadow * 8;
        uint64_t value =
            leaves[shadow] == NULL ? 0 : *word_of(leaves[shadow], at);
        if (value == 0 || v->skipped[shadow] == at)
            continue;
        struct mprof__object object = {.counter = (mprof_ref)(value >> 32),
                                       .bytes = (uint32_t)value,
                                       .at = (const void *)at};
        if (object.bytes == HUGE_BYTES) {
            v->skipped[shadow] = at + (1 << GRAIN_BITS);
            object.bytes = *find_word(v->skipped[shadow]);
        }
        v->function(&object, v->data);
    }
}

/* Visit the leaves of 16 MiB from FIRST on.  Untouched pages stay untouched. */
static void visit_leaves(struct visit *v, struct leaf *const leaves[],
                         uintptr_t first) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), words = page / 8;
    for (size_t i = 0; i < WORDS; i += words) {
        bool some = false;
        for (size_t shadow = 0; shadow < SHADOWS; shadow++) {
            unsigned char resident = 1;
            if (leaves[shadow] != NULL &&
                (mincore(&leaves[shadow]->word[i], page, &resident) != 0 ||
                 resident & 1))
                some = true;
        }
        for (size_t k = i; some && k < i + words; k++)
            visit_word(v, leaves, first + (k << GRAIN_BITS));
    }
}

void mprof__objects_each(void (*function)(const struct mprof__object *object,
                                          void *data),
                         void *data) {
    struct visit v = {.function = function, .data = data};
    for (uintptr_t i = 0; i < (uintptr_t)REGIONS * LEAVES; i++) {
        uintptr_t first = i << (WORD_BITS + GRAIN_BITS);
        struct leaf *const leaves[SHADOWS] = {find_leaf(0, first),
                                              find_leaf(1, first)};
        if (leaves[0] != NULL || leaves[1] != NULL)
            visit_leaves(&v, leaves, first);
    }
}

static void clear(struct leaf *leaf, size_t bytes, void *data) {
    (void)data;
    madvise(leaf, bytes, MADV_DONTNEED);
}

void mprof__objects_clear(void) {
    for_leaves(clear, NULL);
}

static void add_memory(struct leaf *leaf, size_t bytes, void *data) {
    uint64_t *sum = data;
    unsigned char resident[sizeof(struct aged_leaf) / LEAST_PAGE];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (mincore(leaf, bytes, resident) != 0)
        return;
    for (size_t i = 0; i < bytes / page; i++)
        *sum += (resident[i] & 1) * page;
}

uint64_t mprof__objects_memory(void) {
    uint64_t sum = 0;
    for_leaves(add_memory, &sum);
    return sum;
}

/*
 * Objects of a collector
 */

uint64_t *mprof__collected_find(uintptr_t address,
                                struct mprof__shadow *shadow) {
    bool possible = is_possible(address) && address % 16 == 0;
    return remember(shadow, address,
                    possible ? make_word_in(COLLECTED, address) : NULL);
}

static struct mprof__object object_of(uint64_t value, const uint64_t *next) {
    struct mprof__object object = {.counter = (mprof_ref)(value >> 32),
                                   .bytes = (uint32_t)value,
                                   .allocs = 1};
    if (object.bytes == HUGE_BYTES)
        object.bytes = mprof__load_relaxed(next);
    return object;
}

bool mprof__collected_put(const void *address, struct mprof__object object,
                          struct mprof__past *past,
                          struct mprof__object *before) {
    struct mprof__shadow here = {.words = 0}, behind = {.words = 0};
    uintptr_t at = (uintptr_t)address;
    uint64_t bytes = object.bytes;
    uint64_t *word = mprof__collected_find(at, &here), *next = NULL;
    if (word == NULL)
        return false;
    uint64_t value = mprof__load_relaxed(word);
    bool was_huge = (uint32_t)value == HUGE_BYTES && value != 0;
    if (was_huge || bytes >= HUGE_BYTES)
        next = mprof__collected_find(at + (1 << GRAIN_BITS), &behind);
    if ((was_huge || bytes >= HUGE_BYTES) && next == NULL)
        return false;
    *before = object_of(value, next);
    struct mprof__past *place = mprof__shadow_past(&here, address),
                       old = *place;
    *place = *past;
    *past = old;
    if (next != NULL)
        mprof__store_relaxed(next, bytes >= HUGE_BYTES ? bytes : 0);
    mprof__store_relaxed(word, (uint64_t)object.counter << 32 |
                                   (bytes >= HUGE_BYTES ? HUGE_BYTES : bytes));
    return true;
}

/* Those in the words FIRST to LAST of LEAF, the objects of which begin at
 * START.  Returns the next word to look at: an object may have another. */
static size_t visit_collected(struct aged_leaf *leaf, size_t first, size_t last,
                              uintptr_t start, mprof__collected_visitor *visit,
                              void *data) {
    size_t i = first;
    for (; i < last; i++) {
        uint64_t value = mprof__load_relaxed(&leaf->leaf.word[i]);
        if (__builtin_expect(value == 0, 1))
            continue;
        struct mprof__shadow behind = {.words = 0};
        uint64_t *next = NULL;
        if ((uint32_t)value == HUGE_BYTES)
            next =
                mprof__collected_find(start + ((i + 1) << GRAIN_BITS), &behind);
        struct mprof__object object = object_of(value, next);
        object.at = (const void *)(start + (i << GRAIN_BITS));
        if (!visit(&object, &leaf->past[i], data)) {
            mprof__store_relaxed(&leaf->leaf.word[i], 0);
            if (next != NULL)
                mprof__store_relaxed(next, 0);
        }
        if (next != NULL)
            i++;
    }
    return i;
}

/* Visit an aged leaf.  Untouched pages stay untouched. */
static void visit_aged_leaf(struct aged_leaf *leaf, uintptr_t start,
                            mprof__collected_visitor *visit, void *data) {
    unsigned char resident[sizeof(struct leaf) / LEAST_PAGE];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), words = page / 8, next = 0;
    bool known = mincore(leaf, sizeof leaf->leaf, resident) == 0;
    for (size_t i = 0; i < WORDS; i += words)
        if (next < i + words && (!known || resident[i / words] & 1))
            next = visit_collected(leaf, next > i ? next : i, i + words, start,
                                   visit, data);
}

void mprof__collected_one(const void *address, mprof__collected_visitor *visit,
                          void *data) {
    uintptr_t at = (uintptr_t)address;
    if (!is_possible(at) || at % (1 << GRAIN_BITS) != 0)
        return;
    struct leaf *leaf = find_leaf(COLLECTED, at);
    size_t i = at >> GRAIN_BITS & (WORDS - 1);
    if (leaf != NULL)
        visit_collected((struct aged_leaf *)leaf, i, i + 1,
                        at - (i << GRAIN_BITS), visit, data);
}

void mprof__collected_each(mprof__collected_visitor *visit, void *data) {
    for (uintptr_t i = 0; i < REGIONS; i++) {
        struct region *region = mprof__load_acquire(&regions[COLLECTED][i]);
        for (uintptr_t j = 0; region != NULL && j < LEAVES; j++) {
            struct leaf *leaf = mprof__load_acquire(&region->leaves[j]);
            if (leaf != NULL)
                visit_aged_leaf((struct aged_leaf *)leaf,
                                (i << LEAF_BITS | j)
                                    << (WORD_BITS + GRAIN_BITS),
                                visit, data);
        }
    }
}
