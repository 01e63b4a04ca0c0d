/* c-depth.c - how deep on the stack calls go that the monitor is part of:
 * allocations in a thread of their own and in a signal handler, backtrace().
 * Writes bytes to standard error. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK = 256 * 1024, PAINT = 0xa5 };

static unsigned char *stack;
static uintptr_t here; /* where on it the call is made */

static void *volatile kept;
static void *frames[64];

/* Each touches new things of the monitor the first time. */
static void allocate(void) {
    here = (uintptr_t)__builtin_frame_address(0);
    for (int i = 0; i < 50; i++) {
        kept = malloc((size_t)(i * i));
        kept = realloc(kept, 100);
        free(kept);
        kept = calloc(3, 50);
    }
}

static void look(void) {
    here = (uintptr_t)__builtin_frame_address(0);
    kept = (void *)(intptr_t)backtrace(frames, 64);
}

static void *run(void *what) {
    ((void (*)(void))what)();
    return NULL;
}

/* Bytes below `here` that were written to */
static size_t deepest(void) {
    size_t i = 0;
    while (i < STACK && stack[i] == PAINT)
        i++;
    return here - (uintptr_t)(stack + i);
}

static void in_thread(const char *name, void (*what)(void)) {
    pthread_attr_t own;
    pthread_t thread;
    memset(stack, PAINT, STACK);
    pthread_attr_init(&own);
    pthread_attr_setstack(&own, stack, STACK);
    if (pthread_create(&thread, &own, run, (void *)what) != 0)
        exit(1);
    pthread_join(thread, NULL);
    fprintf(stderr, "%s %zu\n", name, deepest());
}

static void handle(int number) {
    (void)number;
    allocate();
}

static void in_handler(void) {
    stack_t own = {.ss_sp = stack, .ss_size = STACK};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    memset(stack, PAINT, STACK);
    if (sigaltstack(&own, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
        exit(1);
    raise(SIGUSR1);
    fprintf(stderr, "handler %zu\n", deepest());
}

int main(void) {
    stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return 1;
    backtrace(frames, 1); /* it loads a library */
    in_thread("thread", allocate);
    in_thread("again", allocate);
    in_thread("backtrace", look);
    in_handler();
    puts("done");
    return 0;
}
