/* c-refused.c - threads, deep chains, sizes of all kinds and children enough
 * that the monitor asks the system for all that it ever asks.  Argument: the
 * depth of the deepest one, for a data file that is not small. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, SIZES = 60 };

static void *volatile sink;
static void *kept[SIZES];

static void *deep(int depth, size_t bytes) {
    if (depth == 0)
        return malloc(bytes);
    void *result = deep(depth - 1, bytes);
    if (depth % 5 == 0) {
        sink = malloc((size_t)depth);
        free(sink);
    }
    return result;
}

static void *run(void *number) {
    size_t first = (size_t)number * SIZES / THREADS;
    for (size_t i = 0; i < SIZES / THREADS; i++)
        kept[first + i] = deep((int)(i * 9), 10 + 7 * i);
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t thread;
    for (int i = 0; i < 200; i++)
        free(deep(i, (size_t)i));
    free(deep(count > 1 ? atoi(arguments[1]) : 0, 10));
    for (size_t i = 0; i < THREADS; i++) {
        if (pthread_create(&thread, NULL, run, (void *)i) == 0)
            pthread_join(thread, NULL);
        else
            run((void *)i);
    }
    for (int i = 0; i < SIZES; i++)
        free(kept[i]);
    for (int i = 0; i < 5; i++)
        kept[i] = malloc((size_t)50 << 20);
    for (int i = 0; i < 5; i++)
        free(kept[i]);
    fflush(stdout);
    int child = fork();
    if (child == 0) {
        sink = deep(20, 50);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    puts("done");
    return 0;
}
