/* c-stacks.c KIND - unusual stacks: `alternate` (a signal's), `coroutines`,
 * `deep` (100,000 frames), `small` (64 KiB a thread), `tiny` (the least that a
 * thread may have), `overflow` (beyond the end, abandoned by longjmp() from the
 * alternate stack), `inherited` (main goes on on the stack of a thread that has
 * ended). */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { ROUNDS = 50, STACK = 128 * 1024, SIGNALS = 8192, DEEP = 100000 };

static void *volatile sink;
static sigjmp_buf back;

static void on_alternate(int signal) {
    (void)signal;
    sink = malloc(31);
}

static void give_signals(int depth) {
    sink = malloc(32);
    if (depth > 0)
        give_signals(depth - 1);
    else
        raise(SIGUSR1);
    sink = malloc(33);
}

static void use_alternate(void (*handler)(int), int signal) {
    char *alternate = mmap(NULL, 2 * SIGNALS, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(alternate, SIGNALS, PROT_NONE);
    stack_t stack = {.ss_sp = alternate + SIGNALS, .ss_size = SIGNALS};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(signal, &action, NULL);
}

static int alternate_stack(void) {
    use_alternate(on_alternate, SIGUSR1);
    for (int i = 0; i < ROUNDS; i++)
        give_signals(5);
    return 0;
}

static ucontext_t main_context, contexts[3];

static void yield_from(int self, int depth) {
    sink = malloc(40 + (size_t)self);
    if (depth > 0)
        yield_from(self, depth - 1);
    swapcontext(&contexts[self], &contexts[(self + 1) % 3]);
    sink = malloc(50 + (size_t)self);
}

static void coroutine(int self) {
    for (int i = 0; i < ROUNDS; i++)
        yield_from(self, 4);
}

/* Three coroutines take turns; when one ends, main makes all end. */
static int coroutines(void) {
    for (int i = 0; i < 3; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = calloc(1, STACK);
        contexts[i].uc_stack.ss_size = STACK;
        contexts[i].uc_link = &main_context;
        makecontext(&contexts[i], (void (*)(void))coroutine, 1, i);
    }
    swapcontext(&main_context, &contexts[0]);
    for (int i = 0; i < 3; i++)
        free(contexts[i].uc_stack.ss_sp);
    sink = malloc(60);
    return 0;
}

static int dig(int depth) {
    if (depth % 1000 == 0)
        sink = malloc(34);
    return depth == 0 ? 0 : dig(depth - 1) + 1;
}

static void *small_body(void *depth) {
    for (int i = 0; i < 20; i++)
        free(malloc(35));
    dig(*(int *)depth);
    return NULL;
}

static int small_stacks(size_t bytes, int depth) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, small_body, &depth) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    return 0;
}

static int overflow(int depth) {
    char room[2000];
    memset(room, depth, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
    if (depth % 50 == 0)
        sink = malloc(36);
    return depth < 0 ? 0 : overflow(depth + 1) + room[0];
}

static void leave(int signal) {
    siglongjmp(back, signal);
}

static int overflows(void) {
    use_alternate(leave, SIGSEGV);
    for (volatile int i = 0; i < 3; i++)
        if (sigsetjmp(back, 1) == 0)
            overflow(1);
    sink = malloc(37);
    return 0;
}

static ucontext_t left_behind, elsewhere;

static void end_thread(void) {
    pthread_exit(NULL);
}

/* Marks come to what stays further out. */
static int stay(int depth, int leaves) {
    for (int i = 0; depth == 0 && i < 500; i++)
        free(malloc(38));
    if (depth == 0 && leaves)
        swapcontext(&left_behind, &elsewhere);
    return depth == 0 ? 0 : stay(depth - 1, leaves) + 1;
}

static void leave_stack(void) {
    if (stay(100, 1) == 100)
        puts("inherited");
    setcontext(&main_context);
}

static void *leave_body(void *unused) {
    volatile char room[100000];
    room[0] = 1;
    leave_stack();
    room[1] = room[0];
    return unused;
}

static void *stay_body(void *unused) {
    stay(100, 0);
    return unused;
}

/* The second thread has the marks that were the first one's. */
static int inherited(void) {
    volatile int done = 0;
    pthread_t thread;
    pthread_attr_t attributes;
    void *stack = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stay(0, 0);
    getcontext(&elsewhere);
    elsewhere.uc_stack.ss_sp = calloc(1, STACK);
    elsewhere.uc_stack.ss_size = STACK;
    makecontext(&elsewhere, end_thread, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, 1 << 20);
    pthread_create(&thread, &attributes, leave_body, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, stay_body, NULL);
    pthread_join(thread, NULL);
    getcontext(&main_context);
    if (!done) {
        done = 1;
        setcontext(&left_behind);
    }
    return 0;
}

static int deep(void) {
    int sum = dig(DEEP);
    return sum != DEEP;
}

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "deep";
    int result = strcmp(kind, "alternate") == 0    ? alternate_stack()
                 : strcmp(kind, "coroutines") == 0 ? coroutines()
                 : strcmp(kind, "small") == 0      ? small_stacks(65536, 300)
                 : strcmp(kind, "tiny") == 0
                     ? small_stacks((size_t)PTHREAD_STACK_MIN, 10)
                 : strcmp(kind, "overflow") == 0  ? overflows()
                 : strcmp(kind, "inherited") == 0 ? inherited()
                                                  : deep();
    puts(result == 0 ? "right" : "wrong");
    return result;
}
