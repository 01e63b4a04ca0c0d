/* barrier_x86_64.S - where marked frames return to; see marks.h.
 *
 * A gate goes on to its return address, from whichever of its trampolines a
 * frame returned to: these are the bytes of its first instructions, which do
 * nothing.  Only r11 and the flags are changed: they carry nothing into or out
 * of a function, so any way to return a value works.
 *
 * Unwinders come to a trampoline as to a return address, and to the rest when a
 * signal strikes there.  The tables say where the gate has the real return
 * address.  The CFA is the stack pointer: then the caller is the same frame to
 * an unwinder with and without the mark.  But so is the barrier: an exception
 * that the caller will catch is first caught here; see marks.c.
 */

#define REGISTER_BACK 16 /* rip */
#include "monitor/unwind/barrier.h"

/* The rules: the return address is at the place that an expression tells, or in
 * r11. */
#define RETURN_ADDRESS_AT 0x10, 16
#define RETURN_ADDRESS_IN_R11 0x09, 16, 11

        .text
        .p2align 6
        .globl  mprof__barrier_start, mprof__barrier_gates_end, mprof__barrier_end
        .hidden mprof__barrier_start, mprof__barrier_gates_end, mprof__barrier_end
        .hidden mprof__barrier_ra, mprof__barrier_catches, mprof__barrier_caught_at

        .type   mprof__barrier_start, @function
mprof__barrier_start:
        .cfi_startproc
        .cfi_personality 0x1b, mprof__barrier_catch
        .cfi_def_cfa rsp, 0
        .cfi_escape RETURN_ADDRESS_AT, BY_GATE
        .set    gate, 0
        .rept   GATES
        .quad   mprof__barrier_ra + 8 * gate - .
        .skip   16, 0x90
        cmpl    $0, mprof__barrier_catches(%rip)
        jne     1f
        notrack jmp *mprof__barrier_ra + 8 * gate(%rip)
1:      movq    mprof__barrier_ra + 8 * gate(%rip), %r11
        jmp     mprof__barrier_gates_end
        .p2align 6
        .set    gate, gate + 1
        .endr
        .cfi_endproc
        .size   mprof__barrier_start, . - mprof__barrier_start

/* Some thread has caught an exception on behalf of a caller: this one, here? */
        .type   mprof__barrier_gates_end, @function
mprof__barrier_gates_end:
        .cfi_startproc
        .cfi_personality 0x1b, mprof__barrier_catch
        .cfi_def_cfa rsp, 0
        .cfi_escape RETURN_ADDRESS_IN_R11
        movq    %r10, -16(%rsp)         /* some conventions preserve it */
        movq    mprof__barrier_caught_at@gottpoff(%rip), %r10
        cmpq    %rsp, %fs:(%r10)
        movq    -16(%rsp), %r10
        je      mprof__barrier_throw
        notrack jmp *%r11
        .cfi_endproc
        .size   mprof__barrier_gates_end, . - mprof__barrier_gates_end
mprof__barrier_end:

/* The exception goes on to the frame that the marked one was called by. */
        .hidden mprof__barrier_catch, mprof__barrier_thrown
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
