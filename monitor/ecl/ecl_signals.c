/* ecl_signals.c - see ecl_signals.h. */
#define _GNU_SOURCE
#include "monitor/ecl/ecl_signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sigaction own[NSIG]; /* the actions of the program */

/* The main thread is that whose number is the process's. */
static void pass_on(int signal, siginfo_t *info, void *context) {
    int saved = errno;
    if (gettid() != getpid()) {
        syscall(SYS_tgkill, getpid(), getpid(), signal);
        errno = saved;
        return;
    }
    if (own[signal].sa_flags & SA_SIGINFO)
        own[signal].sa_sigaction(signal, info, context);
    else
        own[signal].sa_handler(signal);
}

int mprof_signal_main(int signal) {
    struct sigaction action;
    if (signal < 1 || signal >= NSIG)
        return EINVAL;
    if (sigaction(signal, NULL, &action) != 0)
        return errno;
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN ||
        action.sa_sigaction == pass_on)
        return 0;
    own[signal] = action;
    action.sa_sigaction = pass_on;
    action.sa_flags |= SA_SIGINFO;
    return sigaction(signal, &action, NULL) == 0 ? 0 : errno;
}
