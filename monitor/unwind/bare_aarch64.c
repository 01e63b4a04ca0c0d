/* bare_aarch64.c - rules for code that has no unwind tables; see cfi.h.
 *
 * The kernel's code that handlers return to has none, or in old kernels some
 * that lose the frame which the signal struck, and linkers write none for the
 * stubs of .plt.  Both are known by their instructions.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "monitor/unwind/arch.h"
#include "monitor/unwind/cfi.h"

/* The kernel's frame on the stack for the handler (struct rt_sigframe). */
struct signal_frame {
    siginfo_t info;
    ucontext_t context;
};

/* Are the instructions at START..END there?  Of code that no table describes
 * even that is not sure. */
static bool is_mapped(uintptr_t start, uintptr_t end) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char resident;
    int saved = errno;
    bool mapped = mincore((void *)(start & ~(page - 1)), 1, &resident) == 0 &&
                  mincore((void *)((end - 1) & ~(page - 1)), 1, &resident) == 0;
    errno = saved;
    return mapped;
}

static bool returns_from_handler(uintptr_t pc) {
    const uint32_t *code = (const void *)pc;
    return is_mapped(pc, pc + 8) && code[0] == 0xd2801168 && /* mov x8, #139 */
           code[1] == 0xd4000001;                            /* svc #0 */
}

static void signal_rule(struct mprof__rule *rule) {
    *rule = (struct mprof__rule){
        .cfa_base = MPROF__SP,
        .cfa_deref = true,
        .cfa_offset = offsetof(struct signal_frame, context.uc_mcontext.sp),
        .bp_saved = true,
        .bp_base = MPROF__SP,
        .bp_offset = offsetof(struct signal_frame,
                              context.uc_mcontext.regs[MPROF__DW_BP]),
        .ra_base = MPROF__SP,
        .ra_offset = offsetof(struct signal_frame, context.uc_mcontext.pc),
        .lr_offset = offsetof(struct signal_frame,
                              context.uc_mcontext.regs[MPROF__DW_RA]),
        .signal = true,
    };
}

/* A stub of .plt: perhaps a landing pad (bti c), then adrp x16; ldr x17,
 * [x16, ...]; add x16, x16, ...; br x17.  The first of them begins with stp
 * x16, x30, [sp, #-16]!. */
enum { LONGEST_STUB = 6 };

static bool is_push(uint32_t code) {
    return code == 0xa9bf7bf0;
}

static bool prepares_jump(uint32_t code) {
    return (code & 0x9f00001f) == 0x90000010 || /* adrp */
           (code & 0xffc003ff) == 0xf9400211 || /* ldr */
           (code & 0xffc003ff) == 0x91000210 || /* add */
           code == 0xd503245f;                  /* bti c */
}

/* Only a signal strikes there. */
static bool plt_rule(uintptr_t pc, struct mprof__unwind *unwind) {
    const uint32_t *code = (const void *)pc, *start = code, *end = code;
    if (pc % 4 != 0 || pc - unwind->module_start < 4 * LONGEST_STUB ||
        unwind->module_end - pc < 4 * LONGEST_STUB ||
        !is_mapped(pc - 4 * LONGEST_STUB, pc + 4 * LONGEST_STUB))
        return false;
    while (end - code < LONGEST_STUB - 1 &&
           (prepares_jump(*end) || (end == code && is_push(*end))))
        end++;
    if (*end != 0xd61f0220) /* br */
        return false;
    while (code - start < LONGEST_STUB && prepares_jump(start[-1]))
        start--;
    bool pushed = is_push(start[-1]);
    unwind->function = (uintptr_t)(pushed ? start - 1 : start);
    unwind->rule = (struct mprof__rule){.cfa_base = MPROF__SP,
                                        .cfa_offset = pushed ? 16 : 0,
                                        .ra_base = MPROF__CFA,
                                        .ra_offset = pushed ? -8 : 0,
                                        .ra_in_lr = !pushed};
    return true;
}

bool mprof__bare_rule(uintptr_t pc, struct mprof__unwind *unwind) {
    /* Who looks for a return address gives the one before it. */
    uintptr_t next = (pc + 3) & ~(uintptr_t)3;
    if (returns_from_handler(next)) {
        if (unwind->function == 0)
            unwind->function = next;
        signal_rule(&unwind->rule);
        return true;
    }
    return unwind->function == 0 && unwind->module != NULL &&
           plt_rule(pc, unwind);
}
