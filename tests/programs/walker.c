/* walker.c - ever new chains: functions that call each other at random, from a
 * fixed seed.  Some of what they allocate is freed by others, some never. */
#include <stdint.h>
#include <stdlib.h>

#include "chance.h"

enum { DEPTH = 60, STEPS = 200000, KEPT = 512 };

static int steps;
static void *kept[KEPT];

static void go_on(int depth);

static void take(size_t bytes) {
    unsigned i = next(KEPT);
    free(kept[i]);
    kept[i] = malloc(bytes);
}

#define WALKER(name, bytes)                                                    \
    static void __attribute__((noinline)) name(int depth) {                    \
        if (next(3) == 0)                                                      \
            take(bytes);                                                       \
        go_on(depth);                                                          \
        __asm__ volatile("" ::: "memory");                                     \
    }
WALKER(ant, 8)
WALKER(bee, 16)
WALKER(cat, 24)
WALKER(dog, 40)
WALKER(eel, 72)
WALKER(fox, 136)
WALKER(gnu, 264)
WALKER(hen, 520)

static void __attribute__((noinline)) go_on(int depth) {
    static void (*const all[])(int) = {ant, bee, cat, dog, eel, fox, gnu, hen};
    while (depth > 0 && steps < STEPS && next(DEPTH) < (uint32_t)depth) {
        steps++;
        all[next(8)](depth - 1);
    }
    __asm__ volatile("" ::: "memory");
}

int main(void) {
    while (steps < STEPS)
        go_on(DEPTH);
    return 0;
}
