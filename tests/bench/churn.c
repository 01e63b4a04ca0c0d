/* churn.c DEPTH COUNT - malloc and free, COUNT times, DEPTH calls deep. */
#include <stdlib.h>

static char *volatile sink;

static void __attribute__((noinline)) churn(long count) {
    for (long i = 0; i < count; i++) {
        sink = malloc(16 + (size_t)(i & 63));
        free(sink);
    }
}

static void __attribute__((noinline)) descend(int depth, long count) {
    if (depth == 0)
        churn(count);
    else
        descend(depth - 1, count);
    __asm__ volatile(""); /* no jump in place of a call */
}

int main(int argc, char **argv) {
    if (argc == 3)
        descend(atoi(argv[1]), atol(argv[2]));
    return argc != 3;
}
