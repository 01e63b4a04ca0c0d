/* c-ends.c WAY - a process that ends in the WAY given.
 *
 * work() has allocated 10 blocks of 30 bytes and freed one by then; where
 * handlers run at the end, goodbye() allocates one of 99; "text" has a stream
 * to flush then.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile sink;
static char *volatile nowhere;
static int others;

static void goodbye(void) {
    sink = malloc(99);
}

__attribute__((destructor)) static void farewell(void) {
    sink = malloc(77);
}

static void work(void) {
    for (int i = 0; i < 10; i++)
        sink = malloc(30);
    free(sink);
}

/* The C library writes what is left when all handlers have run, and frees. */
static ssize_t write_last(void *block, const char *text, size_t size) {
    (void)text;
    free(block);
    return (ssize_t)size;
}

static void leave_text(void) {
    static const cookie_io_functions_t functions = {.write = write_last};
    FILE *file = fopencookie(malloc(33), "w", functions);
    fputs("last", file);
}

/* A thread that is still there, its allocation done, when the process ends. */
static void *stay(void *unused) {
    sink = malloc(55);
    __atomic_store_n(&others, 1, __ATOMIC_RELEASE);
    for (;;)
        pause();
    return unused;
}

/* Ends the process when the main thread has gone. */
static void *outlive(void *main_thread) {
    pthread_join(*(pthread_t *)main_thread, NULL);
    work();
    exit(6);
}

static void leave_main(void) {
    static pthread_t self;
    pthread_t thread;
    self = pthread_self();
    pthread_create(&thread, NULL, outlive, &self);
    pthread_exit(NULL);
}

static void start_other(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, stay, NULL);
    while (!__atomic_load_n(&others, __ATOMIC_ACQUIRE))
        usleep(100);
}

static void die(const char *way) {
    static const struct {
        const char *way;
        int signal;
    } signals[] = {{"term", SIGTERM}, {"kill", SIGKILL}, {"int", SIGINT},
                   {"quit", SIGQUIT}, {"hup", SIGHUP},   {"pipe", SIGPIPE},
                   {"alarm", SIGALRM}};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (strcmp(way, signals[i].way) == 0) {
            /* What runs in the background may ignore it. */
            signal(signals[i].signal, SIG_DFL);
            kill(getpid(), signals[i].signal);
        }
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "return";
    atexit(goodbye);
    at_quick_exit(goodbye);
    if (strcmp(way, "threads") == 0)
        start_other();
    if (strcmp(way, "main-leaves") == 0)
        leave_main();
    if (strcmp(way, "text") == 0)
        leave_text();
    work();
    if (strcmp(way, "exit") == 0 || strcmp(way, "threads") == 0)
        exit(7);
    if (strcmp(way, "_exit") == 0)
        _exit(8);
    if (strcmp(way, "_Exit") == 0)
        _Exit(9);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(10);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "segv") == 0)
        *nowhere = 1;
    if (strcmp(way, "double-free") == 0) {
        free(sink);
        free(sink);
    }
    die(way);
    return 11;
}
