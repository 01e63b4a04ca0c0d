/* c-forgets.c - for aarch64: signals in a function whose unwind table is as
 * that of the C library's lazy binding: what .plt pushed before is missing in
 * it.
 *
 * A breakpoint stands at its first instruction, where the table tells nothing
 * yet, in its middle, and behind the one that takes back what was pushed.  The
 * handler allocates, and goes on behind the breakpoint.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { TIMES = 100 };

static void *volatile sink;

__asm__("        .text\n"
        "        .type stub, %function\n"
        "stub:   stp x16, x30, [sp, #-16]!\n"
        "        b forgets\n"
        "        .size stub, . - stub\n"
        "        .type forgets, %function\n"
        "forgets:\n"
        "        .cfi_startproc\n"
        "        brk #0\n"
        "        .cfi_offset x30, 8\n"
        "        stp x8, x9, [sp, #-208]!\n"
        "        .cfi_adjust_cfa_offset 208\n"
        "        brk #0\n"
        "        ldp x8, x9, [sp], #208\n"
        "        .cfi_adjust_cfa_offset -208\n"
        "        brk #0\n"
        "        ldp x17, x30, [sp], #16\n"
        "        .cfi_adjust_cfa_offset -16\n"
        "        brk #0\n"
        "        br x30\n"
        "        .cfi_endproc\n"
        "        .size forgets, . - forgets\n");

void stub(void);

static void strike(int number, siginfo_t *info, void *state) {
    (void)number, (void)info;
    sink = malloc(45);
    ((ucontext_t *)state)->uc_mcontext.pc += 4;
}

static void call(void) {
    stub();
    __asm__ volatile("" ::: "memory");
}

int main(void) {
    const struct sigaction action = {.sa_sigaction = strike,
                                     .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    for (int i = 0; i < TIMES; i++)
        call();
    puts("struck");
    return 0;
}
