/* inlines.h - the inlined calls, and their places in the source.
 *
 * Used by symbols.c only.  Addresses are the DWARF data's.
 */
#ifndef REPORT_ELF_INLINES_H
#define REPORT_ELF_INLINES_H

#include <elfutils/libdw.h>

#include "report/base/pool.h"
#include "report/elf/elf_file.h"
#include "report/elf/symbols.h"

struct report__inlines;

/* Find the functions of DWARF, which must outlive the result.  NULL when
 * memory is short.  End with report__inlines_free(); NULL is allowed there. */
struct report__inlines *report__inlines_new(const struct report__elf_file *file,
                                            Dwarf *dwarf);
void report__inlines_free(struct report__inlines *inlines);

/* See report__symbols_inlines(). */
uint32_t report__inlines_at(struct report__inlines *inlines,
                            struct report__pool *pool, Dwarf_Addr address,
                            struct report__inline **list,
                            struct report__place *place);

#endif
