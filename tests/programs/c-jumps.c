/* c-jumps.c - longjmp and siglongjmp out of frames that allocate. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 100, DEPTH = 40 };

static jmp_buf far_out;
static sigjmp_buf from_signal;
static void *kept[2 * DEPTH];
static int count;

static void descend(int depth, int by_signal) {
    kept[count++] = malloc(16);
    if (depth < DEPTH)
        descend(depth + 1, by_signal);
    else if (by_signal)
        raise(SIGUSR1);
    else
        longjmp(far_out, depth);
    kept[count++] = malloc(1000); /* never reached */
}

static void handle(int signal) {
    kept[count++] = malloc(48);
    siglongjmp(from_signal, signal);
}

/* A handler that returns, in the middle of everything. */
static void pass_by(int signal) {
    (void)signal;
    free(malloc(72));
}

static int jump(void) {
    int depth = setjmp(far_out);
    if (depth == 0)
        descend(1, 0);
    return depth;
}

static int jump_from_handler(void) {
    int signal = sigsetjmp(from_signal, 1);
    if (signal == 0)
        descend(1, 1);
    return signal == SIGUSR1;
}

static void *landed(void) {
    raise(SIGUSR2);
    return malloc(200);
}

int main(void) {
    long sum = 0;
    signal(SIGUSR1, handle);
    signal(SIGUSR2, pass_by);
    for (int i = 0; i < ROUNDS; i++) {
        sum += jump();
        sum += jump_from_handler();
        while (count > 0)
            free(kept[--count]);
        landed();
    }
    printf("%ld\n", sum);
    return 0;
}
