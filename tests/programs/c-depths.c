/* c-depths.c - stacks of all kinds of depths, and how deep they were.
 *
 * Each thread allocates at depths that go up and down, now and then deeper than
 * ever, in frames small and large.  What does not allocate goes deeper still,
 * and a coroutine and a handler have stacks of their own.  Prints for each
 * thread its number, its name and the deepest stack that allocated, by the
 * unwinder of the compiler.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

static __thread uintptr_t deepest;
static volatile char sink;

struct ends {
    uintptr_t innermost, outermost;
    int count;
};

static _Unwind_Reason_Code see(struct _Unwind_Context *context, void *data) {
    struct ends *ends = data;
    if (_Unwind_GetIP(context) == 0)
        return _URC_END_OF_STACK;
    /* The first frame is that of the one below, which looks. */
    if (ends->count++ == 1)
        ends->innermost = _Unwind_GetCFA(context);
    ends->outermost = _Unwind_GetCFA(context);
    return _URC_NO_REASON;
}

static void look(void) {
    struct ends ends = {0};
    _Unwind_Backtrace(see, &ends);
    if (ends.outermost - ends.innermost > deepest)
        deepest = ends.outermost - ends.innermost;
}

static void allocate(int looks) {
    void *volatile block = malloc(10);
    if (looks)
        look();
    free(block);
}

static void go_deep(int depth, int allocates) {
    char room[40];
    memset(room, depth, sizeof room);
    if (depth > 0)
        go_deep(depth - 1, allocates);
    else if (allocates)
        allocate(1);
    sink = room[depth % 40];
}

/* Each level allocates often, and stays. */
static void go_down(int depth) {
    for (int i = 0; i < 10; i++)
        allocate(1);
    if (depth > 0)
        go_down(depth - 1);
    sink = (char)depth;
}

static void go_large(size_t bytes) {
    volatile char *room = alloca(bytes);
    room[0] = 1;
    allocate(1);
    go_deep(10, 1);
    sink = room[0];
}

static ucontext_t here, there;

static void run_coroutine(void) {
    char room[100000];
    memset(room, 1, sizeof room);
    allocate(0);
    sink = room[sink & 15];
}

static void run_on_another_stack(void) {
    static char stack[300000];
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, run_coroutine, 0);
    swapcontext(&here, &there);
}

static void handle(int number) {
    (void)number;
    allocate(0);
}

static void handle_on_another_stack(void) {
    static char room[100000];
    const stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    const struct sigaction action = {.sa_handler = handle,
                                     .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void tell(const char *name) {
    printf("%ld %s %lu\n", (long)syscall(SYS_gettid), name,
           (unsigned long)deepest);
}

/* A handler on this stack, deeper than all: it does not count. */
static void handle_deep(void) {
    const struct sigaction action = {.sa_handler = handle};
    char room[50000];
    memset(room, 1, sizeof room);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    sink = room[sink & 15];
}

static void *run(void *number) {
    long n = (long)number;
    char name[16];
    snprintf(name, sizeof name, "deep-%ld", n);
    pthread_setname_np(pthread_self(), name);
    if (n == 5)
        go_down(200);
    for (int i = 0; i < 300 && n != 5; i++)
        go_deep((int)((i * 7919 + n) % (i + 1)), 1);
    if (n == 1)
        handle_deep();
    if (n == 2)
        go_large(3 << 20);
    if (n == 3)
        go_large(600000);
    if (n == 4)
        go_deep(20000, 1);
    go_deep(30000, 0);
    tell(name);
    return NULL;
}

int main(int argc, char **argv) {
    run_on_another_stack();
    handle_on_another_stack();
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        for (long n = 1; n <= 5; n++) {
            pthread_t thread;
            pthread_create(&thread, NULL, run, (void *)n);
            pthread_join(thread, NULL);
        }
    for (int i = 0; i < 100; i++)
        go_deep((i * 31) % (i + 1), 1);
    run_on_another_stack();
    go_deep(argc > 2 ? 1 << 16 : 200, 1);
    go_deep(30000, 0);
    tell("main");
    return 0;
}
