/* chunks.h - zeroed memory for small things that live equally long. */
#ifndef MONITOR_BASE_CHUNKS_H
#define MONITOR_BASE_CHUNKS_H

#include <stddef.h>

/* Zeroed: there are none yet.  For one thread at a time. */
struct mprof__chunks {
    struct mprof__chunk *last;
};

/* BYTES, a few thousand at most, of zeroed memory, aligned to 16, until all of
 * CHUNKS are freed; NULL: there is none.  Mapped, so it is safe inside of
 * malloc(). */
void *mprof__chunks_alloc(struct mprof__chunks *chunks, size_t bytes);
void mprof__chunks_free(struct mprof__chunks *chunks);

#endif
