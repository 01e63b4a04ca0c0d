/* around.c - see around.h. */
#include "monitor/malloc/around.h"

__thread uintptr_t mprof__calling __attribute__((tls_model("initial-exec")));

/* Others than the C library's, with functions of their own; `end` is 0: none.
 * Written before there is a second thread, or under the lock of the loader. */
enum { ALLOCATORS = 4 };
static struct mprof__loaded allocators[ALLOCATORS];

void mprof__add_allocator(const struct mprof__loaded *file) {
    for (unsigned i = 0; i < ALLOCATORS; i++) {
        if (allocators[i].end == 0)
            allocators[i] = *file;
        if (allocators[i].start == file->start)
            return;
    }
}

static bool is_in_allocator(uintptr_t address) {
    for (unsigned i = 0; i < ALLOCATORS; i++)
        if (address >= allocators[i].start && address < allocators[i].end)
            return true;
    return false;
}

/* Requests of the next allocator for itself are part of the program's request.
 * Requests of a signal handler that interrupts it are the program's.  A
 * handler's frame is far away: the registers are between. */
static bool is_programs(const void *frame) {
    enum { LEAST_BETWEEN = 1024 };
    const struct mprof__malloc_monitor *m = mprof__malloc_monitor();
    if (mprof__calling & MPROF__LOOSELY) {
        uintptr_t pc, sp, bp;
        mprof__caller(frame, &pc, &sp, &bp);
        return pc != 0 && !is_in_allocator(pc);
    }
    return m != NULL &&
           mprof__calling - mprof__frame_position(frame) >= LEAST_BETWEEN &&
           m->interrupts(frame, mprof__calling);
}

bool __attribute__((noinline)) mprof__begin_call_slowly(const void *frame) {
    bool reports = is_programs(frame);
    if (reports)
        mprof__calling = mprof__frame_position(frame);
    return reports;
}
