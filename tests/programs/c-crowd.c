/* c-crowd.c - 12,000 threads, 2,000 of them at a time.  When mprof is there,
 * what it takes for each goes to the file "taken": bytes while they live, and
 * when they have ended. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "mprof.h"

#pragma weak mprof_status

enum { AT_ONCE = 2000, ROUNDS = 6, DEPTH = 20 };

static pthread_barrier_t all;

static void descend(int depth) {
    if (depth > 0)
        descend(depth - 1);
    else
        free(malloc(100));
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void *work(void *unused) {
    for (int depth = 0; depth < DEPTH; depth++)
        descend(depth);
    pthread_barrier_wait(&all);
    pthread_barrier_wait(&all);
    return unused;
}

/* Memory and file */
static double taken(void) {
    struct mprof_status status;
    struct stat file;
    if (mprof_status == NULL || mprof_status(&status) != 0 ||
        stat("data", &file) != 0)
        return 0;
    return (double)status.memory_bytes + (double)file.st_blocks * 512;
}

int main(void) {
    static pthread_t threads[AT_ONCE];
    pthread_attr_t small;
    double before = taken(), most = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * 1024);
    pthread_barrier_init(&all, NULL, AT_ONCE + 1);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < AT_ONCE; i++)
            if (pthread_create(&threads[i], &small, work, NULL) != 0)
                return 1;
        pthread_barrier_wait(&all);
        double now = taken() - before;
        most = now > most ? now : most;
        pthread_barrier_wait(&all);
        for (int i = 0; i < AT_ONCE; i++)
            pthread_join(threads[i], NULL);
    }
    if (mprof_status != NULL) {
        FILE *file = fopen("taken", "w");
        fprintf(file, "%.0f %.0f\n", most / AT_ONCE,
                (taken() - before) / AT_ONCE);
        fclose(file);
    }
    puts("done");
    return 0;
}
