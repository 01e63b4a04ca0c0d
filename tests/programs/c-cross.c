/* c-cross.c - blocks that one thread allocates and others free or resize. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 1000 };

static void *blocks[BLOCKS];

static void *produce(void *unused) {
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(32);
    return unused;
}

static void *enlarge(void *unused) {
    for (int i = 0; i < BLOCKS; i += 2)
        blocks[i] = realloc(blocks[i], 64);
    return unused;
}

/* Every block but each tenth. */
static void *consume(void *unused) {
    for (int i = 0; i < BLOCKS; i++)
        if (i % 10 != 0)
            free(blocks[i]);
    return unused;
}

static void on_thread(void *(*body)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, body, NULL);
    pthread_join(thread, NULL);
}

int main(void) {
    on_thread(produce); /* it has ended when its blocks are freed */
    on_thread(enlarge);
    on_thread(consume);
    produce(NULL);
    on_thread(enlarge);
    consume(NULL);
    puts("crossed");
    return 0;
}
