/* barrier_x86_64.S - where marked frames return to; see marks.h.
 *
 * A frame that returns leaves the stack pointer where its mark says.  Only r11
 * and the flags are changed: they carry nothing into or out of a function, so any
 * way to return a value works.
 *
 * Unwinders come to an entry as to a return address, and to the rest when a
 * signal strikes there.  The tables compute where the real return address is
 * kept, by the same search as the code.  The CFA is the stack pointer: then the
 * caller is the same frame to an unwinder with and without the mark.  But so is
 * the barrier: an exception that the caller will catch is first caught here;
 * see marks.c.
 */

/* As in marks.h. */
#define MARKS 512
#define ENTRIES 256

/* A DWARF expression, from [..., sp, marks] to the place of the return address:
 * p = marks + used; while (p != marks && *p != sp) p -= 16; p + 8 */
#define DUP 0x12
#define DEREF 0x06
#define OVER 0x14
#define PICK 0x15
#define AND 0x1a
#define MINUS 0x1c
#define PLUS 0x22
#define PLUS_CONSTANT 0x23
#define BRANCH 0x28
#define EQUAL 0x29
#define SKIP 0x2f
#define LITERAL(n) 0x30 + n
#define SEARCH_BYTES 25
#define SEARCH DUP, DEREF, OVER, PLUS, \
        OVER, OVER, EQUAL, BRANCH, 13, 0, \
        DUP, DEREF, PICK, 3, EQUAL, BRANCH, 5, 0, \
        LITERAL(16), MINUS, SKIP, -19, -1, \
        PLUS_CONSTANT, 8

/* The rules: the return address is at the place that an expression tells, which
 * begins with the CFA on its stack. */
#define RETURN_ADDRESS_AT 0x10, 16
#define RETURN_ADDRESS_IN_R11 0x09, 16, 11

/* To [..., sp, marks].  The zeros before it are more than valgrind has room for:
 * it gives up on the expression without a word, which it does not where it does
 * not know an operation. */
#define ZEROS_BYTES 24
#define ZERO4 LITERAL(0), LITERAL(0), LITERAL(0), LITERAL(0)
#define ZEROS ZERO4, ZERO4, ZERO4, ZERO4, ZERO4, ZERO4
#define SP 0x77, 0
#define BY_ENTRY_BYTES (ZEROS_BYTES + 11)
#define BY_ENTRY ZEROS, SP, 0x80, 0 /* rip */, 0x09, -32, AND, \
        DUP, DEREF, PLUS, DEREF
#define BY_R11_BYTES (ZEROS_BYTES + 4)
#define BY_R11 ZEROS, SP, 0x7b, 0

        .text
        .p2align 5
        .globl  mprof__barrier_start, mprof__barrier_common, mprof__barrier_end
        .hidden mprof__barrier_start, mprof__barrier_common, mprof__barrier_end
        .hidden mprof__marks

        .type   mprof__barrier_start, @function
mprof__barrier_start:
        .cfi_startproc
        .cfi_personality 0x1b, mprof__barrier_catch
        .cfi_def_cfa rsp, 0
        .cfi_escape RETURN_ADDRESS_AT, BY_ENTRY_BYTES + SEARCH_BYTES, \
                BY_ENTRY, SEARCH
        .set    entry, 0
        .rept   ENTRIES
        .quad   mprof__marks + 8 * entry - .
        .p2align 4
        movq    mprof__marks + 8 * entry(%rip), %r11
        jmp     mprof__barrier_common
        .p2align 5
        .set    entry, entry + 1
        .endr
        .cfi_endproc
        .size   mprof__barrier_start, . - mprof__barrier_start

        .type   mprof__barrier_common, @function
mprof__barrier_common:
        .cfi_startproc
        .cfi_personality 0x1b, mprof__barrier_catch
        .cfi_def_cfa rsp, 0
        .cfi_escape RETURN_ADDRESS_AT, BY_R11_BYTES + SEARCH_BYTES, \
                BY_R11, SEARCH
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
        .cfi_escape RETURN_ADDRESS_AT, BY_R11_BYTES + SEARCH_BYTES, \
                BY_R11, SEARCH
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
        ud2
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
