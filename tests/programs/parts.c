/* parts.c - ever new chains through functions that the compiler takes to
 * pieces: f.cold, f.part.0, f.constprop.0 and the like, which call on
 * themselves and allocate.  To be compiled with -O2. */
#include <stdint.h>
#include <stdlib.h>

#include "chance.h"

enum { DEPTH = 60, STEPS = 100000, KEPT = 256 };

static int steps;
static void *kept[KEPT];

static void go_on(int depth);

#define STAY __asm__ volatile("" ::: "memory")
#define COLD __attribute__((cold, noinline))
#define NOINLINE __attribute__((noinline))

static COLD void note(size_t bytes) {
    unsigned i = next(KEPT);
    free(kept[i]);
    kept[i] = malloc(bytes);
    STAY;
}

/* What follows a call of a cold function goes to f.cold. */
static NOINLINE void hot(int depth) {
    if (next(3) == 0) {
        note(24);
        go_on(depth);
        note(40);
        STAY;
    } else {
        go_on(depth);
    }
    STAY;
}

/* Always called with the same argument: scaled.constprop.0. */
static NOINLINE void scaled(int depth, int factor) {
    kept[next(KEPT)] = realloc(NULL, (size_t)(factor * 8));
    go_on(depth);
    STAY;
}

/* The check may be inlined into callers, the rest is guarded.part.0. */
static void guarded(int depth) {
    if (depth < 3)
        return;
    for (int i = 0; i < 3; i++) {
        free(malloc(100 + (size_t)next(400)));
        if (next(2)) {
            note(72);
            go_on(depth);
        }
    }
    STAY;
}

static NOINLINE void first(int depth) {
    guarded(depth);
    STAY;
}

static NOINLINE void second(int depth) {
    guarded(depth - 1);
    STAY;
}

static NOINLINE void go_on(int depth) {
    while (depth > 0 && steps < STEPS && next(DEPTH) < (uint32_t)depth) {
        steps++;
        switch (next(4)) {
        case 0:
            hot(depth - 1);
            break;
        case 1:
            scaled(depth - 1, 7);
            break;
        case 2:
            first(depth - 1);
            break;
        default:
            second(depth - 1);
        }
    }
    STAY;
}

int main(void) {
    while (steps < STEPS)
        go_on(DEPTH);
    return 0;
}
