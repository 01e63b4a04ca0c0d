/* churn.c MODE DEPTH PAIRS [THREADS] - malloc and free, PAIRS times a thread.
 *
 * stand: DEPTH calls deep, always from the same place.
 * move: the same, but between two allocations three functions return and are
 * called again, on other ways.
 * climb: at each level on the way down to DEPTH and on the way up again, as
 * often as it takes.
 * rise: at each level on the way up from DEPTH, but not on the way down.
 * grow: each pair has a chain that there never was before: as leaves of a
 * binary tree of calls, so that each is two new nodes.
 * again: the same chains, when all of them were there before.
 *
 * Prints "CPU WALL", in ns for a pair of one thread: processor time of the
 * process, and the time that passed in the slowest thread.  What it takes to
 * see a chain for the first time is not in it, but for grow: a twentieth of the
 * pairs comes before, or of again all.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))
/* Keep a call at the end of a function from becoming a jump. */
#define STAY __asm__ volatile("" ::: "memory")

enum mode { STAND, MOVE, CLIMB, RISE, GROW, AGAIN, MODES };

static enum mode mode;
static int depth;
static long pairs;
static pthread_barrier_t together;

static NOINLINE void pair(long i) {
    char *volatile block = malloc(16 + (size_t)(i & 63));
    free(block);
}

static NOINLINE void stand(long count) {
    for (long i = 0; i < count; i++) {
        char *volatile block = malloc(16 + (size_t)(i & 63));
        free(block);
    }
}

static NOINLINE void left(long i) {
    pair(i);
    STAY;
}

static NOINLINE void right(long i) {
    if (i & 2)
        left(i);
    else
        pair(i);
    STAY;
}

static NOINLINE void move(long count) {
    for (long i = 0; i < count; i++) {
        if (i & 1)
            left(i);
        else
            right(i);
    }
}

static NOINLINE void climb(int levels) {
    pair(levels);
    if (levels > 1)
        climb(levels - 1);
    pair(levels);
}

static NOINLINE void rise(int levels) {
    if (levels > 1)
        rise(levels - 1);
    pair(levels);
}

static NOINLINE void one(int levels);
static NOINLINE void other(int levels);

/* No frame of its own. */
static inline __attribute__((always_inline)) void branch(int levels) {
    if (levels == 0) {
        char *volatile block = malloc(16);
        free(block);
    } else {
        one(levels - 1);
        other(levels - 1);
    }
    STAY;
}

static NOINLINE void one(int levels) {
    branch(levels);
}

static NOINLINE void other(int levels) {
    branch(levels);
}

/* COUNT leaves at least: those of whole trees. */
static NOINLINE void grow(long count) {
    int levels = 0;
    while (1L << levels < count)
        levels++;
    one(levels);
}

static NOINLINE void work(long count) {
    switch (mode) {
    case STAND:
        stand(count);
        break;
    case MOVE:
        move(count);
        break;
    case CLIMB:
        for (long done = 0; done < count; done += 2L * depth)
            climb(depth);
        break;
    case RISE:
        for (long done = 0; done < count; done += depth)
            rise(depth);
        break;
    case GROW:
    case AGAIN:
        grow(count);
        break;
    case MODES:
        break;
    }
    STAY;
}

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Store in *TIME what passes while the pairs are made, DOWN calls from here. */
static NOINLINE void descend(int down, double *time) {
    if (down > 0) {
        descend(down - 1, time);
    } else {
        if (mode != GROW)
            work(mode == AGAIN ? pairs : pairs / 20);
        pthread_barrier_wait(&together);
        time[0] = now(CLOCK_PROCESS_CPUTIME_ID);
        time[1] = now(CLOCK_MONOTONIC);
        work(pairs);
        time[1] = now(CLOCK_MONOTONIC) - time[1];
        pthread_barrier_wait(&together);
        time[0] = now(CLOCK_PROCESS_CPUTIME_ID) - time[0];
    }
    STAY;
}

static void *thread(void *time) {
    descend(mode == CLIMB || mode == RISE ? 0 : depth, time);
    return NULL;
}

int main(int argc, char **argv) {
    static const char *const modes[MODES] = {"stand", "move", "climb",
                                             "rise",  "grow", "again"};
    enum { MOST = 16 };
    double time[MOST][2], slowest = 0;
    pthread_t id[MOST];
    int threads = argc == 5 ? atoi(argv[4]) : 1;

    for (int i = 0; argc >= 4 && i < MODES; i++)
        if (strcmp(argv[1], modes[i]) == 0)
            mode = (enum mode)i;
    depth = argc >= 4 ? atoi(argv[2]) : 0;
    pairs = argc >= 4 ? atol(argv[3]) : 0;
    if (depth < 1 || pairs < 1 || threads < 1 || threads > MOST)
        return 2;
    pthread_barrier_init(&together, NULL, (unsigned)threads);
    for (int i = 1; i < threads; i++)
        if (pthread_create(&id[i], NULL, thread, time[i]) != 0)
            return 1;
    thread(time[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(id[i], NULL);
    for (int i = 0; i < threads; i++)
        slowest = time[i][1] > slowest ? time[i][1] : slowest;
    printf("%.3f %.3f\n", time[0][0] / (double)pairs / threads,
           slowest / (double)pairs);
    return 0;
}
