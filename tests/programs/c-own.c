/* c-own.c - a program that brings its own allocator (c-ownlib.c). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void own_counts(unsigned long counts[4]);

enum { BLOCKS = 500 };

static void *blocks[BLOCKS];
static unsigned odd; /* blocks that are aligned to 8 only */

static void make(size_t step) {
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(i * step % 24);
        odd += (uintptr_t)blocks[i] % 16 == 8;
        memset(blocks[i], 1, i * step % 24);
    }
}

static void change(void) {
    for (int i = 0; i < BLOCKS; i += 3)
        blocks[i] = realloc(blocks[i], 50);
}

static void drop(void) {
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

int main(void) {
    unsigned long before[4], after[4];
    own_counts(before);
    make(1);
    change();
    drop();
    make(3);
    own_counts(after);
    for (int i = 0; i < 4; i++)
        printf("%lu ", after[i] - before[i]);
    printf("%s\n", odd > 100 ? "small alignment" : "large alignment");
    return 0;
}
