/* chunks.c - see chunks.h. */
#include "monitor/base/chunks.h"

#include "monitor/base/table.h"

enum { CHUNK_BYTES = 64 * 1024, ALIGNED = 16 };

struct mprof__chunk {
    struct mprof__chunk *next;
    size_t bytes, used;
};

static size_t round_up(size_t bytes) {
    return (bytes + ALIGNED - 1) & ~(size_t)(ALIGNED - 1);
}

void *mprof__chunks_alloc(struct mprof__chunks *chunks, size_t bytes) {
    struct mprof__chunk *chunk = chunks->last;
    bytes = round_up(bytes);
    if (chunk == NULL || chunk->bytes - chunk->used < bytes) {
        size_t size = CHUNK_BYTES;
        if (size < bytes + round_up(sizeof *chunk))
            size = bytes + round_up(sizeof *chunk);
        chunk = mprof__map(size);
        if (chunk == NULL)
            return NULL;
        *chunk =
            (struct mprof__chunk){chunks->last, size, round_up(sizeof *chunk)};
        chunks->last = chunk;
    }
    void *memory = (char *)chunk + chunk->used;
    chunk->used += bytes;
    return memory;
}

void mprof__chunks_free(struct mprof__chunks *chunks) {
    struct mprof__chunk *chunk = chunks->last;
    while (chunk != NULL) {
        struct mprof__chunk *next = chunk->next;
        mprof__unmap(chunk, chunk->bytes);
        chunk = next;
    }
    chunks->last = NULL;
}
