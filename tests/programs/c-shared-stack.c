/* c-shared-stack.c - coroutines on one stack: each has a stretch of the
 * thread's own, and setjmp() and longjmp() go from one to another. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 5, INSIDE = 60, OUTSIDE = 80, FAR_AWAY = 200000 };

static jmp_buf outside, inside;
static volatile int ended, sum;
static void *volatile block;

__attribute__((noinline)) static void allocate(int n) {
    for (int i = 0; i < n; i++) {
        block = malloc(32);
        free(block);
    }
}

__attribute__((noinline)) static void yield(void) {
    if (setjmp(inside) == 0)
        longjmp(outside, 1);
}

__attribute__((noinline)) static int deep_inside(int depth) {
    if (depth == 0) {
        for (int i = 0; i < TURNS; i++) {
            allocate(100);
            yield();
        }
        return 1;
    }
    int result = deep_inside(depth - 1);
    sum += result;
    return result;
}

__attribute__((noinline)) static int deep_outside(int depth) {
    if (depth == 0) {
        allocate(200);
        return 1;
    }
    int result = deep_outside(depth - 1);
    sum += result;
    return result;
}

__attribute__((noinline)) static void start(void) {
    volatile char space[FAR_AWAY];
    space[0] = 1;
    deep_inside(INSIDE);
    ended = 1;
    longjmp(outside, 2);
}

int main(void) {
    if (setjmp(outside) == 0)
        start();
    if (ended) {
        printf("%d\n", sum);
        return 0;
    }
    deep_outside(OUTSIDE);
    longjmp(inside, 1);
}
