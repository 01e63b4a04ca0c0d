/* public.c - the functions of mprof.h.
 *
 * A process may have two monitors: libmprof's, which knows Lisp, and the one of
 * a preloaded libmprof_malloc.  The loader binds all calls to the latter, which
 * passes them on: see mprof_set_functions().
 */
#include <inttypes.h>
#include <stdio.h>

#include "monitor/base/atomic.h"
#include "monitor/api/functions.h"
#include "monitor/include/mprof.h"
#include "monitor/heap/live.h"
#include "monitor/record/messages.h"

static const struct mprof__functions *functions = &mprof__own_functions;

void mprof_set_functions(const struct mprof__functions *others) {
    mprof__store_release(&functions, others);
}

static const struct mprof__functions *now(void) {
    return mprof__load_acquire(&functions);
}

int mprof_start(const char *file) {
    return now()->start(file);
}

int mprof_set_heaps(unsigned heaps) {
    return now()->set_heaps(heaps);
}

int mprof_set_live(int mode) {
    return now()->set_live(mode);
}

int mprof_set_sampling(unsigned bytes) {
    return now()->set_sampling(bytes);
}

int mprof_keepers(unsigned from, unsigned until) {
    return now()->keepers(from, until);
}

int mprof_snapshot(unsigned *number) {
    return now()->snapshot(number);
}

int mprof_save_alive(const char *file, unsigned from, unsigned until) {
    return now()->save_alive(file, from, until);
}

int mprof_stop(void) {
    return now()->stop();
}

int mprof_restart(const char *file) {
    return now()->restart(file);
}

void set_mprof_autosave(int count) {
    now()->set_autosave(count);
}

int mprof_reset(void) {
    return now()->reset();
}

int mprof_resume(void) {
    return now()->resume();
}

int mprof_mark(const char *name) {
    return now()->mark(name);
}

int mprof_scope_begin(struct mprof_scope *scope, unsigned heaps) {
    return now()->scope_begin(scope, heaps);
}

int mprof_scope_end(struct mprof_scope *scope) {
    return now()->scope_end(scope);
}

int mprof_scope_save(const struct mprof_scope *scope, const char *file) {
    return now()->scope_save(scope, file);
}

void mprof_scope_free(struct mprof_scope *scope) {
    now()->scope_free(scope);
}

int mprof_save(const char *file) {
    return now()->save(file);
}

int mprof_status(struct mprof_status *status) {
    return now()->status(status);
}

void mprof_set_limit(uint64_t bytes) {
    now()->set_limit(bytes);
}

void mprof_set_warnings(int on) {
    now()->set_warnings(on);
}

static struct mprof__heap_now heap(bool reset) {
    struct mprof__heap_now heap;
    now()->heap(reset, &heap);
    return heap;
}

uint64_t mprof_heap_current(void) {
    return heap(false).current;
}

uint64_t mprof_heap_peak(void) {
    return heap(false).peak;
}

uint64_t mprof_heap_total(void) {
    return heap(false).total;
}

uint64_t mprof_heap_count(void) {
    return heap(false).count;
}

void mprof_heap_reset_peak(void) {
    heap(true);
}

void mprof_heap_callback(mprof_heap_function function, void *cookie) {
    now()->watch(function, cookie);
}

void mprof_heap_print(const char *label) {
    struct mprof__heap_now h = heap(false);
    char line[512];
    mprof__message_line(line, snprintf(line, sizeof line,
                                       "mprof: %.400s: current %" PRIu64
                                       ", peak %" PRIu64 ", total %" PRIu64
                                       " bytes, %" PRIu64 " allocations\n",
                                       label == NULL ? "heap" : label,
                                       h.current, h.peak, h.total, h.count));
}
