/* random-switches.c - programs that treat stacks as they like, by chance:
 *
 *     random-switches SEED SWITCHES
 *
 * Some tasks share one stretch of the stack and are copied away and back, some
 * of them more than once from one copy; others have stacks of their own, which
 * are abandoned and unmapped in the middle; and all of them leave frames by
 * jumps, and call on other segments of stack.  Whatever returns to a wrong
 * place changes what is printed.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
    COPIED = 8,
    OWN = 4,
    TASKS = COPIED + OWN,
    BELOW = 512,
    STACK = 64 * 1024,
    DEEPEST = 40
};

struct task {
    int number;
    int state; /* NEW, ... */
    jmp_buf at;
    char *low, *copy;
    size_t bytes, room;
    /* An earlier copy, to be put back once more. */
    jmp_buf again_at;
    char *again_low, *again;
    size_t again_bytes;
    ucontext_t context;
    char *stack;
};
enum { NEW, RUNS, DONE };

static struct task tasks[TASKS], *current;
static jmp_buf scheduler;
static ucontext_t scheduler_context;
static char *top;
static void *volatile sink;
static volatile uint64_t sum;
static volatile long switches;
static uint64_t state;

static unsigned pick(unsigned n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static void note(uint64_t n) {
    sum = sum * 31 + n;
}

static void allocate(unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        sink = malloc(10 + i);
        free(sink);
    }
}

/* Stacks */

static void __attribute__((noinline)) keep_copy(struct task *t) {
    t->low = (char *)__builtin_frame_address(0) - BELOW;
    t->bytes = (size_t)(top - t->low);
    if (t->bytes > t->room)
        t->copy = realloc(t->copy, t->room = t->bytes * 2);
    memcpy(t->copy, t->low, t->bytes);
    if (pick(16) == 0) {
        t->again = realloc(t->again, t->bytes);
        memcpy(t->again, t->copy, t->again_bytes = t->bytes);
        t->again_low = t->low;
        memcpy(t->again_at, t->at, sizeof t->at);
    }
}

static void __attribute__((noinline)) yield(void) {
    struct task *t = current;
    if (t->number >= COPIED) {
        swapcontext(&t->context, &scheduler_context);
        return;
    }
    if (setjmp(t->at) != 0)
        return;
    keep_copy(t);
    longjmp(scheduler, 1);
}

static void __attribute__((noinline)) put_back(struct task *t) {
    memcpy(t->low, t->copy, t->bytes);
    longjmp(t->at, 1);
}

/* From deeper in the stack than what is put back. */
static void __attribute__((noinline)) go_on(struct task *t) {
    static void (*volatile next)(struct task *) = put_back;
    volatile char *room = alloca(200000);
    room[0] = 1;
    next(t);
}

#ifdef __x86_64__
/* FUNCTION(N) on the stack that ends at TOP, seen by unwinders as a call. */
int call_on(void *top, int (*function)(int), int n);
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
        "mov %edx,%edi\n"
        "call *%rsi\n"
        "mov %rbp,%rsp\n"
        "pop %rbp\n"
        ".cfi_def_cfa rsp,8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size call_on,.-call_on\n");
#else
static int call_on(void *top_, int (*function)(int), int n) {
    (void)top_;
    return function(n);
}
#endif

/* Frames */

static int call(int depth);

#define FRAME(name, constant)                                                  \
    static int __attribute__((noinline)) name(int depth) {                     \
        volatile uint64_t mine = (uint64_t)current->number * 1000 + constant;  \
        if (pick(4) == 0)                                                      \
            allocate(pick(20));                                                \
        int result = call(depth - 1);                                          \
        if (pick(3) == 0)                                                      \
            allocate(pick(8));                                                 \
        note(mine + (uint64_t)depth);                                          \
        return result + 1;                                                     \
    }
FRAME(frame_a, 1)
FRAME(frame_b, 2)
FRAME(frame_c, 3)

/* The same on a segment of its own, where nothing is yielded. */
static int __attribute__((noinline)) segment(int depth) {
    allocate(40);
    return depth <= 0 ? 1 : segment(depth - 1) + 1;
}

static int __attribute__((noinline)) on_segment(int depth) {
    char *memory = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    int result = call_on(memory + STACK, segment, depth % 8);
    munmap(memory, STACK);
    allocate(10);
    return result;
}

static int __attribute__((noinline)) dive(int depth, jmp_buf back) {
    allocate(3);
    if (depth == 0)
        longjmp(back, 7);
    int result = dive(depth - 1, back);
    note((uint64_t)result);
    return result + 1;
}

static int __attribute__((noinline)) jump(int depth) {
    jmp_buf back;
    int result = setjmp(back);
    return result != 0 ? result : dive(depth % 20, back);
}

static int call(int depth) {
    static int (*const frames[])(int) = {frame_a, frame_b, frame_c};
    if (depth <= 0) {
        allocate(20);
        yield();
        allocate(20);
        return 1;
    }
    switch (pick(24)) {
    case 0:
        return jump(depth);
    case 1:
        return on_segment(depth);
    case 2:
        yield();
    }
    return frames[pick(3)](depth);
}

static void work(void) {
    struct task *t = current;
    for (int turns = 1 + (int)pick(4); turns > 0; turns--)
        note((uint64_t)call((int)pick(DEEPEST)));
    t->state = DONE;
}

/* Tasks */

static void __attribute__((noinline)) begin_copied(void) {
    work();
    longjmp(scheduler, 2);
}

static void begin_own(void) {
    work();
    swapcontext(&current->context, &scheduler_context);
    abort();
}

static void run_own(struct task *t) {
    if (t->state == NEW) {
        t->state = RUNS;
        t->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (t->stack == MAP_FAILED)
            abort();
        getcontext(&t->context);
        t->context.uc_stack.ss_sp = t->stack;
        t->context.uc_stack.ss_size = STACK;
        makecontext(&t->context, begin_own, 0);
    }
    swapcontext(&scheduler_context, &t->context);
    /* Some are abandoned. */
    if (t->state == DONE || pick(50) == 0) {
        munmap(t->stack, STACK);
        t->state = NEW;
    }
}

static void run_copied(struct task *t) {
    if (setjmp(scheduler) != 0)
        return;
    if (t->again != NULL && pick(20) == 0) {
        if (t->again_bytes > t->room)
            t->copy = realloc(t->copy, t->room = t->again_bytes);
        memcpy(t->copy, t->again, t->bytes = t->again_bytes);
        t->low = t->again_low;
        memcpy(t->at, t->again_at, sizeof t->at);
        t->state = RUNS;
        go_on(t);
    }
    if (t->state == RUNS)
        go_on(t);
    t->state = RUNS;
    begin_copied();
}

int main(int argc, char **argv) {
    volatile char room[16384];
    if (argc != 3)
        return 2;
    room[0] = 1;
    top = (char *)__builtin_frame_address(0) - 4096;
    state = strtoull(argv[1], NULL, 10);
    long most = strtol(argv[2], NULL, 10);
    for (int i = 0; i < TASKS; i++)
        tasks[i].number = i;
    for (; switches < most; switches++) {
        current = &tasks[pick(TASKS)];
        if (current->number < COPIED)
            run_copied(current);
        else
            run_own(current);
        if (pick(10) == 0)
            allocate(5);
    }
    printf("%ld switches: %llu\n", switches, (unsigned long long)sum);
    return 0;
}
