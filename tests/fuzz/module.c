/* module.c - a shared object for the fuzzer to begin with: functions that are
 * inlined, types of several kinds, unwind tables with rare rules.  It needs no
 * library and is as small as can be. */
#include <stddef.h>

/* Call NOTE with a number: it learns where it was called. */
typedef void note(int);

struct point {
    int x, y;
};
union either {
    struct point point;
    double number;
};
typedef struct {
    union either list[4];
    struct {
        unsigned low : 3, high : 5;
    } bits;
    enum { RED, GREEN } colour;
} shape;
typedef long vector[6];
typedef const char *text;

shape kept;
vector numbers;
text name;
volatile int sink;

extern void *malloc(size_t size);

static inline __attribute__((always_inline)) void innermost(note *tell, int n) {
    struct local {
        char bytes[40];
    } local = {{(char)n}};
    tell(n);
    sink += local.bytes[0];
}

static inline __attribute__((always_inline)) void middle(note *tell, int n) {
    innermost(tell, n + 1);
    if (sink < 0)
        tell(n + 2);
}

__attribute__((noinline)) static void below(note *tell, int n) {
    middle(tell, n);
    sink++;
}

void outer(note *tell, int n);
void outer(note *tell, int n) {
    below(tell, n);
    for (int i = 0; i < 2; i++)
        middle(tell, i);
    sink = kept.bits.low + (int)numbers[1] + (name != NULL);
}

void *allocate(size_t size);
void *allocate(size_t size) {
    char *block = malloc(size);
    sink++;
    return block;
}

/* Rules that compilers do not write: states that are remembered, expressions, a
 * frame that a signal made. */
__asm__(".text\n"
        ".globl rare\n"
        ".type rare, %function\n"
        "rare:\n"
        ".cfi_startproc\n"
        "nop\n"
        ".cfi_remember_state\n"
        ".cfi_def_cfa_offset 160\n"
        ".cfi_offset 6, -16\n"
        "nop\n"
        ".cfi_restore_state\n"
        ".cfi_escape 0x10, 6, 2, 0x76, 8\n"
        ".cfi_undefined 16\n"
        "nop\n"
        ".cfi_endproc\n"
        ".size rare, .-rare\n"
        ".globl handler\n"
        ".type handler, %function\n"
        "handler:\n"
        ".cfi_startproc simple\n"
        ".cfi_signal_frame\n"
        ".cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6\n"
        ".cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1\n"
        ".cfi_escape 0x10, 6, 2, 0x77, 0x78\n"
        "nop\n"
        "nop\n"
        ".cfi_endproc\n"
        ".size handler, .-handler\n");
