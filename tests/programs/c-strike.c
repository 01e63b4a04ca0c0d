/* c-strike.c - a signal handler that allocates and frees, and strikes within
 * malloc() and free(); see striking.c. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t strikes;
static void *volatile sink;

static void strike(int signal) {
    (void)signal;
    sink = malloc(1000);
    sink = malloc(2000);
    free(sink);
    strikes++;
}

static void be_busy(void) {
    for (int i = 0; i < 1000; i++) {
        sink = malloc(50);
        free(sink);
    }
}

static void be_cleared(void) {
    for (int i = 0; i < 100; i++) {
        sink = calloc(6, 10);
        free(sink);
    }
}

int main(void) {
    char line[32];
    signal(SIGUSR1, strike);
    be_busy();
    be_cleared();
    signal(SIGUSR1, SIG_DFL);
    int n = snprintf(line, sizeof line, "%d\n", (int)strikes);
    return write(STDOUT_FILENO, line, (size_t)n) != n;
}
