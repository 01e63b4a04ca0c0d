/* pool.h - memory that is given back all at once.
 *
 * Everything the reducer builds from one data file lives in a pool and dies
 * with it, so nothing is freed piece by piece.  A pool belongs to one thread.
 * When memory is short the pool jumps to `nomem`, which must be set; that is
 * the only jump in the reducer.
 */
#ifndef MPROF_POOL_H
#define MPROF_POOL_H

#include <setjmp.h>
#include <stddef.h>

struct mprof__chunk;

struct mprof__pool {
    struct mprof__chunk *chunks;
    char *next;     /* free bytes of the current chunk */
    size_t left;    /* how many */
    jmp_buf *nomem; /* NULL: abort */
};

/* COUNT items of SIZE bytes, zeroed; aligned for any type. */
void *mprof__alloc(struct mprof__pool *pool, size_t count, size_t size);

/* The same, but NULL when memory is short. */
void *mprof__try_alloc(struct mprof__pool *pool, size_t count, size_t size);

/* A copy of LENGTH bytes of TEXT with a NUL after it. */
char *mprof__copy(struct mprof__pool *pool, const char *text, size_t length);

/* printf into the pool. */
char *mprof__format(struct mprof__pool *pool, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Room for one more item: ARRAY has COUNT items and place for *CAPACITY.
 * Returns ARRAY, or a larger copy of it. */
void *mprof__grow(struct mprof__pool *pool, void *array, size_t count,
                  size_t *capacity, size_t size);

/* Give back what was allocated since MARK, a copy of *POOL, was made. */
void mprof__pool_release(struct mprof__pool *pool,
                         const struct mprof__pool *mark);

/* Give everything back; the pool is empty and can be used again. */
void mprof__pool_free(struct mprof__pool *pool);

#endif
