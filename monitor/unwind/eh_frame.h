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

/* Bytes of a table that are yet to be read.  Nothing is read from `end` on:
 * reads there return 0 and set `bad`. */
struct mprof__cursor {
    const uint8_t *at, *end;
    bool bad;
};

static inline bool mprof__has_bytes(struct mprof__cursor *c, uint64_t bytes) {
    c->bad |= (uint64_t)(c->end - c->at) < bytes;
    return !c->bad;
}

static inline void mprof__skip(struct mprof__cursor *c, uint64_t bytes) {
    if (mprof__has_bytes(c, bytes))
        c->at += bytes;
}

/* The number of TYPE that is next. */
#define MPROF__TAKE(type, c)                                                   \
    ({                                                                         \
        type value_ = 0;                                                       \
        if (mprof__has_bytes((c), sizeof value_)) {                            \
            memcpy(&value_, (c)->at, sizeof value_);                           \
            (c)->at += sizeof value_;                                          \
        }                                                                      \
        value_;                                                                \
    })

/* Numbers of variable length, DWARF 5, section 7.6. */
static inline uint64_t mprof__leb(struct mprof__cursor *c, bool is_signed) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = MPROF__TAKE(uint8_t, c);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return value;
}

static inline uint64_t mprof__uleb(struct mprof__cursor *c) {
    return mprof__leb(c, false);
}

static inline int64_t mprof__sleb(struct mprof__cursor *c) {
    return (int64_t)mprof__leb(c, true);
}

/* Two programs, one after the other, give the rules for a function. */
struct mprof__fde {
    struct mprof__cursor cie, fde; /* initial instructions; its own */
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_column; /* DWARF number of what holds the return address */
    uintptr_t start, end;   /* of the function */
    uint8_t encoding;       /* of these */
    bool augmented, signal;
};

/* Find the FDE for PC, and fill in all of *UNWIND but the rule.  False: PC is
 * in no module (module_start 0) or has no FDE there that is understood. */
bool mprof__eh_find(uintptr_t pc, struct mprof__unwind *unwind,
                    struct mprof__fde *found);

#endif
