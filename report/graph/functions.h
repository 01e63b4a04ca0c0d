/* functions.h - the functions of the tables.
 *
 * A FUNCTION record of the data file is code; a function of the tables is what
 * a reader of the tables takes for one: all definitions of one Lisp name, a C
 * function together with its cold part, all frames of the top level.
 */
#ifndef MPROF_FUNCTIONS_H
#define MPROF_FUNCTIONS_H

#include "report/data/profile.h"

/* Index of the function that stands for what has no visible caller. */
#define MPROF_TOP_LEVEL 0u

struct mprof__inlining;

struct mprof__shown {
    const char *name;
    enum mprof_function_kind kind;
    /* Belongs to the runtime rather than to the program; see plumbing.c. */
    bool plumbing;
    /* Loads libraries: in the Lisp heap that is plumbing too. */
    bool loading;
};

struct mprof__functions {
    struct mprof__shown *list;
    uint32_t count;
    /* By index of the FUNCTION record. */
    uint32_t *shown;
    /* The record is a part or a copy that the C compiler made of a function:
     * below that function itself it is no call. */
    bool *fragment;
    const char *program; /* as given to mprof__name_functions() */
    /* By module: the first one that is the same file. */
    uint32_t *module_id;
    /* NULL: functions that the compiler inlined are not told apart from those
     * that they were inlined into. */
    const struct mprof__inlining *inlining;
};

/* Name all functions of PROFILE, reading ELF files where that is needed.
 * PROGRAM is the path to use in place of the one that was recorded for the
 * program itself, or NULL. */
struct mprof__functions *
mprof__name_functions(struct mprof__pool *pool,
                      const struct mprof__profile *profile,
                      const char *program);

/* PROGRAM if MODULE is the program itself, else NULL: what
 * mprof__symbols_open() wants to know. */
const char *mprof__program_path(const struct mprof__profile *profile,
                                uint32_t module, const char *program);

/* The C++ name SYMBOL as it is written in the program, or NULL when it is no
 * C++ name. */
char *mprof__demangle(struct mprof__pool *pool, const char *symbol);

/* The ELF names of the functions in one module, by ELF address. */
struct mprof__symbols;

/* Symbols of the ELF file of MODULE, also from a separate debug file; NULL
 * when there is no such file, or it is not the one that was profiled.  PATH
 * is where the file is instead, or NULL.  End with mprof__symbols_close(). */
struct mprof__symbols *mprof__symbols_open(const struct mprof__module *module,
                                           const char *path);

/* The name of the function at ADDRESS; *START is where it begins.  NULL when
 * there is none.  The text lives as long as SYMBOLS. */
const char *mprof__symbol_at(const struct mprof__symbols *symbols,
                             uint64_t address, uint64_t *start);

/* The address of the function NAME of LENGTH bytes, the one nearest to NEAR
 * when there are several; false when there is none. */
bool mprof__symbol_named(const struct mprof__symbols *symbols, const char *name,
                         size_t length, uint64_t near, uint64_t *address);

/* The functions whose bodies the code at ADDRESS belongs to because they were
 * inlined, outermost first, without the function itself.  ADDRESS is an ELF
 * address; for a call that is its return address - 1.  *NAMES, and the names,
 * are in POOL.  Returns how many; 0 where there is no debug information. */
uint32_t mprof__symbols_inlines(struct mprof__symbols *symbols,
                                struct mprof__pool *pool, uint64_t address,
                                const char ***names);

/* NULL is allowed. */
void mprof__symbols_close(struct mprof__symbols *symbols);

/* Whether a function is left out of the tables.  LISP_NAME is NULL for C, and
 * SYMBOL the ELF name (of C++: mangled) or NULL; MODULE is the path of its
 * file, or "". */
bool mprof__is_plumbing(const char *lisp_name, const char *symbol,
                        const char *module);

/* Whether the C function SYMBOL, or NULL, of MODULE is dlopen() or a relative
 * of it. */
bool mprof__is_loading(const char *symbol, const char *module);

#endif
