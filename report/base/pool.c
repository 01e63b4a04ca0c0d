/* pool.c - memory that is given back all at once. */
#define _GNU_SOURCE
#include "report/base/pool.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK_BYTES 65536u
/* Arrays of at least so many bytes are in huge pages, where possible: otherwise
 * the system would spend most of its time for a large file on page faults. */
#define HUGE_BYTES ((size_t)4 << 20)
#define HUGE_PAGE ((uintptr_t)2 << 20)

struct report__chunk {
    struct report__chunk *next;
    bool single; /* one block */
    _Alignas(max_align_t) char data[];
};

static void no_memory(struct report__pool *pool) {
    if (pool->nomem)
        longjmp(*pool->nomem, 1);
    abort();
}

static void ask_for_huge_pages(char *memory, size_t bytes) {
    uintptr_t from = ((uintptr_t)memory + HUGE_PAGE - 1) & -HUGE_PAGE;
    uintptr_t to = ((uintptr_t)memory + bytes) & -HUGE_PAGE;
    madvise((void *)from, to - from, MADV_HUGEPAGE);
}

/* calloc leaves the pages of a large array untouched until they are used. */
static char *add_chunk(struct report__pool *pool, size_t bytes, bool single) {
    struct report__chunk *chunk = NULL;
    if (bytes < SIZE_MAX - sizeof *chunk)
        chunk = calloc(1, sizeof *chunk + bytes);
    if (!chunk)
        return NULL;
    if (bytes >= HUGE_BYTES)
        ask_for_huge_pages((char *)chunk, bytes);
    chunk->single = single;
    chunk->next = pool->chunks;
    pool->chunks = chunk;
    return chunk->data;
}

void *report__try_alloc(struct report__pool *pool, size_t count, size_t size) {
    const size_t align = sizeof(max_align_t);
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - align)
        return NULL;
    /* A sanitizer shall see the end of each. */
    if (MPROF_SANITIZED)
        return add_chunk(pool, bytes, true);
    bytes = bytes ? (bytes + align - 1) / align * align : align;
    if (bytes > CHUNK_BYTES / 4)
        return add_chunk(pool, bytes, true);
    if (bytes > pool->left) {
        char *chunk = add_chunk(pool, CHUNK_BYTES, false);
        if (!chunk)
            return NULL;
        pool->next = chunk;
        pool->left = CHUNK_BYTES;
    }
    void *block = pool->next;
    pool->next += bytes;
    pool->left -= bytes;
    return block;
}

void *report__alloc(struct report__pool *pool, size_t count, size_t size) {
    void *block = report__try_alloc(pool, count, size);
    if (!block)
        no_memory(pool);
    return block;
}

char *report__copy(struct report__pool *pool, const char *text, size_t length) {
    char *copy = report__alloc(pool, length + 1, 1);
    if (length)
        memcpy(copy, text, length);
    return copy;
}

char *report__format(struct report__pool *pool, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        return report__copy(pool, "", 0);

    char *text = report__alloc(pool, (size_t)length + 1, 1);
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

FILE *report__memory_open(struct report__memory *text,
                          struct report__pool *pool) {
    *text = (struct report__memory){.pool = pool};
    text->stream = open_memstream(&text->text, &text->size);
    if (!text->stream)
        no_memory(pool);
    return text->stream;
}

char *report__memory_close(struct report__memory *text) {
    if (fclose(text->stream) != 0)
        no_memory(text->pool);
    char *copy = report__copy(text->pool, text->text, text->size);
    free(text->text);
    return copy;
}

void *report__grow(struct report__pool *pool, void *array, size_t count,
                   size_t *capacity, size_t size) {
    if (count < *capacity)
        return array;
    size_t larger_capacity = *capacity ? *capacity * 2 : 64;
    void *larger = report__alloc(pool, larger_capacity, size);
    if (count)
        memcpy(larger, array, count * size);
    *capacity = larger_capacity;
    return larger;
}

/* The rest of the chunk that was current at MARK may have been used, and is not
 * zero any more: it is not used again. */
void report__pool_release(struct report__pool *pool,
                          const struct report__pool *mark) {
    while (pool->chunks != mark->chunks) {
        struct report__chunk *next = pool->chunks->next;
        free(pool->chunks);
        pool->chunks = next;
    }
    pool->next = NULL;
    pool->left = 0;
}

void report__drop(struct report__pool *pool, const void *block) {
    struct report__chunk **link = &pool->chunks, *chunk;
    while ((chunk = *link) && !(chunk->single && chunk->data == block))
        link = &chunk->next;
    if (!chunk)
        return;
    *link = chunk->next;
    free(chunk);
}

void report__pool_free(struct report__pool *pool) {
    static const struct report__pool empty;
    report__pool_release(pool, &empty);
}

void report__sort(void *list, size_t count, size_t size,
                  int (*compare)(const void *, const void *, void *),
                  void *data) {
    if (count > 0)
        qsort_r(list, count, size, compare, data);
}
