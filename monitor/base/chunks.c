/* chunks.c - see chunks.h. */
#include "monitor/base/chunks.h"

#include "monitor/base/table.h"

enum { CHUNK_BYTES = 64 * 1024, ALIGNED = 16 };

struct mprof__chunk {
    struct mprof__chunk *next;
    size_t used; /* a multiple of ALIGNED, as this head */
};

void *mprof__chunks_alloc(struct mprof__chunks *chunks, size_t bytes) {
    struct mprof__chunk *chunk = chunks->last;
    bytes = (bytes + ALIGNED - 1) & ~(size_t)(ALIGNED - 1);
    if (chunk == NULL || CHUNK_BYTES - chunk->used < bytes) {
        chunk = mprof__map(CHUNK_BYTES);
        if (chunk == NULL)
            return NULL;
        *chunk = (struct mprof__chunk){chunks->last, sizeof *chunk};
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
        mprof__unmap(chunk, CHUNK_BYTES);
        chunk = next;
    }
    chunks->last = NULL;
}
