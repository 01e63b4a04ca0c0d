/* eh_frame.h - the FDE of .eh_frame for an address.
 *
 * Looking one up takes no lock and no memory: the loader's own table
 * (_dl_find_object) leads to .eh_frame_hdr, its sorted table to the FDE (frame
 * description entry) of the function, and that to what it shares with others
 * (CIE). Format: LSB, "Exception Frames".
 */
#ifndef MONITOR_UNWIND_EH_FRAME_H
#define MONITOR_UNWIND_EH_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "monitor/unwind/cfi.h"

/* Two programs, one after the other, give the rules for a function. */
struct mprof__fde {
    const uint8_t *cie, *cie_end; /* initial instructions */
    const uint8_t *fde, *fde_end;
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_column; /* DWARF number of what holds the return address */
    uintptr_t start, end;   /* of the function */
    bool signal;
};

/* Find the FDE for PC, and fill in all of *UNWIND but the rule.  False: PC is
 * in no module (module_start 0) or has no FDE there that is understood. */
bool mprof__eh_find(uintptr_t pc, struct mprof__unwind *unwind,
                    struct mprof__fde *found);

/* Numbers of variable length, DWARF 5, section 7.6. */
static inline uint64_t mprof__uleb(const uint8_t **p) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = *(*p)++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return value;
}

static inline int64_t mprof__sleb(const uint8_t **p) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = *(*p)++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

/* The number of TYPE at *P, which moves behind it. */
#define MPROF__TAKE(type, p)                                                   \
    ({                                                                         \
        type value_;                                                           \
        memcpy(&value_, *(p), sizeof value_);                                  \
        *(p) += sizeof value_;                                                 \
        value_;                                                                \
    })

#endif
