/* ecl_thread.h - the environment of the thread that runs Lisp. */
#ifndef MONITOR_ECL_ECL_THREAD_H
#define MONITOR_ECL_ECL_THREAD_H

#include <pthread.h>

#include <ecl/ecl.h>
#include <ecl/internal.h>

#include "monitor/base/atomic.h"

#ifdef ECL_THREADS

/* Note that this thread runs Lisp. */
static inline void mprof__ecl_note_thread(void) {
}

/* Before any Lisp ran: note this thread if it has the stack that Lisp started
 * on. */
static inline void mprof__ecl_find_thread(void) {
}

/* Return the environment of this thread; NULL: it does not run Lisp. */
static inline cl_env_ptr mprof__ecl_env(void) {
    return ecl_process_env_unsafe();
}

#else

/* An ECL without threads has one environment, whichever thread asks: it belongs
 * to the thread that last ran Lisp, and the program may have others.  0: that
 * thread is not known yet.  Atomic. */
extern pthread_t mprof__lisp_thread;

static inline void mprof__ecl_note_thread(void) {
    mprof__store_relaxed(&mprof__lisp_thread, pthread_self());
}

void mprof__ecl_find_thread(void);

static inline cl_env_ptr mprof__ecl_env(void) {
    if (mprof__load_relaxed(&mprof__lisp_thread) != pthread_self())
        return NULL;
    return ecl_process_env_unsafe();
}

#endif

#endif
