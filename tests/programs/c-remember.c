/* c-remember.c - what is remembered of frames must be told from what is there:
 * `alternate` (the same frames on top of others), `pointer` (a frame pointer
 * that means another thing at the same stack pointer), `turns` (one that
 * matters in turn, or not), `stacks` (threads that have the stack of the one
 * before, with other frames), `wander` (up and down at random, far),
 * `callbacks` (through the C library), `jumps` (out of frames with marks, and
 * at once into others at their place); all of them. */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "chance.h"

#define NOINLINE __attribute__((noinline, noclone))
/* Keep a call at the end of a function from becoming a jump. */
#define STAY __asm__ volatile("" ::: "memory")

static unsigned long long asked;

static NOINLINE void leaf(size_t bytes) {
    void *volatile block = malloc(bytes);
    asked += bytes;
    free(block);
}

/* Two that have frames alike. */
static NOINLINE void near_one(size_t bytes) {
    leaf(bytes);
    STAY;
}

static NOINLINE void near_two(size_t bytes) {
    leaf(bytes);
    STAY;
}

typedef void (*function)(size_t);

#define FAR(name)                                                              \
    static NOINLINE void name(function inner, size_t bytes) {                  \
        inner(bytes);                                                          \
        STAY;                                                                  \
    }
FAR(far_one)
FAR(far_two)
FAR(far_three)

static NOINLINE void alternate_at(int depth, int rounds) {
    static void (*const fars[])(function, size_t) = {far_one, far_two,
                                                     far_three};
    if (depth > 0) {
        alternate_at(depth - 1, rounds);
        STAY;
        return;
    }
    for (int i = 0; i < rounds; i++)
        fars[i % 3](i % 2 ? near_one : near_two, 16 + (size_t)i % 500);
    for (int i = 0; i < rounds; i++)
        fars[next(3)](next(2) ? near_one : near_two, 32);
}

static void alternate(void) {
    for (int depth = 0; depth < 60; depth += 7)
        alternate_at(depth, 200);
}

/* What `pass` returns to finds its caller by the frame pointer, which `pass`
 * does not touch. */
static NOINLINE __attribute__((used)) void pass(size_t bytes) {
    leaf(bytes);
    STAY;
}

/* The same, but it keeps it on the stack, and has another one meanwhile. */
static NOINLINE __attribute__((optimize("omit-frame-pointer"))) void
keep(size_t bytes) {
#ifdef __x86_64__
    __asm__ volatile("xorl %%ebp, %%ebp" ::: "rbp");
#endif
    leaf(bytes);
    STAY;
}

static NOINLINE void spread(function inner, size_t bytes) {
    char *volatile room = alloca(bytes);
    room[0] = 1;
    inner(bytes);
    STAY;
}

/* Two callers, so that the wrong one would be noticed. */
#define PAD(name)                                                              \
    static NOINLINE void name(function inner, size_t bytes, size_t all) {      \
        char *volatile room = alloca(all - bytes);                             \
        room[0] = 1;                                                           \
        spread(inner, bytes);                                                  \
        STAY;                                                                  \
    }
PAD(pad_one)
PAD(pad_two)

static void pointer(function inner) {
    for (int i = 0; i < 3000; i++) {
        size_t bytes = 64 + 16 * (size_t)next(8);
        (i % 3 ? pad_one : pad_two)(inner, bytes, 512);
    }
}

#ifdef __x86_64__
/* two_ways(BYTES, BY_POINTER), as `spread`, or with 64 bytes that it finds
 * by the stack pointer: one function with the same stack pointer, and only one
 * of its calls needs the frame pointer. */
void two_ways(size_t bytes, size_t by_pointer);

__asm__(".text\n"
        ".type two_ways, @function\n"
        "two_ways:\n"
        ".cfi_startproc\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset 6, -16\n"
        "test %rsi, %rsi\n"
        "jne 0f\n"
        "sub $64, %rsp\n"
        ".cfi_remember_state\n"
        ".cfi_def_cfa_offset 80\n"
        "call pass\n"
        "add $64, %rsp\n"
        ".cfi_def_cfa_offset 16\n"
        "pop %rbp\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        "0:\n"
        ".cfi_restore_state\n"
        "mov %rsp, %rbp\n"
        ".cfi_def_cfa_register 6\n"
        "sub %rdi, %rsp\n"
        "call pass\n"
        "leave\n"
        ".cfi_def_cfa 7, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size two_ways, . - two_ways\n");

#define ROOM(name)                                                             \
    static NOINLINE void name(size_t bytes, size_t by_pointer, size_t all) {   \
        char *volatile room = alloca(all - (by_pointer ? bytes : 64));         \
        room[0] = 1;                                                           \
        two_ways(bytes, by_pointer);                                           \
        STAY;                                                                  \
    }
ROOM(room_one)
ROOM(room_two)

static void turns(void) {
    for (int i = 0; i < 3000; i++) {
        size_t bytes = 64 + 16 * (size_t)next(8);
        (next(3) ? room_one : room_two)(bytes, next(3), 512);
    }
}
#else
static void turns(void) {
}
#endif

static void *on_stack(void *argument) {
    int which = (int)(intptr_t)argument;
    for (int i = 0; i < 100; i++)
        (which % 2 ? far_one : far_two)(which % 3 ? near_one : near_two,
                                        40 + (size_t)which);
    alternate_at(which % 5 * 9, 20);
    return NULL;
}

static void stacks(void) {
    enum { BYTES = 256 * 1024, THREADS = 40 };
    void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (memory == MAP_FAILED ||
        pthread_attr_setstack(&attributes, memory, BYTES) != 0)
        exit(1);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, on_stack,
                           (void *)(intptr_t)i) != 0)
            exit(1);
        pthread_join(thread, NULL);
    }
}

/* Down and up again; what is still to be done is in STEPS. */
#define WANDER(name, left, right)                                              \
    static NOINLINE void left(long *steps, int depth);                         \
    static NOINLINE void right(long *steps, int depth);                        \
    static NOINLINE void name(long *steps, int depth) {                        \
        while (*steps > 0) {                                                   \
            --*steps;                                                          \
            unsigned way = next(16);                                           \
            if (way < 4)                                                       \
                leaf(24 + way);                                                \
            else if (way < 9 && depth > 0)                                     \
                return;                                                        \
            else                                                               \
                (way % 2 ? left : right)(steps, depth + 1);                    \
        }                                                                      \
    }
static NOINLINE void wander_one(long *steps, int depth);
static NOINLINE void wander_two(long *steps, int depth);
static NOINLINE void wander_three(long *steps, int depth);
WANDER(wander_one, wander_two, wander_three)
WANDER(wander_two, wander_three, wander_one)
WANDER(wander_three, wander_one, wander_two)

static void wander(void) {
    long steps = 60000;
    wander_one(&steps, 0);
}

static int by_value(const void *one, const void *other) {
    int a = *(const int *)one, b = *(const int *)other;
    leaf(a % 2 ? 60 : 70);
    return a < b ? -1 : a > b;
}

static NOINLINE void sort(int depth) {
    int values[32];
    for (int i = 0; i < 32; i++)
        values[i] = (int)next(1000);
    qsort(values, 32, sizeof values[0], by_value);
    if (depth > 0)
        sort(depth - 1);
    STAY;
}

static void callbacks(void) {
    for (int i = 0; i < 20; i++)
        sort(i);
}

static jmp_buf back;

static NOINLINE void leave(int depth, size_t bytes) {
    leaf(bytes);
    if (depth == 0)
        longjmp(back, 1);
    else if (bytes % 3)
        leave(depth - 1, bytes + 1);
    else
        far_two(near_two, bytes);
    if (depth > 0)
        leave(depth - 1, bytes);
    STAY;
}

static NOINLINE void jump(int depth) {
    if (setjmp(back) == 0)
        leave(depth, 100);
    far_three(near_one, 90);
}

static void jumps(void) {
    for (int i = 0; i < 400; i++)
        jump(i % 37);
}

int main(void) {
    alternate();
    pointer(pass);
    pointer(keep);
    turns();
    stacks();
    wander();
    callbacks();
    jumps();
    alternate();
    printf("asked for %llu bytes\n", asked);
    return 0;
}
