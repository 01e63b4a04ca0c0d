/* c-restarts.c START END [ROUNDS] - stops and starts the recording, 1000 times
 * unless told, while threads call deeply and allocate; linked with mprof.
 *
 * START and END, in hexadecimal, are the symbols mprof__barrier_start and
 * mprof__barrier_end as nm prints them: what a return address that lies there
 * stands for is known to the monitor only.  After a stop there must be none.
 * Every thread looks itself, by its frame pointers, with which this has to be
 * compiled.
 *
 * Prints how many looks found how many such frames, while the recording ran and
 * when it was stopped. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "mprof.h"

enum { THREADS = 4, DEPTH = 500, SLOTS = 16 };

struct self {
    uint64_t state;   /* of its generator */
    const void *base; /* frame of its outermost function here */
    unsigned looked;  /* atomic */
    void *slots[SLOTS];
};

static struct self selves[THREADS];
static uintptr_t barrier, barrier_bytes;
/* The number of the look that all threads shall take, and of that from which
 * they may go on; atomic. */
static unsigned wanted, released;
static int ended, is_stopped;                       /* atomic */
static unsigned long looks[2], found[2], frames[2]; /* [is_stopped]; atomic */

static unsigned pick(struct self *self, unsigned limit) {
    self->state = self->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((self->state >> 32) * limit >> 32);
}

static void add(unsigned long *to, unsigned long n) {
    __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void look(const struct self *self) {
    int stopped = __atomic_load_n(&is_stopped, __ATOMIC_ACQUIRE);
    unsigned long marks = 0, n = 0;
    const void *const *frame = __builtin_frame_address(0);
    for (;; frame = *frame, n++) {
        marks += (uintptr_t)frame[1] - barrier < barrier_bytes;
        if (frame == self->base)
            break;
    }
    add(&looks[stopped], 1);
    add(&found[stopped], marks);
    add(&frames[stopped], n);
}

/* When all are to look, look, and wait for the others. */
static void maybe_look(struct self *self) {
    unsigned now = __atomic_load_n(&wanted, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&self->looked, __ATOMIC_RELAXED) == now)
        return;
    look(self);
    __atomic_store_n(&self->looked, now, __ATOMIC_RELEASE);
    while (__atomic_load_n(&released, __ATOMIC_ACQUIRE) != now)
        sched_yield();
}

static void ask(struct self *self) {
    void **slot = &self->slots[pick(self, SLOTS)];
    free(*slot);
    *slot = malloc(1 + pick(self, 100));
}

__attribute__((noinline)) static unsigned descend(struct self *self,
                                                  unsigned depth) {
    ask(self);
    maybe_look(self);
    unsigned sum = depth == 0 ? 1 : descend(self, depth - 1) + 1;
    if (pick(self, 16) == 0)
        sum += descend(self, pick(self, 1 + depth / 8)) != 0;
    ask(self);
    return sum;
}

static void *body(void *argument) {
    struct self *self = argument;
    self->base = __builtin_frame_address(0);
    while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
        descend(self, pick(self, DEPTH));
    return NULL;
}

static void check(int error, const char *what) {
    if (error == 0)
        return;
    printf("%s: %s\n", what, mprof_strerror(error));
    exit(1);
}

static struct self selves[THREADS];

/* All look, at the same time: nobody's stack changes. */
static void all_look(const struct self *self, int stopped) {
    __atomic_store_n(&is_stopped, stopped, __ATOMIC_RELEASE);
    unsigned now = __atomic_add_fetch(&wanted, 1, __ATOMIC_ACQ_REL);
    for (int i = 0; i < THREADS; i++)
        while (__atomic_load_n(&selves[i].looked, __ATOMIC_ACQUIRE) != now)
            sched_yield();
    look(self);
    __atomic_store_n(&released, now, __ATOMIC_RELEASE);
}

__attribute__((noinline)) static void restart(struct self *self, int round) {
    if (round % 10 == 0)
        all_look(self, 0);
    check(mprof_stop(), "stop");
    if (round % 3 == 0)
        all_look(self, 1);
    ask(self);
    /* The same recording goes on for a while, then another begins. */
    check(mprof_start(round / 50 % 2 == 0 ? NULL : "restarts.data"), "start");
}

__attribute__((noinline)) static unsigned
restart_below(struct self *self, int round, unsigned depth) {
    ask(self);
    if (depth == 0)
        restart(self, round);
    unsigned sum = depth == 0 ? 1 : restart_below(self, round, depth - 1) + 1;
    ask(self);
    return sum;
}

static void tell(int stopped, const char *when) {
    printf("%s: %lu looks at %lu frames, %lu marks\n", when, looks[stopped],
           frames[stopped], found[stopped]);
}

int main(int argc, char **argv) {
    static struct self self;
    pthread_t threads[THREADS];
    Dl_info info;
    if (argc < 3 || dladdr((void *)mprof_stop, &info) == 0)
        return 2;
    barrier = (uintptr_t)info.dli_fbase + strtoul(argv[1], NULL, 16);
    barrier_bytes = strtoul(argv[2], NULL, 16) - strtoul(argv[1], NULL, 16);
    int rounds = argc > 3 ? atoi(argv[3]) : 1000;
    self.base = __builtin_frame_address(0);
    check(mprof_stop(), "the first stop");
    check(mprof_start(NULL), "the first start");
    for (int i = 0; i < THREADS; i++) {
        selves[i].state = (uint64_t)i;
        pthread_create(&threads[i], NULL, body, &selves[i]);
    }
    for (int i = 0; i < rounds; i++)
        restart_below(&self, i, pick(&self, 100));
    __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    check(mprof_stop(), "the last stop");
    tell(0, "running");
    tell(1, "stopped");
    return found[1] != 0;
}
