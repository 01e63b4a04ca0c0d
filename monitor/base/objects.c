/* objects.c - see objects.h. */
#define _GNU_SOURCE
#include "monitor/base/objects.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/invariant.h"

/* An address of 47 bits, from the left: 11 bits choose a region of 64 GiB, 11
 * bits a leaf of 32 MiB, 21 bits an entry; one of the other four chooses
 * between two shadows: some allocators align small objects to eight only. */
enum { REGION_BITS = 11, LEAF_BITS = 11, ENTRY_BITS = 21, GRAIN_BITS = 4 };
enum {
    REGIONS = 1 << REGION_BITS,
    LEAVES = 1 << LEAF_BITS,
    ENTRIES = MPROF__LEAF_ENTRIES,
    OFFSETS = 2,   /* from multiples of sixteen */
    FAR = OFFSETS, /* as many, of objects that are ELSEWHERE */
    COLLECTED_FAR = FAR + OFFSETS,
    COLLECTED, /* and of objects that a collector gave */
    SHADOWS = COLLECTED + 1,
    LEAST_PAGE = 4096
};
_Static_assert(ENTRIES == 1 << ENTRY_BITS, "bits of an address");

/* The last object may have an entry more. */
struct leaf {
    uint32_t entry[ENTRIES + 1];
};

struct far {
    uint64_t bytes;
    mprof_ref counter;
    uint32_t pad;
};

struct far_leaf {
    struct far entry[ENTRIES];
};

struct aged_leaf {
    uint64_t word[ENTRIES]; /* counter in the upper half, bytes in the lower */
    struct mprof__past past[ENTRIES];
};

/* In a word: the bytes have more than 32 bits, and COLLECTED_FAR has them. */
#define HUGE_BYTES UINT32_MAX

struct region {
    void *leaves[LEAVES];
};

/* atomic, also the leaves */
static struct region *regions[SHADOWS][REGIONS];
static bool is_used[SHADOWS]; /* there is a region; atomic */

static size_t leaf_bytes(size_t shadow) {
    return shadow == COLLECTED ? sizeof(struct aged_leaf)
           : shadow >= FAR     ? sizeof(struct far_leaf)
                               : sizeof(struct leaf);
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

static inline size_t offset_of(uintptr_t address) {
    return address >> 3 & 1;
}

static inline struct region **region_of(size_t shadow, uintptr_t address) {
    return &regions[shadow][address >> (GRAIN_BITS + ENTRY_BITS + LEAF_BITS)];
}

static inline void **leaf_of(struct region *region, uintptr_t address) {
    return &region->leaves[address >> (GRAIN_BITS + ENTRY_BITS) & (LEAVES - 1)];
}

static inline size_t index_of(uintptr_t address) {
    return address >> GRAIN_BITS & (ENTRIES - 1);
}

static inline bool is_possible(uintptr_t address) {
    return address % 8 == 0 &&
           address >> (REGION_BITS + LEAF_BITS + ENTRY_BITS + GRAIN_BITS) == 0;
}

/* The leaf of ADDRESS in SHADOW; NULL: no memory. */
static void *make_leaf(size_t shadow, uintptr_t address) {
    if (!mprof__load_relaxed(&is_used[shadow]))
        mprof__store_relaxed(&is_used[shadow], true);
    struct region *region = reach(region_of(shadow, address), sizeof *region);
    return region == NULL ? NULL
                          : reach(leaf_of(region, address), leaf_bytes(shadow));
}

/* ... if there is one. */
static void *find_leaf(size_t shadow, uintptr_t address) {
    struct region *region = mprof__load_acquire(region_of(shadow, address));
    return region == NULL ? NULL
                          : mprof__load_acquire(leaf_of(region, address));
}

static uint32_t *find_entry(uintptr_t address) {
    struct leaf *leaf = find_leaf(offset_of(address), address);
    return leaf == NULL ? NULL : &leaf->entry[index_of(address)];
}

/* The FAR shadow of ADDRESS in the C heap. */
static inline size_t far_of(uintptr_t address) {
    return FAR + offset_of(address);
}

static struct far *find_far(size_t shadow, uintptr_t address) {
    struct far_leaf *leaf = find_leaf(shadow, address);
    return leaf == NULL ? NULL : &leaf->entry[index_of(address)];
}

/* SHADOW has the leaf of ADDRESS from now on. */
static void remember(struct mprof__shadow *shadow, uintptr_t address) {
    const uintptr_t within = ((uintptr_t)ENTRIES - 1) << GRAIN_BITS;
    shadow->start = address & ~within;
    shadow->entries = ENTRIES;
}

uint32_t *mprof__objects_find(uintptr_t address, struct mprof__shadow *shadow) {
    uint32_t *entry = is_possible(address) ? find_entry(address) : NULL;
    if (entry != NULL) {
        remember(shadow, address);
        shadow->entry = entry - index_of(address);
    }
    return entry;
}

/* The object at ADDRESS, of which ENTRY is; false: there is none, and *OBJECT
 * stays. */
static bool read_entry(const uint32_t *entry, uintptr_t address,
                       struct mprof__object *object) {
    mprof_ref counter;
    uint32_t bytes;
    if (mprof__load_relaxed(entry) == MPROF__ELSEWHERE) {
        const struct far *far = find_far(far_of(address), address);
        object->counter = far->counter;
        object->bytes = far->bytes;
        return true;
    }
    if (!mprof__entry_read(entry, &counter, &bytes) ||
        bytes >> MPROF__BYTES_BITS != 0)
        return false;
    object->counter = counter;
    object->bytes = bytes;
    return true;
}

void mprof__objects_check(const void *object) {
    uintptr_t address = (uintptr_t)object;
    struct mprof__object what;
    const uint32_t *entry = is_possible(address) ? find_entry(address) : NULL;
    if (entry == NULL)
        return;
    MPROF__MUST(*entry != MPROF__ELSEWHERE ||
                find_far(far_of(address), address) != NULL);
    MPROF__MUST(!read_entry(entry, address, &what) || what.counter != 0);
}

/* WHAT, at ADDRESS, is in SHADOW, which is a FAR one.  False: no memory. */
static bool put_far(size_t shadow, uintptr_t address,
                    const struct mprof__object *what) {
    struct far_leaf *leaf = make_leaf(shadow, address);
    if (leaf == NULL)
        return false;
    leaf->entry[index_of(address)] =
        (struct far){.bytes = what->bytes, .counter = what->counter};
    return true;
}

bool mprof__objects_put(const void *object, struct mprof__object what) {
    uintptr_t address = (uintptr_t)object;
    struct leaf *leaf =
        is_possible(address) ? make_leaf(offset_of(address), address) : NULL;
    if (leaf == NULL)
        return false;
    uint32_t *entry = &leaf->entry[index_of(address)];
    if (what.bytes >> MPROF__BYTES_BITS != 0 ||
        !mprof__entry_write(entry, what.counter, what.bytes)) {
        if (!put_far(far_of(address), address, &what))
            return false;
        mprof__store_relaxed(entry, MPROF__ELSEWHERE);
    }
    if (MPROF__CHECKS)
        mprof__objects_check(object);
    return true;
}

bool mprof__objects_take(const void *object, struct mprof__object *what) {
    uintptr_t address = (uintptr_t)object;
    uint32_t *entry = is_possible(address) ? find_entry(address) : NULL;
    if (entry == NULL)
        return false;
    if (MPROF__CHECKS)
        mprof__objects_check(object);
    if (!read_entry(entry, address, what))
        return false;
    mprof__store_relaxed(entry, 0);
    return true;
}

typedef void leaf_visitor(void *leaf, uintptr_t start, size_t bytes,
                          void *data);

/* Call VISIT for all leaves of SHADOW, of BYTES each, whose addresses begin at
 * START. */
static void for_shadow(size_t shadow, leaf_visitor *visit, void *data) {
    for (uintptr_t i = 0; mprof__load_relaxed(&is_used[shadow]) && i < REGIONS;
         i++) {
        struct region *region = mprof__load_acquire(&regions[shadow][i]);
        for (uintptr_t j = 0; region != NULL && j < LEAVES; j++) {
            void *leaf = mprof__load_acquire(&region->leaves[j]);
            if (leaf != NULL)
                visit(leaf, (i << LEAF_BITS | j) << (ENTRY_BITS + GRAIN_BITS),
                      leaf_bytes(shadow), data);
        }
    }
}

static void for_leaves(leaf_visitor *visit, void *data) {
    for (size_t shadow = 0; shadow < SHADOWS; shadow++)
        for_shadow(shadow, visit, data);
}

/* A walk through all entries. */
struct visit {
    void (*function)(const struct mprof__object *object, void *data);
    void *data;
};

static void visit_entry(const struct visit *v,
                        const struct leaf *const leaves[], uintptr_t address) {
    for (size_t offset = 0; offset < OFFSETS; offset++) {
        uintptr_t at = address + offset * 8;
        struct mprof__object object = {.at = (const void *)at};
        if (leaves[offset] != NULL &&
            read_entry(&leaves[offset]->entry[index_of(at)], at, &object))
            v->function(&object, v->data);
    }
}

/* Visit the leaves of 32 MiB from FIRST on.  Untouched pages stay untouched. */
static void visit_leaves(const struct visit *v,
                         const struct leaf *const leaves[], uintptr_t first) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), entries = page / 4;
    for (size_t i = 0; i < ENTRIES; i += entries) {
        bool some = false;
        for (size_t offset = 0; offset < OFFSETS; offset++) {
            unsigned char resident = 1;
            if (leaves[offset] != NULL &&
                (mincore((void *)(uintptr_t)&leaves[offset]->entry[i], page,
                         &resident) != 0 ||
                 resident & 1))
                some = true;
        }
        for (size_t k = i; some && k < i + entries; k++)
            visit_entry(v, leaves, first + (k << GRAIN_BITS));
    }
}

void mprof__objects_each(void (*function)(const struct mprof__object *object,
                                          void *data),
                         void *data) {
    struct visit v = {.function = function, .data = data};
    for (uintptr_t i = 0; i < (uintptr_t)REGIONS * LEAVES; i++) {
        uintptr_t first = i << (ENTRY_BITS + GRAIN_BITS);
        const struct leaf *const leaves[OFFSETS] = {find_leaf(0, first),
                                                    find_leaf(1, first)};
        if (leaves[0] != NULL || leaves[1] != NULL)
            visit_leaves(&v, leaves, first);
    }
}

static void clear(void *leaf, uintptr_t start, size_t bytes, void *data) {
    (void)start, (void)data;
    madvise(leaf, bytes, MADV_DONTNEED);
}

void mprof__objects_clear(void) {
    for_leaves(clear, NULL);
}

/* Whether its pages are there is asked for so many bytes of a leaf at once:
 * there may be little stack. */
enum { PIECE = 1 << 22 };
typedef unsigned char resident_pages[PIECE / LEAST_PAGE];

static void add_memory(void *leaf, uintptr_t start, size_t bytes, void *data) {
    uint64_t *sum = data;
    (void)start;
    resident_pages resident;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t at = 0; at < bytes; at += PIECE) {
        size_t length = bytes - at < PIECE ? bytes - at : PIECE;
        if (mincore((char *)leaf + at, length, resident) != 0)
            continue;
        for (size_t i = 0; i < (length + page - 1) / page; i++)
            *sum += (resident[i] & 1) * page;
    }
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
    struct aged_leaf *leaf = possible ? make_leaf(COLLECTED, address) : NULL;
    if (leaf == NULL)
        return NULL;
    remember(shadow, address);
    shadow->word = leaf->word;
    return &leaf->word[index_of(address)];
}

/* The object at ADDRESS whose word has VALUE. */
static struct mprof__object object_of(uint64_t value, uintptr_t address) {
    struct mprof__object object = {.counter = (mprof_ref)(value >> 32),
                                   .bytes = (uint32_t)value,
                                   .at = (const void *)address,
                                   .allocs = 1};
    if (object.bytes == HUGE_BYTES)
        object.bytes = find_far(COLLECTED_FAR, address)->bytes;
    return object;
}

bool mprof__collected_put(const void *address, struct mprof__object object,
                          struct mprof__past *past,
                          struct mprof__object *before) {
    struct mprof__shadow here = {.entries = 0};
    uintptr_t at = (uintptr_t)address;
    uint64_t *word = mprof__collected_find(at, &here);
    bool is_huge = object.bytes >= HUGE_BYTES;
    if (word == NULL)
        return false;
    *before = object_of(mprof__load_relaxed(word), at);
    if (is_huge && !put_far(COLLECTED_FAR, at, &object))
        return false;
    struct mprof__past *place = mprof__shadow_past(&here, address),
                       old = *place;
    *place = *past;
    *past = old;
    mprof__store_relaxed(word, (uint64_t)object.counter << 32 |
                                   (is_huge ? HUGE_BYTES : object.bytes));
    return true;
}

/* Those in the words FIRST to LAST of LEAF, the objects of which begin at
 * START. */
static void visit_collected(struct aged_leaf *leaf, size_t first, size_t last,
                            uintptr_t start, mprof__collected_visitor *visit,
                            void *data) {
    for (size_t i = first; i < last; i++) {
        uint64_t value = mprof__load_relaxed(&leaf->word[i]);
        if (__builtin_expect(value == 0, 1))
            continue;
        struct mprof__object object =
            object_of(value, start + (i << GRAIN_BITS));
        if (!visit(&object, &leaf->past[i], data))
            mprof__store_relaxed(&leaf->word[i], 0);
    }
}

struct collected_visit {
    mprof__collected_visitor *visit;
    void *data;
};

/* Visit an aged leaf.  Untouched pages stay untouched. */
static void visit_aged_leaf(void *aged, uintptr_t start, size_t bytes,
                            void *data) {
    struct aged_leaf *leaf = aged;
    const struct collected_visit *v = data;
    resident_pages resident;
    size_t words = (size_t)sysconf(_SC_PAGESIZE) / 8, many = PIECE / 8;
    (void)bytes;
    for (size_t first = 0; first < ENTRIES; first += many) {
        bool known = mincore(&leaf->word[first], PIECE, resident) == 0;
        for (size_t i = 0; i < many; i += words)
            if (!known || resident[i / words] & 1)
                visit_collected(leaf, first + i, first + i + words, start,
                                v->visit, v->data);
    }
}

void mprof__collected_one(const void *address, mprof__collected_visitor *visit,
                          void *data) {
    uintptr_t at = (uintptr_t)address;
    if (!is_possible(at) || at % (1 << GRAIN_BITS) != 0)
        return;
    struct aged_leaf *leaf = find_leaf(COLLECTED, at);
    size_t i = index_of(at);
    if (leaf != NULL)
        visit_collected(leaf, i, i + 1, at - (i << GRAIN_BITS), visit, data);
}

void mprof__collected_each(mprof__collected_visitor *visit, void *data) {
    struct collected_visit v = {visit, data};
    for_shadow(COLLECTED, visit_aged_leaf, &v);
}
