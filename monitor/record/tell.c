/* tell.c - see tell.h. */
#define _GNU_SOURCE
#include "monitor/record/tell.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void mprof__say(const char *line, int length) {
    /* Where files may not grow, a signal says so. */
    sigset_t too_large, saved;
    const struct timespec not_at_all = {0, 0};
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, &saved);
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0 &&
        errno == EFBIG)
        sigtimedwait(&too_large, NULL, &not_at_all);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
}

void mprof__tell_shortage(const char *path, int error) {
    static char line[PATH_MAX + 200];
    const char *why = strerrordesc_np(error);
    mprof__say(line,
               snprintf(line, sizeof line,
                        "mprof: %s: %s; its first lines tell what is missing\n",
                        path, why != NULL ? why : "unknown"));
}

void mprof__tell_loss(const char *path) {
    static char line[PATH_MAX + 200];
    mprof__say(line,
               snprintf(line, sizeof line,
                        "mprof: %s: was cut while it was written; what was "
                        "recorded is lost\n",
                        path));
}
