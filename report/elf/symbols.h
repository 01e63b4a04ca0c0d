/* symbols.h - the symbols of the files that functions are in. */
#ifndef REPORT_ELF_SYMBOLS_H
#define REPORT_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/base/pool.h"
#include "report/data/profile.h"

/* A place in the source. */
struct report__place {
    const char *file; /* NULL: the place is not known */
    uint32_t line;    /* from 1 on; 0: that is not known */
};

/* A function whose body the compiler put in place of a call of it. */
struct report__inline {
    const char *name;
    struct report__place call; /* in the function further out */
};

/* The ELF names of the functions in one module, by ELF address. */
struct report__symbols;

/* Symbols of the ELF file of MODULE, also from a separate debug file; NULL
 * when there is no such file, or it is not the one that was profiled.  PATH
 * is where the file is instead, or NULL.  End with report__symbols_close(). */
struct report__symbols *
report__symbols_open(const struct report__module *module, const char *path);

/* The name of the function at ADDRESS; *START is where it begins.  NULL when
 * there is none.  The text lives as long as SYMBOLS. */
const char *report__symbol_at(const struct report__symbols *symbols,
                              uint64_t address, uint64_t *start);

/* The address of the function NAME of LENGTH bytes, the one nearest to NEAR
 * when there are several; false when there is none. */
bool report__symbol_named(const struct report__symbols *symbols,
                          const char *name, size_t length, uint64_t near,
                          uint64_t *address);

/* The functions whose bodies the code at ADDRESS belongs to because they were
 * inlined, outermost first, without the function itself.  ADDRESS is an ELF
 * address; for a call that is its return address - 1.  *LIST, and the names,
 * are in POOL.  Returns how many; 0 where there is no debug information.
 *
 * PLACE, which may be NULL, becomes the place of the code at ADDRESS, in the
 * innermost of these; files live as long as SYMBOLS.  Without it no place is
 * looked up. */
uint32_t report__symbols_inlines(struct report__symbols *symbols,
                                 struct report__pool *pool, uint64_t address,
                                 struct report__inline **list,
                                 struct report__place *place);

/* NULL is allowed. */
void report__symbols_close(struct report__symbols *symbols);

#endif
