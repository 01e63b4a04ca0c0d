/* known.h - what a thread knows of return addresses, so that its walks look up
 * none twice.
 *
 * A table of the addresses that come often, which forgets one for another.
 */
#ifndef MONITOR_UNWIND_KNOWN_H
#define MONITOR_UNWIND_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/format/format.h"
#include "monitor/unwind/cfi.h"

/* All that is known of one return address; see names/sites.c.  Only `checked`
 * changes. */
struct mprof__site {
    struct mprof__unwind unwind;
    uint32_t checked;   /* generation that this holds for; atomic */
    bool has_rule;      /* false: there is no rule, the walk ends here */
    bool beyond;        /* ... as it should: the loader, before the program */
    bool interpreter;   /* its frames represent the functions they interpret */
    mprof_ref function; /* FUNCTION in the data file; 0: no room for it */
    mprof_ref ref;      /* SITE in the data file; 0: no room for it */
};

/* How to go on from a frame. */
enum mprof__way {
    MPROF__PLAINLY, /* BY_SP, known by the return address alone, and what is
                     * saved is in the frame, of less than 2^15 words */
    MPROF__BY_SP,   /* CFA is the stack pointer + cfa; ... */
    MPROF__BY_BP,   /* ... the frame pointer + cfa */
    MPROF__BY_RULE  /* as the site's rule says */
};

/* The layout of a frame: words from its stack pointer to its caller's, to its
 * return address, and to its saved frame pointer. */
struct mprof__shape {
    uint16_t size, ra_at, bp_at;
    uint16_t flags; /* of who remembers it */
};

enum { MPROF__NOT_SAVED = UINT16_MAX }; /* bp_at: nowhere */

/* All that a walk needs to go on from a return address, as far as it holds for
 * a generation: half a cache line. */
struct mprof__known_site {
    uintptr_t pc;
    const struct mprof__site *site;
    union {
        struct mprof__shape shape; /* PLAINLY */
        struct {
            int32_t cfa;
            int16_t ra, bp; /* words: the return address is at CFA + ra, and the
                               frame pointer, where it is saved, at CFA + bp;
                               BY_RULE they may be cut off */
        };
    };
    mprof_ref ref; /* SITE; 0: no room for it */
    uint8_t way;   /* enum mprof__way */
    bool bp_saved, interprets;
};
_Static_assert(sizeof(struct mprof__known_site) == 32, "half a cache line");

/* Return the address OFFSET words from ADDRESS. */
static inline uintptr_t mprof__words_from(uintptr_t address, int16_t offset) {
    return address + (uintptr_t)((intptr_t)offset * (intptr_t)sizeof address);
}

/* Are BYTES so many WORDS? */
static inline bool mprof__are_words(int32_t bytes, int16_t words) {
    return bytes == words * (int32_t)sizeof(uintptr_t);
}

/* Only the thread that walks touches it. */
struct mprof__known {
    struct mprof__known_site *sites; /* by return address, or NULL; mapped, the
                                        first ones by the chain: `first` */
    uint32_t mask, fills;            /* number of sites - 1; lately filled */
    uint32_t generation; /* of code, that they are true for; 0: not for long */
    /* Return the site of return address PC; never NULL.  EXACT: PC is no return
     * address but the place where a signal interrupted. */
    const struct mprof__site *(*site_of)(void *context, uintptr_t pc,
                                         bool exact);
    void *context;
};

enum { MPROF__FIRST_SITES = 32 };

/* Before a walk in code of GENERATION, or 0 while that changes: forget what is
 * of another one. */
void mprof__known_prepare(struct mprof__known *known, uint32_t generation);

/* Give back its memory. */
void mprof__known_free(struct mprof__known *known);

/* Where it is what is known of return address PC. */
static inline struct mprof__known_site *
mprof__known_slot(const struct mprof__known *known, uintptr_t pc) {
    return &known->sites[(pc ^ pc >> 9) & known->mask];
}

/* Look up what is not known at SLOT.  EXACT as for site_of(). */
void mprof__known_look_up(struct mprof__known *known, uintptr_t pc, bool exact,
                          struct mprof__known_site *slot);

/* Find out, for mprof__known_site(), what is not known yet.  errno stays. */
const struct mprof__known_site *
mprof__known_find_out(struct mprof__known *known, uintptr_t pc);

/* Return all that is known of return address PC; NULL: nothing holds for long.
 */
static inline const struct mprof__known_site *
mprof__known_site(struct mprof__known *known, uintptr_t pc) {
    const struct mprof__known_site *slot = mprof__known_slot(known, pc);
    return __builtin_expect(slot->pc == pc && pc != 0, 1)
               ? slot
               : mprof__known_find_out(known, pc);
}

#endif
