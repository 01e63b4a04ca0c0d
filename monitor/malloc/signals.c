/* signals.c - the program sets and asks for the action of SIGBUS as if the
 * monitor had none; see record/cut.h.
 *
 * Only signal() and sigaction(), which nearly all programs use.  An action that
 * is set by other functions is in force as well, and replaces ours.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "monitor/file/cut.h"

#define PUBLIC __attribute__((visibility("default"), weak))

extern int __sigaction(int, const struct sigaction *, struct sigaction *);

PUBLIC int sigaction(int number, const struct sigaction *restrict action,
                     struct sigaction *restrict old) {
    return number == SIGBUS ? mprof__cut_sigaction(action, old)
                            : __sigaction(number, action, old);
}

PUBLIC sighandler_t signal(int number, sighandler_t handler) {
    struct sigaction old, action = {.sa_handler = handler};
    if (number != SIGBUS || handler == SIG_ERR)
        return ssignal(number, handler);
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, number);
    action.sa_flags = SA_RESTART;
    return mprof__cut_sigaction(&action, &old) == 0 ? old.sa_handler : SIG_ERR;
}
