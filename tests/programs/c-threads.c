/* c-threads.c - 200 threads that come and go, five or so at a time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 200, AT_ONCE = 5, BLOCKS = 100 };

static void *left_over[THREADS];

static void *short_life(void *argument) {
    void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(64);
    for (int i = 1; i < BLOCKS; i++)
        free(blocks[i]);
    *(void **)argument = blocks[0];
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, short_life, &left_over[i]);
        if (i >= AT_ONCE)
            pthread_join(threads[i - AT_ONCE], NULL);
    }
    for (int i = THREADS - AT_ONCE; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i += 2)
        free(left_over[i]);
    puts("gone");
    return 0;
}
