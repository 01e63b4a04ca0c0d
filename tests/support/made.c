/* made.c - see made.h. */
#include "tests/support/made.h"

#include <string.h>

#include "monitor/base/self.h"
#include "monitor/record/thread.h"
#include "tests/support/check.h"

struct mprof__session *made_session(uint64_t limit) {
    int error;
    mprof__threads_initialize();
    struct mprof__session *session = mprof__session_new(NULL, limit, 1, &error);
    assert_non_null(session);
    return session;
}

struct mprof__thread *made_thread(struct mprof__session *session,
                                  enum mprof_heap heap) {
    assert_non_null(mprof__enter());
    struct mprof__thread *thread = mprof__thread_self(session, heap);
    assert_non_null(thread);
    return thread;
}

void made_end(struct mprof__session *session, struct mprof__thread *thread) {
    memset(&thread->chain, 0, sizeof thread->chain);
    mprof__leave(mprof__self);
    mprof__session_free(session);
}

mprof_ref made_function(struct mprof__session *session, uint64_t address) {
    struct mprof__arena *arena = &session->arena;
    struct mprof_function *function =
        mprof__arena_record(arena, MPROF_FUNCTION, sizeof *function);
    function->address = address;
    return mprof__arena_publish(arena, function);
}

mprof_ref made_site(struct mprof__session *session, mprof_ref function,
                    uint64_t return_address) {
    struct mprof__arena *arena = &session->arena;
    struct mprof_site *site =
        mprof__arena_record(arena, MPROF_SITE, sizeof *site);
    site->function = function;
    site->return_address = return_address;
    return mprof__arena_publish(arena, site);
}

void made_each(const struct mprof__session *session, uint32_t type,
               size_t bytes, void (*visit)(void *thing)) {
    uint64_t used = mprof__arena_header(&session->arena)->used;
    const struct mprof_record *record;
    for (uint64_t i = MPROF_HEADER_BYTES; i < used; i += record->bytes) {
        record = (const void *)(session->arena.base + i);
        const struct mprof_block *block = (const void *)record;
        for (uint32_t k = 0; record->type == type && k < block->count; k++)
            visit((char *)(block + 1) + k * bytes);
    }
}
