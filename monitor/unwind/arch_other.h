/* arch_other.h - any other architecture, by means of the compiler.  Used as
 * monitor/unwind/arch.h; see walk_other.c, and arch_x86_64.h for the rest. */
#ifndef MONITOR_UNWIND_ARCH_OTHER_H
#define MONITOR_UNWIND_ARCH_OTHER_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* The header of this library, where the linker put it. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
#define MPROF__ELF_MACHINE (__ehdr_start.e_machine)

/* No routine is put between a frame and its caller. */
enum { MPROF__HAS_MARKS = 0 };

/* For mprof__caller(), in a function that keeps its frame: its caller's stack
 * pointer. */
#define MPROF__FRAME() ((const void *)__builtin_dwarf_cfa())

/* The stack pointer with which the caller of the function with FRAME calls it;
 * the rest is the C library's affair. */
static inline void mprof__caller(const void *frame, uintptr_t *pc,
                                 uintptr_t *sp, uintptr_t *bp) {
    *bp = *pc = 0;
    *sp = (uintptr_t)frame;
}

static inline uintptr_t mprof__frame_position(const void *frame) {
    return (uintptr_t)frame;
}

/* A return address as it is called. */
#define MPROF__STRIP(pc) (pc)

/* Nothing depends on it where there are no marks. */
static inline bool mprof__shadow_stack(void) {
    return false;
}

/* Calls are not recognized. */
enum { MPROF__CALL_BYTES = 4, MPROF__CODE_STEP = 4 };
static inline uintptr_t mprof__call_target(uintptr_t at) {
    (void)at;
    return 0;
}

static inline bool mprof__is_stub(uintptr_t at) {
    (void)at;
    return false;
}

#endif
