/* malloc_count.c - what a process asks the C allocator for, counted plainly.
 *
 * Loaded behind libmprof_malloc.so, which passes every request on:
 *
 *     LD_PRELOAD="libmprof_malloc.so malloc_count.so" MALLOC_COUNT_OUT=FILE
 *
 * Each process keeps one line of eight numbers in FILE.PID:
 *
 *     allocations bytes frees bytes-freed unknown-frees failed peak objects
 *
 * where the last are the objects at the peak.  MALLOC_COUNT_HISTORY=FILE has
 * what history.h says written at the end, MALLOC_COUNT_TRACE=FILE as it goes;
 * who asked is known when this library is loaded without another before it.
 *
 * The file is mapped: the line is true at any moment, also after the process
 * was killed.  After an exec the new program writes FILE.PID.1, and so on.
 * The child of a fork begins at zero; its frees of what its parent allocated
 * are unknown, as are those of what nobody here has allocated.  MALLOC_COUNT_
 * SKIP names a program that is not counted (the command that starts another).
 *
 * It knows nothing of mprof, has one lock for everything, and takes memory
 * from glibc by the names that nobody replaces.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "history.h"

#define SITE __builtin_return_address(0)
#define ORACLE_API __attribute__((visibility("default")))

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void *__libc_valloc(size_t bytes);
void *__libc_pvalloc(size_t bytes);
void __libc_free(void *block);

ORACLE_API void *memalign(size_t alignment, size_t bytes);
ORACLE_API void *pvalloc(size_t bytes);

enum {
    ALLOCS,
    BYTES,
    FREES,
    FREED_BYTES,
    UNKNOWN_FREES,
    FAILED,
    PEAK,
    PEAK_OBJECTS,
    NUMBERS
};
enum { DIGITS = 20, LINE = NUMBERS * (DIGITS + 1) };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The rest is under the lock. */
static uint64_t numbers[NUMBERS];
static char *line; /* mapped; NULL: not counted, or not begun */
static bool begun;
static unsigned forks; /* this process is how many forks away from the first */

/* The live blocks: open addressing; a removed one leaves GONE in its place. */
enum { ROOM = 1 << 22 };
#define GONE ((void *)1)
static struct block {
    void *address; /* NULL: free, and nothing was ever here */
    size_t bytes;
    unsigned site;
    unsigned forks; /* of the process that allocated it */
} blocks[ROOM];

static void die(const char *reason) {
    ssize_t ignored = write(2, "malloc_count: ", 14);
    ignored += write(2, reason, strlen(reason));
    ignored += write(2, "\n", 1);
    (void)ignored;
    _exit(99);
}

static void open_file(void) {
    char name[4096];
    const char *out = getenv("MALLOC_COUNT_OUT");
    const char *skip = getenv("MALLOC_COUNT_SKIP");
    line = NULL;
    if (environ == NULL)
        return; /* too early: try again next time */
    begun = true;
    if (out == NULL ||
        (skip != NULL && strcmp(skip, program_invocation_short_name) == 0))
        return;
    int fd = -1;
    for (int n = 0; fd < 0 && n < 100; n++) {
        snprintf(name, sizeof name, n == 0 ? "%s.%d" : "%s.%d.%d", out,
                 (int)getpid(), n);
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (fd < 0 || ftruncate(fd, LINE) != 0)
        die("cannot create the file MALLOC_COUNT_OUT");
    line = mmap(NULL, LINE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (line == MAP_FAILED)
        die("cannot map the file MALLOC_COUNT_OUT");
    close(fd);
}

static void write_line(void) {
    numbers[PEAK] = history_peak();
    numbers[PEAK_OBJECTS] = history_peak_objects();
    for (int i = 0; i < NUMBERS; i++) {
        char *end = line + (i + 1) * (DIGITS + 1) - 1;
        uint64_t number = numbers[i];
        *end = i == NUMBERS - 1 ? '\n' : ' ';
        for (int digit = 0; digit < DIGITS; digit++, number /= 10)
            *--end = (char)('0' + number % 10);
    }
}

static void begin(void) {
    pthread_mutex_lock(&lock);
    if (!begun)
        open_file();
}

static void end(void) {
    if (line != NULL)
        write_line();
    pthread_mutex_unlock(&lock);
}

static size_t place_of(const void *address) {
    return (size_t)(((uintptr_t)address >> 3) * 0x9e3779b97f4a7c15u >> 42);
}

static void add(const struct block *block) {
    size_t at = place_of(block->address);
    for (size_t i = 0; i < ROOM; i++, at = (at + 1) % ROOM)
        if (blocks[at].address == NULL || blocks[at].address == GONE) {
            blocks[at] = *block;
            return;
        }
    die("too many blocks");
}

static struct block *find(const void *address) {
    size_t at = place_of(address);
    for (size_t i = 0; i < ROOM; i++, at = (at + 1) % ROOM) {
        if (blocks[at].address == NULL)
            break;
        if (blocks[at].address == address)
            return &blocks[at];
    }
    return NULL;
}

/* A request was answered, from SITE: BLOCK of BYTES, or NULL. */
static void *answered(void *block, size_t bytes, const void *address) {
    int saved = errno;
    begin();
    if (block == NULL) {
        numbers[FAILED]++;
    } else {
        numbers[ALLOCS]++;
        numbers[BYTES] += bytes;
        unsigned site = history_site(address);
        add(&(struct block){block, bytes, site, forks});
        history_begin(site, block, bytes);
    }
    end();
    errno = saved;
    return block;
}

/* ADDRESS is about to be given back.  What is returned undoes that. */
static struct block take_out(void *address) {
    struct block taken = {NULL, 0, 0, 0};
    int saved = errno;
    begin();
    struct block *block = find(address);
    if (block != NULL) {
        taken = *block;
        block->address = GONE;
    }
    if (block != NULL && taken.forks == forks) {
        numbers[FREES]++;
        numbers[FREED_BYTES] += taken.bytes;
        history_end(taken.site, address, taken.bytes);
    } else {
        numbers[UNKNOWN_FREES]++;
    }
    end();
    errno = saved;
    return taken;
}

static void put_back(const struct block *taken) {
    begin();
    if (taken->address != NULL)
        add(taken);
    if (taken->address != NULL && taken->forks == forks) {
        numbers[FREES]--;
        numbers[FREED_BYTES] -= taken->bytes;
        history_begin(taken->site, taken->address, taken->bytes);
    } else {
        numbers[UNKNOWN_FREES]--;
    }
    numbers[FAILED]++;
    end();
}

ORACLE_API void *malloc(size_t bytes) {
    return answered(__libc_malloc(bytes), bytes, SITE);
}

ORACLE_API void *calloc(size_t count, size_t bytes) {
    return answered(__libc_calloc(count, bytes), count * bytes, SITE);
}

static void *resize(void *old, size_t bytes, const void *site) {
    if (old == NULL)
        return answered(__libc_malloc(bytes), bytes, site);
    struct block taken = take_out(old);
    void *block = __libc_realloc(old, bytes);
    if (block != NULL)
        return answered(block, bytes, site);
    if (bytes != 0)
        put_back(&taken);
    return NULL;
}

ORACLE_API void *realloc(void *old, size_t bytes) {
    return resize(old, bytes, SITE);
}

ORACLE_API void *reallocarray(void *old, size_t count, size_t bytes) {
    size_t all;
    if (!__builtin_mul_overflow(count, bytes, &all))
        return resize(old, all, SITE);
    errno = ENOMEM;
    return answered(NULL, 0, SITE);
}

ORACLE_API void *memalign(size_t alignment, size_t bytes) {
    return answered(__libc_memalign(alignment, bytes), bytes, SITE);
}

ORACLE_API void *aligned_alloc(size_t alignment, size_t bytes) {
    return answered(__libc_memalign(alignment, bytes), bytes, SITE);
}

ORACLE_API int posix_memalign(void **place, size_t alignment, size_t bytes) {
    void *block = NULL;
    bool good = alignment % sizeof(void *) == 0 && alignment != 0 &&
                (alignment & (alignment - 1)) == 0;
    if (good)
        block = __libc_memalign(alignment, bytes);
    if (answered(block, bytes, SITE) == NULL)
        return good ? ENOMEM : EINVAL;
    *place = block;
    return 0;
}

ORACLE_API void *valloc(size_t bytes) {
    return answered(__libc_valloc(bytes), bytes, SITE);
}

ORACLE_API void *pvalloc(size_t bytes) {
    return answered(__libc_pvalloc(bytes), bytes, SITE);
}

ORACLE_API void free(void *block) {
    if (block == NULL)
        return;
    take_out(block);
    __libc_free(block);
}

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork_parent(void) {
    pthread_mutex_unlock(&lock);
}

static void after_fork_child(void) {
    forks++;
    memset(numbers, 0, sizeof numbers);
    history_clear();
    open_file();
    end();
}

static void __attribute__((destructor)) finish(void) {
    const char *name = getenv("MALLOC_COUNT_HISTORY");
    const char *skip = getenv("MALLOC_COUNT_SKIP");
    if (name == NULL ||
        (skip != NULL && strcmp(skip, program_invocation_short_name) == 0))
        return;
    pthread_mutex_lock(&lock);
    history_write(name);
    pthread_mutex_unlock(&lock);
}

static void __attribute__((constructor)) initialize(void) {
    if (getenv("MALLOC_COUNT_TRACE") != NULL)
        history_trace(getenv("MALLOC_COUNT_TRACE"));
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
