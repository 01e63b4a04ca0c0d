/* arch_x86_64.h - what the monitor knows of x86-64; as monitor/unwind/arch.h.
 */
#ifndef MONITOR_UNWIND_ARCH_X86_64_H
#define MONITOR_UNWIND_ARCH_X86_64_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MPROF__ELF_MACHINE = 62 };

/* DWARF numbers of the registers, System V ABI for AMD64, figure 3.36. */
enum { MPROF__DW_BP = 6, MPROF__DW_SP = 7, MPROF__DW_RA = 16 };

/* Cases that unwind tables may describe: stubs of .plt push something, the
 * return address is in a register, it is signed. */
enum { MPROF__PLT_PUSHES = 1, MPROF__HAS_LR = 0, MPROF__SIGNS_RETURNS = 0 };

/* Where the return address is, from the CFA; 0: it differs. */
enum { MPROF__RETURN_OFFSET = -8 };

/* A routine can be put between a frame and its caller; see marks.h.  A gate has
 * so many trampolines, of so many bytes. */
enum { MPROF__HAS_MARKS = 1 };
enum { MPROF__TRAMPOLINES = 16, MPROF__TRAMPOLINE_BYTES = 1 };

/* For mprof__caller(), in a function that keeps its frame. */
#define MPROF__FRAME() __builtin_frame_address(0)

/* The state in which the caller of the function with FRAME calls it: the return
 * address, and what stack and frame pointer will be then. */
static inline void mprof__caller(const void *frame, uintptr_t *pc,
                                 uintptr_t *sp, uintptr_t *bp) {
    const uintptr_t *words = frame;
    *bp = words[0];
    *pc = words[1];
    *sp = (uintptr_t)(words + 2);
}

/* The position of that function on the stack: the deeper the call, the lower;
 * equal for all functions that are called from one place. */
static inline uintptr_t mprof__frame_position(const void *frame) {
    return (uintptr_t)frame;
}

/* A return address as it is called. */
#define MPROF__STRIP(pc) (pc)

/* A rule for code that has no unwind tables: here there is none. */
struct mprof__unwind;
static inline bool mprof__bare_rule(uintptr_t pc,
                                    struct mprof__unwind *unwind) {
    (void)pc, (void)unwind;
    return false;
}

/* Where the instruction at AT jumps to, or what it calls, by a distance that is
 * part of it; 0: it is none of that kind.  Reads MPROF__CALL_BYTES. */
enum { MPROF__CALL_BYTES = 5, MPROF__CODE_STEP = 1 };
static inline uintptr_t mprof__call_target(uintptr_t at) {
    const unsigned char *code = (const unsigned char *)at;
    int32_t distance;
    if (code[0] != 0xe8 && code[0] != 0xe9)
        return 0;
    memcpy(&distance, code + 1, sizeof distance);
    return at + 5 + (uintptr_t)(intptr_t)distance;
}

/* Does the code at AT only jump to where a word in memory says (.plt)? */
static inline bool mprof__is_stub(uintptr_t at) {
    static const unsigned char endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    const unsigned char *code = (const unsigned char *)at;
    if (memcmp(code, endbr, sizeof endbr) == 0)
        code += sizeof endbr;
    if (code[0] == 0xf2)
        code++;
    return code[0] == 0xff && code[1] == 0x25;
}

/* Return true if there is a call before PC, in code.  Not known if it would be
 * in another page. */
static inline bool mprof__follows_call(uintptr_t pc) {
    const unsigned char *p = (const unsigned char *)pc;
    enum { LONGEST = 7, PAGE = 4096 };
    if (pc % PAGE < LONGEST)
        return false;
    /* Near calls: by a distance, or by ModRM, SIB and a displacement. */
    return p[-5] == 0xe8 || (p[-2] == 0xff && (p[-1] & 0x38) == 0x10) ||
           (p[-3] == 0xff && ((p[-2] & 0xf8) == 0x50 || p[-2] == 0x14)) ||
           (p[-4] == 0xff && p[-3] == 0x54) ||
           (p[-6] == 0xff && ((p[-5] & 0xf8) == 0x90 || p[-5] == 0x15)) ||
           (p[-7] == 0xff && (p[-6] == 0x94 || p[-6] == 0x14));
}

/* Does the processor compare return addresses with a stack of its own?  The
 * instruction does nothing where there is no such stack. */
static inline bool mprof__shadow_stack(void) {
    uint64_t top = 0;
    __asm__ volatile("rdsspq %0" : "+r"(top));
    return top != 0;
}

#endif
