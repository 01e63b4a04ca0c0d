/* inlines.h - which calls were replaced by the body of the function called.
 *
 * Used by symbols.c only.  Addresses are those of the DWARF data.
 */
#ifndef MPROF_INLINES_H
#define MPROF_INLINES_H

#include <elfutils/libdw.h>

#include "report/base/pool.h"

struct mprof__inlines;

/* Find the functions of DWARF, which must outlive the result.  NULL when
 * memory is short.  End with mprof__inlines_free(); NULL is allowed there. */
struct mprof__inlines *mprof__inlines_new(Dwarf *dwarf);
void mprof__inlines_free(struct mprof__inlines *inlines);

/* The functions whose bodies the code at ADDRESS belongs to, outermost first,
 * without the function that was called at run time.  *NAMES, and the names,
 * are in POOL.  Returns how many. */
uint32_t mprof__inlines_at(struct mprof__inlines *inlines,
                           struct mprof__pool *pool, Dwarf_Addr address,
                           const char ***names);

#endif
