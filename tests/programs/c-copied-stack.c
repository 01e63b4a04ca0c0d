/* c-copied-stack.c - coroutines that share one stretch of the stack: it is
 * copied away and back. */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COROUTINES = 3, TURNS = 30, BELOW = 512 };

struct coroutine {
    jmp_buf at;
    char *low, *copy;
    size_t bytes;
    int number;
    volatile int started, done;
};

static struct coroutine all[COROUTINES], *current;
static jmp_buf scheduler;
static char *top;
static void *volatile sink;
static volatile long sum;

static void allocate(int n, size_t bytes) {
    for (int i = 0; i < n; i++) {
        sink = malloc(bytes);
        free(sink);
    }
}

static void yield(void) {
    struct coroutine *c = current;
    if (setjmp(c->at) != 0)
        return;
    c->low = (char *)__builtin_frame_address(0) - BELOW;
    c->bytes = (size_t)(top - c->low);
    c->copy = realloc(c->copy, c->bytes);
    memcpy(c->copy, c->low, c->bytes);
    longjmp(scheduler, 1);
}

static int dive(int depth, int number) {
    if (depth == 0) {
        for (int turn = 0; turn < TURNS; turn++) {
            allocate(60, 10);
            yield();
        }
        return 1;
    }
    int result = dive(depth - 1, number);
    sum += number + result;
    if (depth % 3 == 0)
        allocate(40, 50);
    return result + 1;
}

static void begin(struct coroutine *c) {
    c->started = 1;
    dive(20 + 13 * c->number, c->number);
    c->done = 1;
    longjmp(scheduler, 2);
}

static void put_back(struct coroutine *c) {
    memcpy(c->low, c->copy, c->bytes);
    longjmp(c->at, 1);
}

/* From deeper in the stack than what is put back. */
static void go_on(struct coroutine *c) {
    static void (*volatile next)(struct coroutine *) = put_back;
    volatile char *room = alloca(200000);
    room[0] = 1;
    next(c);
}

static void run_all(void) {
    for (volatile int i = 0; !all[0].done || !all[1].done || !all[2].done;
         i++) {
        current = &all[i % COROUTINES];
        if (current->done || setjmp(scheduler) != 0)
            continue;
        if (current->started)
            go_on(current);
        else
            begin(current);
    }
}

int main(void) {
    volatile char room[16384];
    room[0] = 1;
    top = (char *)__builtin_frame_address(0) - 4096;
    for (int i = 0; i < COROUTINES; i++)
        all[i].number = i;
    run_all();
    printf("%ld\n", sum);
    return 0;
}
