/* jump_x86_64.S - functions of any number of arguments: we see the first ones,
 * and ECL's own function is called as if nobody had.
 */
        .text

/* FUNCTION: SEEN(its arguments), which returns what to jump to. */
        .macro  stands_before function, seen
        .globl  \function
        .type   \function, @function
        .p2align 4
\function:
        .cfi_startproc
        endbr64
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        pushq   %rcx
        .cfi_adjust_cfa_offset 8
        pushq   %r8
        .cfi_adjust_cfa_offset 8
        pushq   %r9
        .cfi_adjust_cfa_offset 8
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        call    \seen
        movq    %rax, %r11
        popq    %rax
        .cfi_adjust_cfa_offset -8
        popq    %r9
        .cfi_adjust_cfa_offset -8
        popq    %r8
        .cfi_adjust_cfa_offset -8
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *%r11
        .cfi_endproc
        .size   \function, . - \function
        .endm

        .hidden mprof__making_structure
        .hidden mprof__setting_function
        stands_before si_make_structure, mprof__making_structure
        stands_before si_fset, mprof__setting_function

        .section .note.GNU-stack, "", @progbits
