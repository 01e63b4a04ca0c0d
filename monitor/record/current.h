/* current.h - which session records now, for all who look without a lock. */
#ifndef MONITOR_RECORD_CURRENT_H
#define MONITOR_RECORD_CURRENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/base/atomic.h"

struct mprof__session;

/* In a child that was made without atfork handlers, by a raw clone(), these are
 * 0: nothing there may write to the parent's data file. */
struct mprof__sessions {
    struct mprof__session *current; /* that records; atomic */
    struct mprof__session *tracked; /* whose objects are remembered; atomic */
    uint64_t recording;             /* the current one's id, or 0; atomic */
    uint64_t direct; /* its id if malloc() and free() count in themselves, or
                        0; atomic */
    bool is_ours;    /* false: in such a child; atomic */
};
extern MPROF__NEAR union mprof__page {
    struct mprof__sessions sessions;
    char page[4096];
} mprof__page;

/* The session that records, NULL while none does. */
static inline struct mprof__session *mprof__current(void) {
    return mprof__load_acquire(&mprof__page.sessions.current);
}

/* Its id, 0 while none does: a line of the cache less on the path. */
static inline uint64_t mprof__recording_id(void) {
    return mprof__load_acquire(&mprof__page.sessions.recording);
}

/* Has it ID, and need malloc() and free() not ask how to count?  For a thread
 * that had said before that it is inside. */
static inline bool mprof__is_direct(uint64_t id) {
    return __builtin_expect(id == mprof__glance(&mprof__page.sessions.direct),
                            1);
}

/* IS_DIRECT: from here on they need not, while this session records.  Under the
 * API's lock. */
void mprof__set_direct(bool is_direct);

/* Return the session whose objects are remembered, even if it is stopped. */
static inline struct mprof__session *mprof__tracked(void) {
    return mprof__load_acquire(&mprof__page.sessions.tracked);
}

/* From here on CURRENT records, or none does, and the objects of TRACKED are
 * remembered. */
void mprof__set_current(struct mprof__session *current, uint64_t id,
                        struct mprof__session *tracked);

/* SESSION, with ID, is lost: if it is the current one, there is none.  Any
 * thread, any time. */
void mprof__drop_current(struct mprof__session *session, uint64_t id);

/* The page stays with this process: children of a raw clone() get zeros. */
void mprof__keep_current(void);

#endif
