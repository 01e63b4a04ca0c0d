/* barrier_aarch64.S - where marked frames return to; see marks.h.
 *
 * A gate goes on to its return address, from whichever of its trampolines a
 * frame returned to: these are its first instructions, which do nothing.  The
 * trampoline's address is in x30 then.  Only x16, x17, x30 and the flags are
 * changed: they carry nothing into or out of a function, so any way to return a
 * value works.  All branches to addresses are returns, which need no landing
 * pad.
 *
 * Unwinders come to a trampoline as to a return address, and to the rest when a
 * signal strikes there.  The tables say where the gate has the real return
 * address.  The CFA is the stack pointer: then the caller is the same frame to
 * an unwinder with and without the mark.  But so is the barrier: an exception
 * that the caller will catch is first caught here; see marks.c.
 */

#define REGISTER_BACK 30
#include "monitor/unwind/barrier.h"

/* The rules: the return address is at the place that an expression tells, or in
 * x30. */
#define RETURN_ADDRESS_AT 0x10, 30
#define RETURN_ADDRESS_IN_X30 0x08, 30

        .text
        .p2align 6
        .globl  mprof__barrier_start, mprof__barrier_gates_end, mprof__barrier_end
        .hidden mprof__barrier_start, mprof__barrier_gates_end, mprof__barrier_end
        .hidden mprof__barrier_ra, mprof__barrier_catches, mprof__barrier_caught_at

        .type   mprof__barrier_start, %function
mprof__barrier_start:
        .cfi_startproc
        .cfi_personality 0x1b, mprof__barrier_catch
        .set    gate, 0
        .rept   GATES
        .cfi_escape RETURN_ADDRESS_AT, BY_GATE
        .xword  mprof__barrier_ra + 8 * gate - .
        .rept   8
        nop
        .endr
        adrp    x16, mprof__barrier_ra + 8 * gate
        ldr     x30, [x16, :lo12:mprof__barrier_ra + 8 * gate]
        .cfi_escape RETURN_ADDRESS_IN_X30
        adrp    x17, mprof__barrier_catches
        ldr     w17, [x17, :lo12:mprof__barrier_catches]
        cbnz    w17, mprof__barrier_gates_end
        ret
        .p2align 6
        .set    gate, gate + 1
        .endr
        .cfi_endproc
        .size   mprof__barrier_start, . - mprof__barrier_start

/* Some thread has caught an exception on behalf of a caller: this one, here? */
        .type   mprof__barrier_gates_end, %function
mprof__barrier_gates_end:
        .cfi_startproc
        .cfi_personality 0x1b, mprof__barrier_catch
        .cfi_escape RETURN_ADDRESS_IN_X30
        mrs     x16, tpidr_el0
        adrp    x17, :gottprel:mprof__barrier_caught_at
        ldr     x17, [x17, :gottprel_lo12:mprof__barrier_caught_at]
        ldr     x16, [x16, x17]
        cmp     sp, x16
        b.eq    mprof__barrier_throw
        ret
        .cfi_endproc
        .size   mprof__barrier_gates_end, . - mprof__barrier_gates_end
mprof__barrier_end:

/* The exception goes on to the frame that the marked one was called by. */
        .hidden mprof__barrier_catch, mprof__barrier_thrown
        .type   mprof__barrier_throw, %function
        .cfi_startproc
        .cfi_undefined x30
        nop
mprof__barrier_throw:
        bl      mprof__barrier_thrown
        mov     x30, x1
        .cfi_same_value x30
        b       _Unwind_Resume
        .cfi_endproc
        .size   mprof__barrier_throw, . - mprof__barrier_throw

        .section .note.GNU-stack, "", %progbits
