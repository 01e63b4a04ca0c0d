/* public.c - the functions of mprof.h.
 *
 * A process may have two monitors: the one of libmprof, which knows Lisp, and
 * that of a libmprof_malloc which was preloaded.  The loader binds all calls to
 * the latter, which passes them on: see mprof_set_functions().
 */
#include "monitor/base/atomic.h"
#include "monitor/api/functions.h"
#include "monitor/include/mprof.h"

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
