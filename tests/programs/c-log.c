/* c-log.c threads | kill | processes | suspend
 *
 * Events of all kinds: by threads that free what others have allocated; until
 * the program kills itself; by a process, its children and a program that one
 * of them executes; or, with -DSUSPENDS, while the recording is stopped and
 * goes on again.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef SUSPENDS
#include <mprof.h>
#include <mprof/mma.h>
#endif

enum { THREADS = 4, EVENTS = 20000, SLOTS = 64 };

static void *slots[SLOTS];

static void rest(long ms) {
    const struct timespec pause = {0, ms * 1000000};
    nanosleep(&pause, NULL);
}

static void change(void **slot, uint32_t n) {
    void *mine = __atomic_exchange_n(slot, NULL, __ATOMIC_ACQ_REL);
    switch (n % 5) {
    case 0:
        free(mine);
        mine = malloc(n % 300);
        break;
    case 1:
        free(mine);
        mine = calloc(n % 7, n % 50);
        break;
    case 2:
        mine = realloc(mine, 1 + n % 500);
        break;
    case 3:
        free(mine);
        mine = memalign(64, 1 + n % 90);
        break;
    default:
        free(mine);
        mine = NULL;
    }
    free(__atomic_exchange_n(slot, mine, __ATOMIC_ACQ_REL));
}

static void *run(void *number) {
    uint32_t seed = (uint32_t)(uintptr_t)number;
    for (int i = 0; i < EVENTS; i++) {
        seed = seed * 1664525 + 1013904223;
        change(&slots[(seed >> 10) % SLOTS], seed >> 16);
    }
    return NULL;
}

static void run_threads(void) {
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Each child has its most while the others have theirs. */
static void run_processes(const char *self) {
    enum { CHILDREN = 3 };
    int have[2], go[2];
    char byte = 0;
    void *kept = malloc(1000000);
    if (pipe(have) != 0 || pipe(go) != 0)
        abort();
    /* The one that executes a program has what it has before the others. */
    for (int i = CHILDREN; i > 0; i--) {
        if (fork() == 0) {
            free(kept); /* the parent's */
            kept = malloc((size_t)i * 100000);
            close(go[1]);
            if (write(have[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 0)
                abort();
            if (i == CHILDREN)
                execl(self, self, "child", (char *)NULL);
            free(kept);
            exit(0);
        }
        if (read(have[0], &byte, 1) != 1)
            abort();
    }
    rest(20);
    close(go[1]); /* they go on */
    while (wait(NULL) > 0)
        ;
    free(kept);
}

#ifdef SUSPENDS
static void suspend(void) {
    void *before = malloc(10); /* MPROF_SUSPENDED=1: not recorded */
    mma_resume();
    void *kept = malloc(1000), *freed = malloc(2000);
    rest(20);
    mma_suspend();
    free(freed); /* recorded, that it is */
    void *unseen = malloc(5000);
    rest(500);
    mma_resume();
    free(unseen);
    free(before);
    kept = realloc(kept, 3000);
    rest(10);
    free(kept);
    mprof_stop();
}
#endif

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "threads") == 0)
        run_threads();
    else if (strcmp(what, "processes") == 0)
        run_processes(argv[0]);
    else if (strcmp(what, "child") == 0)
        free(malloc(70000));
    else
        run((void *)1);
    if (strcmp(what, "kill") == 0)
        raise(SIGKILL);
#ifdef SUSPENDS
    suspend();
#endif
    return 0;
}
