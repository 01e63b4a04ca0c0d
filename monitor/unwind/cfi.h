/* cfi.h - unwind rules from the .eh_frame tables of the loaded modules.
 *
 * Looking a rule up takes no lock and no memory: the FDE of the function is
 * found (eh_frame.h), and its program is run up to the address asked for.
 * Format: DWARF 5, section 6.4.
 */
#ifndef MONITOR_UNWIND_CFI_H
#define MONITOR_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

struct link_map;

/* How to get from a frame to its caller.  Registers other than the stack and
 * the frame pointer (bp: rbp, x29) never matter, except the link register of a
 * frame that has not called anything yet.
 *
 * CFA, the caller's stack pointer, is register + cfa_offset, or the word at
 * that place.  A saved value is at CFA + offset, or at register + offset. */
enum mprof__base { MPROF__SP, MPROF__BP, MPROF__CFA };

struct mprof__rule {
    uint8_t cfa_base; /* MPROF__SP or MPROF__BP */
    bool cfa_deref;   /* CFA is what is stored there */
    bool bp_saved;    /* false: the frame pointer is unchanged */
    uint8_t bp_base;  /* where it was saved */
    uint8_t ra_base;  /* where the return address is */
    bool outermost;   /* there is no caller */
    bool signal;      /* this frame was entered by a signal */
    bool ra_in_lr;    /* the return address is in the link register still: of
                         the innermost frame or one that a signal struck */
    bool ra_signed;   /* the return address is signed, see MPROF__STRIP() */
    int32_t cfa_offset;
    int32_t bp_offset;
    int32_t ra_offset;
    int32_t lr_offset; /* of a signal's frame: where the link register of what
                          it struck is, from SP; 0: nowhere */
};

struct mprof__unwind {
    struct mprof__rule rule;
    uintptr_t function; /* start of the function or part of one around PC */
    uintptr_t module_start, module_end;
    struct link_map *module;
};

/* The name of what has no module; see below. */
#define MPROF__SIGNAL_RETURN "__kernel_rt_sigreturn"

/* Find the rule for the instruction at PC.  False: PC is in no module
 * (module_start 0) or has no FDE there, or one that is not understood.  True
 * with no module: where signal handlers return to, if that has none. */
bool mprof__cfi_find(uintptr_t pc, struct mprof__unwind *unwind);

#endif
