/* barrier_aarch64.S - where marked frames return to; see marks.h.
 *
 * A frame that returns leaves the stack pointer where its mark says, and the
 * address of the trampoline in x30.  Only x16, x17, x30 and the flags are changed:
 * they carry nothing into or out of a function, so any way to return a value
 * works.  All branches to addresses are returns, which need no landing pad.
 *
 * Unwinders come to a trampoline as to a return address, and to the rest when a
 * signal strikes there.  The tables compute where the real return address is
 * kept, by the same search as the code.  The CFA is the stack pointer: then the
 * caller is the same frame to an unwinder with and without the mark.  But so is
 * the barrier: an exception that the caller will catch is first caught here;
 * see marks.c.
 */

#define REGISTER_SP 31
#define REGISTER_BACK 30
#define REGISTER_MARKS 16
#include "monitor/unwind/barrier.h"

/* The rules: the return address is at the place that an expression tells, or in
 * x30. */
#define RETURN_ADDRESS_AT 0x10, 30
#define RETURN_ADDRESS_IN_X30 0x08, 30

        .text
        .p2align 5
        .globl  mprof__barrier_start, mprof__barrier_common, mprof__barrier_end
        .hidden mprof__barrier_start, mprof__barrier_common, mprof__barrier_end
        .hidden mprof__marks, mprof__barrier_lost

        .type   mprof__barrier_start, %function
mprof__barrier_start:
        .cfi_startproc
        .cfi_personality 0x1b, mprof__barrier_catch
        .cfi_escape RETURN_ADDRESS_AT, BY_TRAMPOLINE
        .set    trampoline, 0
        .rept   TRAMPOLINES
        .xword  mprof__marks + 8 * trampoline - .
        .p2align 4
        adrp    x16, mprof__marks + 8 * trampoline
        ldr     x16, [x16, :lo12:mprof__marks + 8 * trampoline]
        b       mprof__barrier_common
        .p2align 5
        .set    trampoline, trampoline + 1
        .endr
        .cfi_endproc
        .size   mprof__barrier_start, . - mprof__barrier_start

        .type   mprof__barrier_common, %function
mprof__barrier_common:
        .cfi_startproc
        .cfi_personality 0x1b, mprof__barrier_catch
        .cfi_escape RETURN_ADDRESS_AT, BY_MARKS
        ldr     x17, [x16]
        add     x17, x16, x17           // the innermost mark
1:      cmp     x17, x16
        b.eq    3f
        ldr     x30, [x17]
        cmp     sp, x30
        b.eq    2f
        sub     x17, x17, #16
        b       1b
2:      ldr     x30, [x17, #8]
        .cfi_escape RETURN_ADDRESS_IN_X30
        ldr     x16, [x17]
        orr     x16, x16, #1
        str     x16, [x17]              // it has returned
        ret
        .cfi_escape RETURN_ADDRESS_AT, BY_MARKS
        /* A frame that was left, or has returned, does so again: its mark may
         * still be there, behind the end. */
3:      add     x17, x16, #(16 * MARKS)
4:      ldr     x30, [x17]
        bic     x30, x30, #1
        cmp     sp, x30
        b.eq    5f
        sub     x17, x17, #16
        cmp     x17, x16
        b.hi    4b
        /* A frame of another stack, or a copy.  There is no way on. */
        .cfi_undefined x30
        bl      mprof__barrier_lost
        udf     #0
        .cfi_escape RETURN_ADDRESS_AT, BY_MARKS
5:      ldr     x30, [x17, #8]
        .cfi_escape RETURN_ADDRESS_IN_X30
        ret
        .cfi_endproc
        .size   mprof__barrier_common, . - mprof__barrier_common
mprof__barrier_end:

/* The exception goes on to the frame that the marked one was called by. */
        .globl  mprof__barrier_throw
        .hidden mprof__barrier_throw, mprof__barrier_catch
        .hidden mprof__barrier_thrown
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
