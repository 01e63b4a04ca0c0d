/* c-fork.c MODE - forks: `plain`, `threads` (others allocate meanwhile),
 * `nested` (three generations), `storm` (many children, one after another),
 * `nobody` (who may not write where the data is), `handler` (from a signal
 * handler that interrupts malloc()). */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OBJECTS = 100 };

static void *objects[OBJECTS];
static int stop;

static void parent_allocates(void) {
    for (int i = 0; i < OBJECTS; i++)
        objects[i] = malloc(40);
}

/* In parent and child: frees half of the parent's objects. */
static void free_half(void) {
    for (int i = 0; i < OBJECTS / 2; i++)
        free(objects[i]);
}

static void child_allocates(int generation) {
    void *block = NULL;
    for (int i = 0; i < 10 * generation; i++)
        block = malloc(50);
    free(block);
}

static int wait_for(pid_t child) {
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int plain(void) {
    parent_allocates();
    pid_t child = fork();
    if (child == 0) {
        errno = EDOM;
        child_allocates(1);
        free_half();
        exit(errno == EDOM ? 3 : 4);
    }
    free_half();
    return wait_for(child);
}

/* Each generation waits for the next. */
static int nested(int generation) {
    pid_t child = fork();
    if (child == 0) {
        child_allocates(generation);
        int status = generation < 3 ? nested(generation + 1) : 0;
        exit(status + generation);
    }
    return wait_for(child);
}

static void *busy(void *unused) {
    void *ring[64] = {NULL};
    for (unsigned i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        free(ring[i % 64]);
        ring[i % 64] = malloc(i % 500);
    }
    for (int i = 0; i < 64; i++)
        free(ring[i]);
    return unused;
}

static int threads(void) {
    pthread_t others[3];
    int sum = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&others[i], NULL, busy, NULL);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            child_allocates(1);
            /* Threads are made and end in the child as well. */
            pthread_t thread;
            __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
            pthread_create(&thread, NULL, busy, NULL);
            pthread_join(thread, NULL);
            exit(2);
        }
        sum += wait_for(child);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        pthread_join(others[i], NULL);
    return sum;
}

static int nobody(void) {
    if (setgid(65534) != 0 || setuid(65534) != 0)
        return -2;
    return plain();
}

/* On a loaded machine this may take longer than the timer waits: then the
 * program would never come further. */
enum { MOST_FORKS = 200 };

static void fork_and_wait(int signal) {
    static const struct itimerval never;
    static int forks;
    (void)signal;
    if (++forks == MOST_FORKS)
        setitimer(ITIMER_REAL, &never, NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    wait_for(child);
}

static void churn(void) {
    for (int i = 0; i < 300000; i++)
        free(malloc(20));
}

static int handler(void) {
    struct itimerval often = {{0, 2000}, {0, 2000}}, never = {0};
    signal(SIGALRM, fork_and_wait);
    setitimer(ITIMER_REAL, &often, NULL);
    churn();
    setitimer(ITIMER_REAL, &never, NULL);
    return 0;
}

static int storm(void) {
    int sum = 0;
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            child_allocates(1);
            _exit(1);
        }
        sum += wait_for(child);
    }
    return sum;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "plain";
    int result = strcmp(mode, "threads") == 0   ? threads()
                 : strcmp(mode, "nested") == 0  ? nested(1)
                 : strcmp(mode, "storm") == 0   ? storm()
                 : strcmp(mode, "nobody") == 0  ? nobody()
                 : strcmp(mode, "handler") == 0 ? handler()
                                                : plain();
    printf("%s: %d\n", mode, result);
    return 0;
}
