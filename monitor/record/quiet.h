/* quiet.h - a stretch in which nothing interrupts this thread. */
#ifndef MONITOR_RECORD_QUIET_H
#define MONITOR_RECORD_QUIET_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

struct mprof__quiet {
    sigset_t signals;
    int cancel_state;
};

/* Signals wait: a handler that allocates would find the locks taken.  Not
 * those by which the collector halts threads: it would wait for this thread,
 * while this one may wait for a thread that the collector has halted. */
static inline void mprof__be_quiet(struct mprof__quiet *saved) {
    static const int not_blocked[] = {SIGPWR, SIGXCPU, SIGSEGV, SIGBUS,
                                      SIGFPE, SIGILL,  SIGTRAP, SIGABRT};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof not_blocked / sizeof not_blocked[0]; i++)
        sigdelset(&all, not_blocked[i]);
    pthread_sigmask(SIG_BLOCK, &all, &saved->signals);
    /* Who is cancelled in here would keep the lock. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &saved->cancel_state);
}

static inline void mprof__be_loud(const struct mprof__quiet *saved) {
    pthread_setcancelstate(saved->cancel_state, NULL);
    pthread_sigmask(SIG_SETMASK, &saved->signals, NULL);
}

#endif
