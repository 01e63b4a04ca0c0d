/* pool.h - memory that is given back all at once.
 *
 * Everything the reducer builds from one data file lives in a pool and dies
 * with it, so nothing is freed piece by piece.  A pool belongs to one thread.
 * When memory is short the pool jumps to `nomem`, which must be set; that is
 * the only jump in the reducer.
 */
#ifndef REPORT_BASE_POOL_H
#define REPORT_BASE_POOL_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Is this compiled for a sanitizer, which sees to memory? */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { MPROF_SANITIZED = true };
#elif !defined __has_feature
enum { MPROF_SANITIZED = false };
#elif __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { MPROF_SANITIZED = true };
#else
enum { MPROF_SANITIZED = false };
#endif

/* The index of nothing. */
#define MPROF_NONE UINT32_MAX

struct report__chunk;

struct report__pool {
    struct report__chunk *chunks;
    char *next;     /* free bytes of the current chunk */
    size_t left;    /* how many */
    jmp_buf *nomem; /* NULL: abort */
};

/* COUNT items of SIZE bytes, zeroed; aligned for any type. */
void *report__alloc(struct report__pool *pool, size_t count, size_t size);

/* The same, but NULL when memory is short. */
void *report__try_alloc(struct report__pool *pool, size_t count, size_t size);

/* A copy of LENGTH bytes of TEXT with a NUL after it. */
char *report__copy(struct report__pool *pool, const char *text, size_t length);

/* printf into the pool. */
char *report__format(struct report__pool *pool, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A stream whose text is in POOL when it is closed. */
struct report__memory {
    struct report__pool *pool;
    FILE *stream;
    char *text;
    size_t size;
};
FILE *report__memory_open(struct report__memory *text,
                          struct report__pool *pool);
char *report__memory_close(struct report__memory *text);

/* Room for one more item: ARRAY has COUNT items and place for *CAPACITY.
 * Returns ARRAY, or a larger copy of it. */
void *report__grow(struct report__pool *pool, void *array, size_t count,
                   size_t *capacity, size_t size);

/* Give back BLOCK early, if it is a large one; it may be NULL.  No mark may be
 * younger. */
void report__drop(struct report__pool *pool, const void *block);

/* Give back what was allocated since MARK, a copy of *POOL, was made. */
void report__pool_release(struct report__pool *pool,
                          const struct report__pool *mark);

/* Give everything back; the pool is empty and can be used again. */
void report__pool_free(struct report__pool *pool);

/* Add an item, which may have commas, to LIST: it grows. */
#define REPORT__PUSH(pool, list, count, capacity, ...)                         \
    ((list) = report__grow(pool, list, count, &(capacity), sizeof *(list)),    \
     (list)[(count)++] = __VA_ARGS__)

/* qsort_r(), also of none at NULL. */
void report__sort(void *list, size_t count, size_t size,
                  int (*compare)(const void *, const void *, void *),
                  void *data);

#endif
