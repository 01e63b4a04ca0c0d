/* barrier_x86_64.S - where marked frames return to; see marks.h.
 *
 * A frame that returns leaves the stack pointer where its mark says.  Only r11
 * and the flags are changed: they carry nothing into or out of a function, so any
 * way to return a value works.
 *
 * Unwinders come to a trampoline as to a return address, and to the rest when a
 * signal strikes there.  The tables compute where the real return address is
 * kept, by the same search as the code.  The CFA is the stack pointer: then the
 * caller is the same frame to an unwinder with and without the mark.  But so is
 * the barrier: an exception that the caller will catch is first caught here;
 * see marks.c.
 */

#define REGISTER_SP 7
#define REGISTER_BACK 16 /* rip */
#define REGISTER_MARKS 11
#include "monitor/unwind/barrier.h"

/* The rules: the return address is at the place that an expression tells, or in
 * r11. */
#define RETURN_ADDRESS_AT 0x10, 16
#define RETURN_ADDRESS_IN_R11 0x09, 16, 11

        .text
        .p2align 5
        .globl  mprof__barrier_start, mprof__barrier_common, mprof__barrier_end
        .hidden mprof__barrier_start, mprof__barrier_common, mprof__barrier_end
        .hidden mprof__marks, mprof__barrier_lost

        .type   mprof__barrier_start, @function
mprof__barrier_start:
        .cfi_startproc
        .cfi_personality 0x1b, mprof__barrier_catch
        .cfi_def_cfa rsp, 0
        .cfi_escape RETURN_ADDRESS_AT, BY_TRAMPOLINE
        .set    trampoline, 0
        .rept   TRAMPOLINES
        .quad   mprof__marks + 8 * trampoline - .
        .p2align 4
        movq    mprof__marks + 8 * trampoline(%rip), %r11
        jmp     mprof__barrier_common
        .p2align 5
        .set    trampoline, trampoline + 1
        .endr
        .cfi_endproc
        .size   mprof__barrier_start, . - mprof__barrier_start

        .type   mprof__barrier_common, @function
mprof__barrier_common:
        .cfi_startproc
        .cfi_personality 0x1b, mprof__barrier_catch
        .cfi_def_cfa rsp, 0
        .cfi_escape RETURN_ADDRESS_AT, BY_MARKS
        movq    %r10, -16(%rsp)         /* some conventions preserve it */
        movq    (%r11), %r10
        addq    %r11, %r10              /* the innermost mark */
1:      cmpq    %r11, %r10
        je      3f
        cmpq    %rsp, (%r10)
        je      2f
        subq    $16, %r10
        jmp     1b
2:      movq    8(%r10), %r11
        .cfi_escape RETURN_ADDRESS_IN_R11
        orq     $1, (%r10)              /* it has returned */
        movq    -16(%rsp), %r10
        notrack jmp *%r11
        .cfi_escape RETURN_ADDRESS_AT, BY_MARKS
        /* A frame that was left, or has returned, does so again: its mark may
         * still be there, behind the end. */
3:      leaq    16 * MARKS(%r11), %r10
        movq    %rax, -24(%rsp)
4:      movq    (%r10), %rax
        andq    $-2, %rax
        cmpq    %rsp, %rax
        je      5f
        subq    $16, %r10
        cmpq    %r11, %r10
        ja      4b
        /* A frame of another stack, or a copy.  There is no way on. */
        .cfi_undefined rip
        andq    $-16, %rsp
        call    mprof__barrier_lost
        ud2
        .cfi_escape RETURN_ADDRESS_AT, BY_MARKS
5:      movq    8(%r10), %r11
        movq    -24(%rsp), %rax
        movq    -16(%rsp), %r10
        notrack jmp *%r11
        .cfi_endproc
        .size   mprof__barrier_common, . - mprof__barrier_common
mprof__barrier_end:

/* The exception goes on to the frame that the marked one was called by. */
        .globl  mprof__barrier_throw
        .hidden mprof__barrier_throw, mprof__barrier_catch
        .hidden mprof__barrier_thrown
        .type   mprof__barrier_throw, @function
        .cfi_startproc
        .cfi_def_cfa rsp, 16
        nop
mprof__barrier_throw:
        .cfi_def_cfa rsp, 0
        subq    $16, %rsp
        .cfi_def_cfa rsp, 16
        .cfi_undefined rip
        call    mprof__barrier_thrown
        .cfi_offset rip, -8
        movq    %rdx, 8(%rsp)
        movq    %rax, %rdi
        call    _Unwind_Resume@PLT
        ud2
        .cfi_endproc
        .size   mprof__barrier_throw, . - mprof__barrier_throw

        .section .note.GNU-stack, "", @progbits
