/* status.c - the sums of what a session has recorded so far. */
#include "monitor/base/atomic.h"
#include "monitor/include/mprof.h"
#include "monitor/record/session.h"

/* A counter of a thread that may be running. */
static uint64_t peek(const uint64_t *counter) {
    return mprof__load_relaxed(counter);
}

static void add_bin(struct mprof_status *status, const struct mprof_bin *bin) {
    status->objects += peek(&bin->objects.allocs);
    status->object_bytes += peek(&bin->objects.bytes);
    status->allocs += peek(&bin->objects.allocs) + peek(&bin->storage.allocs);
    status->bytes += peek(&bin->objects.bytes) + peek(&bin->storage.bytes);
}

static void add_size(struct mprof_status *status,
                     const struct mprof_size *size) {
    status->c_allocs += peek(&size->allocated.allocs);
    status->c_bytes += peek(&size->allocated.bytes);
    status->c_frees += peek(&size->freed.allocs);
    status->c_freed_bytes += peek(&size->freed.bytes);
}

static void add_thread(struct mprof_status *status, uint64_t *threads,
                       const struct mprof_thread *thread) {
    threads[thread->heap] += peek(&thread->members);
    /* One that allocates in both heaps is one. */
    if (threads[thread->heap] > status->threads)
        status->threads = threads[thread->heap];
    status->folded_allocs += peek(&thread->folded_allocs);
}

void mprof__session_status(struct mprof__session *session,
                           struct mprof_status *status) {
    struct mprof__arena *arena = &session->arena;
    const struct mprof_header *header = mprof__arena_header(arena);
    uint64_t used = mprof__load_acquire(&header->used);
    uint64_t threads[MPROF_HEAPS] = {0};
    const struct mprof_record *record;
    for (uint64_t at = MPROF_HEADER_BYTES; at < used;
         at += mprof__record_size(record)) {
        record = (const void *)(arena->base + at);
        if (record->type == MPROF_NODES)
            status->nodes += mprof__load_relaxed(
                &((const struct mprof_block *)record)->count);
        else if (record->type == MPROF_BIN)
            add_bin(status, (const struct mprof_bin *)record);
        else if (record->type == MPROF_SIZE)
            add_size(status, (const struct mprof_size *)record);
        else if (record->type == MPROF_THREAD)
            add_thread(status, threads, (const struct mprof_thread *)record);
    }
    status->unplaced_allocs = peek(&header->unplaced_allocs);
    status->allocs += status->unplaced_allocs + status->c_allocs;
    status->bytes += peek(&header->unplaced_bytes) + status->c_bytes;
    status->file_bytes = used;
}
