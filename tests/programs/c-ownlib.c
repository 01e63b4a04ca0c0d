/* c-ownlib.c - an allocator of the program's own, as dense as the rules allow:
 * nothing stands before a block, and blocks of 8 bytes lie side by side.
 *
 * Counts what it is asked for; own_counts() tells. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define API __attribute__((visibility("default")))

API void own_counts(unsigned long counts[4]);
API size_t malloc_usable_size(void *block);
API void *memalign(size_t alignment, size_t bytes);

enum { UNIT = 8, UNITS = 8 << 20, CLASSES = 24 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char (*region)[UNIT];
static size_t used; /* units */
static uint32_t asked[UNITS];
static uint8_t classes[UNITS]; /* the room is UNIT << class */
static void *lists[CLASSES];
static unsigned long allocs, bytes_asked, frees, bytes_freed;

static unsigned class_of(size_t bytes) {
    unsigned class_ = 0;
    while (((size_t)UNIT << class_) < bytes)
        class_++;
    return class_;
}

static size_t unit_of(const void *address) {
    return (size_t)((const char *)address - region[0]) / UNIT;
}

static void *carve(size_t alignment, size_t room) {
    if (region == NULL)
        region = mmap(NULL, (size_t)UNITS * UNIT, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED)
        abort();
    while ((uintptr_t)region[used] % alignment != 0)
        used++;
    if (room / UNIT > UNITS - used)
        return NULL;
    void *block = region[used];
    used += room / UNIT;
    return block;
}

static void *get(size_t alignment, size_t bytes) {
    /* All blocks of a list are aligned alike, to 8 or to 16. */
    unsigned class_ = class_of(bytes < alignment ? alignment : bytes);
    void *block = NULL;
    pthread_mutex_lock(&lock);
    if (class_ < CLASSES && alignment <= 16 && lists[class_] != NULL) {
        block = lists[class_];
        lists[class_] = *(void **)block;
    } else if (class_ < CLASSES) {
        block = carve(alignment, (size_t)UNIT << class_);
    }
    if (block != NULL) {
        asked[unit_of(block)] = (uint32_t)bytes;
        classes[unit_of(block)] = (uint8_t)class_;
        allocs++;
        bytes_asked += bytes;
    }
    pthread_mutex_unlock(&lock);
    if (block == NULL)
        errno = ENOMEM;
    return block;
}

API void *malloc(size_t bytes) {
    return get(bytes <= 8 ? 8 : 16, bytes);
}

API void free(void *block) {
    if (block == NULL)
        return;
    pthread_mutex_lock(&lock);
    unsigned class_ = classes[unit_of(block)];
    frees++;
    bytes_freed += asked[unit_of(block)];
    *(void **)block = lists[class_];
    lists[class_] = block;
    pthread_mutex_unlock(&lock);
}

API void *calloc(size_t count, size_t bytes) {
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = malloc(all);
    return block == NULL ? NULL : memset(block, 0, all);
}

API void *realloc(void *old, size_t bytes) {
    void *block = malloc(bytes);
    if (block == NULL || old == NULL)
        return block;
    size_t had = asked[unit_of(old)];
    memcpy(block, old, had < bytes ? had : bytes);
    free(old);
    return block;
}

API void *memalign(size_t alignment, size_t bytes) {
    return get(alignment < 32 ? 32 : alignment, bytes);
}

API void *aligned_alloc(size_t alignment, size_t bytes) {
    return memalign(alignment, bytes);
}

API size_t malloc_usable_size(void *block) {
    return block == NULL ? 0 : (size_t)UNIT << classes[unit_of(block)];
}

API void own_counts(unsigned long counts[4]) {
    pthread_mutex_lock(&lock);
    counts[0] = allocs;
    counts[1] = bytes_asked;
    counts[2] = frees;
    counts[3] = bytes_freed;
    pthread_mutex_unlock(&lock);
}
