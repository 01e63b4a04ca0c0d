/* c-guard.c - stack that was left by longjmp() is made inaccessible while the
 * thread goes on further out, as virtual machines do with their guard pages. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static jmp_buf back;
static void *volatile sink;
static char *lowest;

static void allocate(int n) {
    for (int i = 0; i < n; i++) {
        sink = malloc(10);
        free(sink);
    }
}

static int __attribute__((noinline)) deep(int n) {
    volatile char room[512];
    room[0] = 0;
    lowest = (char *)__builtin_frame_address(0);
    if (n == 0) {
        allocate(600);
        longjmp(back, 1);
    }
    return deep(n - 1) + room[0];
}

static int __attribute__((noinline)) shallow(int n) {
    volatile char room[64];
    room[0] = 0;
    if (n == 0) {
        allocate(500);
        return 1;
    }
    return shallow(n - 1) + room[0];
}

static void *go(void *unused) {
    char *here = (char *)__builtin_frame_address(0);
    for (volatile int i = 0; i < 20; i++) {
        if (setjmp(back) == 0)
            deep(400);
        uintptr_t high = ((uintptr_t)here - 100000) & ~(uintptr_t)4095;
        uintptr_t low = (uintptr_t)lowest & ~(uintptr_t)4095;
        if (mprotect((void *)low, high - low, PROT_NONE) != 0)
            abort();
        allocate(1000);
        shallow(30);
        allocate(1000);
        if (mprotect((void *)low, high - low, PROT_READ | PROT_WRITE) != 0)
            abort();
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    go(NULL);
    if (pthread_create(&thread, NULL, go, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    puts("fine");
    return 0;
}
