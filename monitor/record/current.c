/* current.c - see current.h. */
#define _GNU_SOURCE
#include "monitor/record/current.h"

#include <sys/mman.h>

union mprof__page mprof__page __attribute__((aligned(4096)));

void mprof__set_current(struct mprof__session *current, uint64_t id,
                        struct mprof__session *tracked) {
    mprof__store_release(&mprof__page.sessions.current, current);
    mprof__store_release(&mprof__page.sessions.tracked, tracked);
    mprof__store_release(&mprof__page.sessions.direct, 0);
    mprof__store_release(&mprof__page.sessions.recording, id);
    mprof__store_release(&mprof__page.sessions.is_ours, true);
}

/* The session may be dropped meanwhile. */
void mprof__set_direct(bool is_direct) {
    uint64_t id = mprof__recording_id();
    mprof__store_release(&mprof__page.sessions.direct, is_direct ? id : 0);
    if (mprof__recording_id() != id)
        mprof__store_release(&mprof__page.sessions.direct, 0);
}

void mprof__drop_current(struct mprof__session *session, uint64_t id) {
    if (session != mprof__tracked())
        return;
    mprof__replace(&mprof__page.sessions.recording, &id, 0);
    mprof__store_release(&mprof__page.sessions.direct, 0);
    struct mprof__session *same = session;
    mprof__replace(&mprof__page.sessions.current, &same, NULL);
    mprof__replace(&mprof__page.sessions.tracked, &session, NULL);
}

void mprof__keep_current(void) {
    /* Fails, and does no harm, where the page is part of a file's. */
    madvise(&mprof__page, sizeof mprof__page, MADV_WIPEONFORK);
}
