/* heaps.c - the C half of heaps.lsp: a library that uses malloc(). */
#include <stdlib.h>

void *heaps_grab(size_t bytes);
void heaps_give_back(void *block);

void *heaps_grab(size_t bytes) {
    char *block = malloc(bytes);
    if (block != NULL)
        block[0] = 1;
    return block;
}

void heaps_give_back(void *block) {
    free(block);
}
