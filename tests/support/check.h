/* check.h - cmocka and what it needs before it. */
#ifndef MPROF_TESTS_CHECK_H
#define MPROF_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static bool check_left_out __attribute__((unused));

/* This test cannot go on here, for the reason WHY.  The program that it is in
 * then counts as skipped, see check_result(). */
#define leave_out(why)                                                         \
    do {                                                                       \
        fprintf(stderr, "skip %s: %s\n", __func__, why);                       \
        check_left_out = true;                                                 \
        skip();                                                                \
    } while (0)

/* Does ACT, in a child of this process, end it by abort()?  What it says of
 * that is not seen. */
static inline bool check_aborts(void (*act)(void)) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        act();
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child &&
           WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* The status of a test program of whose tests FAILED have failed: 77, for
 * automake's "skipped", when some were left out. */
static inline int check_result(int failed) {
    return failed != 0 ? 1 : check_left_out ? 77 : 0;
}

#endif
