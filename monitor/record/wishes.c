/* wishes.c - see wishes.h. */
#include "monitor/record/wishes.h"

#include <stdlib.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/format/bytes.h"
#include "monitor/include/mprof.h"
#include "monitor/names/adapter.h"
#include "monitor/record/current.h"
#include "monitor/record/recording.h"
#include "monitor/record/recording_lock.h"
#include "monitor/record/session.h"

/* Unless set: as much, or an eighth of the machine's memory. */
enum { MOST_BY_DEFAULT = 1024 * 1024 * 1024 };

struct mprof__wishes mprof__wishes;

/* A wrong MPROF_LIMIT is as none; who starts the program says so. */
uint64_t mprof__default_limit(void) {
    const char *wanted = getenv("MPROF_LIMIT");
    uint64_t bytes;
    if (wanted != NULL && mprof__read_bytes(wanted, &bytes))
        return bytes < MPROF__LARGEST_LIMIT ? bytes : MPROF__LARGEST_LIMIT;
    bytes =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 8;
    return bytes < MOST_BY_DEFAULT ? bytes : MOST_BY_DEFAULT;
}

int mprof__recording_set_heaps(unsigned wanted) {
    if (wanted == 0 || wanted > (MPROF_HEAP_LISP | MPROF_HEAP_MALLOC))
        return MPROF_E_ARGUMENT;
    mprof__recording_lock();
    int error = mprof__adapter.check(wanted);
    if (error == 0)
        mprof__wishes.heaps = wanted;
    return mprof__recording_unlock(error);
}

int mprof__recording_set_live(int mode) {
    if (mode < MPROF_LIVE_OFF || mode > MPROF_LIVE_AS_IT_IS)
        return MPROF_E_ARGUMENT;
    if (mode != MPROF_LIVE_OFF &&
        (mprof__adapter.reports_live == NULL || !mprof__adapter.reports_live()))
        return MPROF_E_ALIVE;
    mprof__recording_lock();
    mprof__wishes.alive = (unsigned)mode;
    return mprof__recording_unlock(0);
}

_Static_assert(MPROF__MOST_SAMPLING == MPROF_MOST_SAMPLING,
               "one number for programs and for options");

int mprof__recording_set_sampling(unsigned bytes) {
    if (bytes == 1 || bytes > MPROF__MOST_SAMPLING)
        return MPROF_E_ARGUMENT;
    mprof__recording_lock();
    mprof__wishes.sampling = bytes;
    return mprof__recording_unlock(0);
}

void mprof__recording_set_autosave(int count) {
    mprof__recording_lock();
    mprof__store_relaxed(&mprof__autosave, count > 0 ? (uint64_t)count : 0);
    if (count > 0)
        mprof__set_direct(false);
    mprof__recording_unlock(0);
}

void mprof__recording_set_limit(uint64_t bytes) {
    mprof__recording_lock();
    mprof__wishes.limit = bytes == 0                     ? 1
                          : bytes < MPROF__LARGEST_LIMIT ? bytes
                                                         : MPROF__LARGEST_LIMIT;
    mprof__recording_unlock(0);
}

void mprof__recording_set_warnings(int on) {
    mprof__recording_lock();
    mprof__wishes.warns = on != 0;
    mprof__recording_unlock(0);
}
