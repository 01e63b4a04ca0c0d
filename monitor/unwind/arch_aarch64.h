/* arch_aarch64.h - what the monitor knows of aarch64; as monitor/unwind/arch.h.
 * Names without a comment are explained in arch_x86_64.h. */
#ifndef MONITOR_UNWIND_ARCH_AARCH64_H
#define MONITOR_UNWIND_ARCH_AARCH64_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined __clang__
#error "clang's __builtin_dwarf_cfa() is wrong on aarch64: compile with gcc"
#endif

enum { MPROF__ELF_MACHINE = 183 };

/* DWARF numbers of the registers, DWARF for the Arm 64-bit Architecture. */
enum { MPROF__DW_BP = 29, MPROF__DW_RA = 30, MPROF__DW_SP = 31 };

enum { MPROF__PLT_PUSHES = 0, MPROF__HAS_LR = 1, MPROF__SIGNS_RETURNS = 1 };

enum { MPROF__RETURN_OFFSET = 0 };

enum { MPROF__HAS_MARKS = 1 };
enum { MPROF__TRAMPOLINES = 8, MPROF__TRAMPOLINE_BYTES = 4 };

/* For mprof__caller(), in a function that keeps its frame.  The saved frame
 * pointer and return address are at no fixed distance from the CFA here. */
#define MPROF__FRAME()                                                         \
    ((const void *)(const uintptr_t[]){                                        \
        *(const uintptr_t *)__builtin_frame_address(0),                        \
        (uintptr_t)__builtin_return_address(0),                                \
        (uintptr_t)__builtin_dwarf_cfa()})

static inline void mprof__caller(const void *frame, uintptr_t *pc,
                                 uintptr_t *sp, uintptr_t *bp) {
    const uintptr_t *words = frame;
    *bp = words[0];
    *pc = words[1];
    *sp = words[2];
}

static inline uintptr_t mprof__frame_position(const void *frame) {
    return ((const uintptr_t *)frame)[2];
}

/* A return address as it is called: without its signature.  The instruction
 * (xpaclri) does nothing where addresses are not signed. */
static inline uintptr_t mprof__strip(uintptr_t pc) {
    register uintptr_t x30 __asm__("x30") = pc;
    __asm__("hint 7" : "+r"(x30));
    return x30;
}
#define MPROF__STRIP(pc) mprof__strip(pc)

/* If PC is in code that has no unwind tables and is known all the same, fill in
 * the rule and the function.  See bare_aarch64.c. */
struct mprof__unwind;
bool mprof__bare_rule(uintptr_t pc, struct mprof__unwind *unwind);

/* Is what is before PC, in code, a call? */
static inline bool mprof__follows_call(uintptr_t pc) {
    uint32_t code; /* BL, BLR and its forms that authenticate */
    memcpy(&code, (const void *)(pc - 4), sizeof code);
    return (code & 0xfc000000u) == 0x94000000u ||
           (code & 0xfefff000u) == 0xd63f0000u;
}

/* Does the processor compare return addresses with a stack of its own?  The
 * instruction (chkfeat) does nothing where there is no such stack. */
static inline bool mprof__shadow_stack(void) {
    register uint64_t x16 __asm__("x16") = 1;
    __asm__ volatile("hint 40" : "+r"(x16));
    return x16 == 0;
}

enum { MPROF__CALL_BYTES = 4, MPROF__CODE_STEP = 4 };
static inline uintptr_t mprof__call_target(uintptr_t at) {
    uint32_t code; /* B or BL */
    memcpy(&code, (const void *)at, sizeof code);
    if ((code & 0x7c000000u) != 0x14000000u)
        return 0;
    return at + (uintptr_t)((intptr_t)(int32_t)(code << 6) >> 6) * 4;
}

/* Does the code at AT only jump to where a word in memory says (.plt)?  It
 * begins with adrp x16. */
static inline bool mprof__is_stub(uintptr_t at) {
    uint32_t code;
    memcpy(&code, (const void *)at, sizeof code);
    return (code & 0x9f00001fu) == 0x90000010u;
}

#endif
