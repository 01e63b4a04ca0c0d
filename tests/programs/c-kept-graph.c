/* c-kept-graph.c - blocks that point to each other at random, and eight
 * variables that lead to them.  Prints for each variable the bytes and blocks
 * that only it leads to, and of what is lost, found by a search without it. The
 * argument is the seed.
 *
 * Beside the variables and the blocks nothing has an address of a block:
 * meanwhile addresses are kept inverted.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000000, ROOTS = 8, WAYS = 3, FIRST = 300 };

struct block {
    uint64_t zero;
    struct block *to[WAYS];
};

struct block **root0, **root1, **root2, **root3, **root4, **root5, **root6,
    **root7;

static uint64_t state;
static uint32_t edges[COUNT][WAYS]; /* + 1 */
static uint32_t starts[ROOTS][FIRST];
static uint32_t queue[COUNT];
static unsigned char seen[COUNT];

static uint32_t draw(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 11) % below;
}

/* In parts with few ways between them, so that much is only one variable's. */
static void plan(void) {
    for (uint32_t i = 0; i < COUNT; i++)
        for (int k = 0; k < WAYS; k++) {
            uint32_t part = i / (COUNT / ROOTS) * (COUNT / ROOTS);
            edges[i][k] = draw(3) != 0       ? 0
                          : draw(20000) == 0 ? 1 + draw(COUNT)
                                             : 1 + part + draw(COUNT / ROOTS);
        }
    for (uint32_t r = 0; r < ROOTS; r++)
        for (int k = 0; k < FIRST; k++)
            starts[r][k] = r * (COUNT / ROOTS) + draw(COUNT / ROOTS);
}

static uint32_t reach(uint32_t tail, uint32_t node) {
    if (!seen[node])
        queue[tail++] = node;
    seen[node] = 1;
    return tail;
}

/* How many blocks are reached without the variable WITHOUT. */
static uint32_t count(uint32_t without) {
    uint32_t tail = 0;
    memset(seen, 0, sizeof seen);
    for (uint32_t r = 0; r < ROOTS; r++)
        for (int k = 0; r != without && k < FIRST; k++)
            tail = reach(tail, starts[r][k]);
    for (uint32_t head = 0; head < tail; head++)
        for (int k = 0; k < WAYS; k++)
            if (edges[queue[head]][k] != 0)
                tail = reach(tail, edges[queue[head]][k] - 1);
    return tail;
}

static void build(void) {
    struct block ***variables[] = {&root0, &root1, &root2, &root3,
                                   &root4, &root5, &root6, &root7};
    uintptr_t *hidden = malloc(COUNT * sizeof *hidden);
    for (uint32_t i = 0; i < COUNT; i++)
        hidden[i] = ~(uintptr_t)calloc(1, sizeof(struct block));
    for (uint32_t i = 0; i < COUNT; i++)
        for (int k = 0; k < WAYS; k++)
            if (edges[i][k] != 0)
                ((struct block *)~hidden[i])->to[k] =
                    (struct block *)~hidden[edges[i][k] - 1];
    for (uint32_t r = 0; r < ROOTS; r++) {
        *variables[r] = calloc(FIRST, sizeof **variables[r]);
        for (int k = 0; k < FIRST; k++)
            (*variables[r])[k] = (struct block *)~hidden[starts[r][k]];
    }
    free(hidden);
}

static __attribute__((noinline)) void clean_stack(void) {
    volatile char dead[4096];
    memset((void *)dead, 0, sizeof dead);
}

int main(int argc, char **argv) {
    state = 88172645463325252u + strtoull(argc > 1 ? argv[1] : "1", NULL, 10);
    plan();
    build();
    const uint32_t all = count(ROOTS);
    for (uint32_t r = 0; r < ROOTS; r++) {
        const uint32_t only = all - count(r);
        printf("%zu %u the variable root%u\n",
               only * sizeof(struct block) + FIRST * sizeof(void *), only + 1,
               r);
    }
    printf("%zu %u nothing: it is lost\n", (COUNT - all) * sizeof(struct block),
           COUNT - all);
    clean_stack();
    return 0;
}
