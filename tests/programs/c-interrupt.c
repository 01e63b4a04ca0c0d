/* c-interrupt.c - a signal handler that allocates, wherever it strikes: in
 * prologues and epilogues, in the C library's assembly, in the kernel's code.
 * The interrupted code itself never allocates meanwhile. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { TIMES = 1000 };

static volatile sig_atomic_t strikes;
static void *volatile sink;

static void strike(int signal) {
    (void)signal;
    if (strikes < TIMES)
        sink = malloc(45);
    strikes++;
}

static long count(int n) {
    return n < 2 ? n : count(n - 1) + count(n - 2);
}

static unsigned copy(char *to, const char *from, size_t bytes) {
    memcpy(to, from, bytes);
    memset(to, bytes & 15, bytes / 2);
    return (unsigned)strlen(to) + (unsigned)memcmp(to, from, bytes);
}

static long tell_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_nsec;
}

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static void sort(int *list, int n) {
    for (int i = 0; i < n; i++)
        list[i] = (i * 7919) % 101;
    qsort(list, (size_t)n, sizeof *list, compare);
}

static void set_timer(int microseconds) {
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void be_busy(void) {
    static char from[5000], to[5000];
    static int list[100];
    memset(from, 'x', sizeof from - 1);
    set_timer(150);
    while (strikes < TIMES) {
        count(12);
        for (size_t i = 1; i < 100; i++)
            copy(to, from, i * 50);
        for (int i = 0; i < 100; i++)
            tell_time();
        sort(list, 100);
    }
}

int main(void) {
    signal(SIGALRM, strike);
    be_busy();
    set_timer(0);
    puts("struck");
    return 0;
}
