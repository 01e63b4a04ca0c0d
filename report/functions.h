/* functions.h - the functions of the tables.
 *
 * A FUNCTION record of the data file is code; a function of the tables is what
 * a reader of the tables takes for one: all definitions of one Lisp name, a C
 * function together with its cold part, all frames of the top level.
 */
#ifndef MPROF_FUNCTIONS_H
#define MPROF_FUNCTIONS_H

#include "profile.h"

/* Index of the function that stands for what has no visible caller. */
#define MPROF_TOP_LEVEL 0u

struct mprof__shown {
    const char *name;
    enum mprof_function_kind kind;
    /* Belongs to the runtime rather than to the program; see plumbing.c. */
    bool plumbing;
};

struct mprof__functions {
    struct mprof__shown *list;
    uint32_t count;
    /* By index of the FUNCTION record. */
    uint32_t *shown;
    /* The record is a part or a copy that the C compiler made of a function:
     * below that function itself it is no call. */
    bool *fragment;
};

/* Name all functions of PROFILE, reading ELF files where that is needed. */
struct mprof__functions *
mprof__name_functions(struct mprof__pool *pool,
                      const struct mprof__profile *profile);

/* The ELF names of the functions in one module, by ELF address. */
struct mprof__symbols;

/* Symbols of the ELF file of MODULE, also from a separate debug file; NULL
 * when there is no such file, or it is not the one that was profiled.  End
 * with mprof__symbols_close(). */
struct mprof__symbols *mprof__symbols_open(const struct mprof__module *module);

/* The name of the function at ADDRESS; *START is where it begins.  NULL when
 * there is none.  The text lives as long as SYMBOLS. */
const char *mprof__symbol_at(const struct mprof__symbols *symbols,
                             uint64_t address, uint64_t *start);

/* The address of the function NAME of LENGTH bytes, the one nearest to NEAR
 * when there are several; false when there is none. */
bool mprof__symbol_named(const struct mprof__symbols *symbols, const char *name,
                         size_t length, uint64_t near, uint64_t *address);

/* NULL is allowed. */
void mprof__symbols_close(struct mprof__symbols *symbols);

/* Whether a function is left out of the tables.  LISP_NAME is NULL for C, and
 * SYMBOL the ELF name or NULL; MODULE is the path of its file, or "". */
bool mprof__is_plumbing(const char *lisp_name, const char *symbol,
                        const char *module);

#endif
