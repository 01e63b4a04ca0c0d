/* c-stale-stack.c - a coroutine's first frame leads to the stack of the thread
 * that made it, for unwinders; that thread ends, its stack is unmapped, and the
 * coroutine goes on in another thread. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK = 1 << 18 };

static void *volatile sink;
static ucontext_t creator, coroutine, second;
static char memory[1 << 17] __attribute__((aligned(64)));
static char *stack;
static sem_t unmapped, ready;

static void allocate(int n) {
    for (int i = 0; i < n; i++) {
        sink = malloc(20 + (size_t)(i % 7));
        free(sink);
    }
}

/* FUNCTION on the stack that ends at TOP. */
#if defined __x86_64__
void call_on(void *top, void (*function)(void));
__asm__(".text\n"
        ".type call_on,@function\n"
        "call_on:\n"
        ".cfi_startproc\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset rbp,-16\n"
        "mov %rsp,%rbp\n"
        ".cfi_def_cfa_register rbp\n"
        "mov %rdi,%rsp\n"
        "call *%rsi\n"
        "mov %rbp,%rsp\n"
        "pop %rbp\n"
        ".cfi_def_cfa rsp,8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size call_on,.-call_on\n");
#else
static void call_on(void *top, void (*function)(void)) {
    (void)top;
    function();
}
#endif

static void body(void) {
    swapcontext(&coroutine, &creator);
    /* In the second thread now. */
    allocate(300);
    sem_post(&ready);
    sem_wait(&unmapped);
    for (int i = 0; i < 50; i++)
        allocate(20);
    swapcontext(&coroutine, &second);
}

static int __attribute__((noinline)) deep(int n) {
    if (n == 0) {
        call_on(memory + sizeof memory, body);
        return 1;
    }
    return deep(n - 1) + 1;
}

static void *make(void *unused) {
    volatile int made = 0;
    getcontext(&creator);
    if (!made) {
        made = 1;
        allocate(50);
        sink = (void *)(size_t)deep(40);
    }
    return unused;
}

static void *go_on(void *unused) {
    swapcontext(&second, &coroutine);
    allocate(10);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    sem_init(&unmapped, 0, 0);
    sem_init(&ready, 0, 0);
    stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK);
    if (pthread_create(&thread, &attributes, make, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    if (pthread_create(&thread, NULL, go_on, NULL) != 0)
        return 1;
    sem_wait(&ready);
    munmap(stack, STACK);
    sem_post(&unmapped);
    pthread_join(thread, NULL);
    puts("fine");
    return 5;
}
