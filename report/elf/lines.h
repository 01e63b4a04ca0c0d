/* lines.h - the place of code in the source.
 *
 * Used by inlines.c only.  Addresses are the DWARF data's.
 */
#ifndef REPORT_ELF_LINES_H
#define REPORT_ELF_LINES_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "report/elf/symbols.h"

/* The rest of a file's budget for line tables.  libdw reads each table as a
 * whole: every row, and every file with the folder that it is in, which is
 * much where many files name one long folder.  So a table is measured before
 * it is read, and those of one file together may take so much as its size
 * allows.  All zeros at first. */
struct report__line_budget {
    uint64_t bytes; /* of tables */
    uint64_t names; /* bytes of names of files */
    bool is_set;
};

/* Whether the line table of the unit CU fits in BUDGET, which it takes its part
 * of.  Ask once for a unit, and for nothing else of one that does not.  A split
 * unit has files of its own in such a table; its lines are its skeleton's. */
bool report__lines_fit(struct report__line_budget *budget, Dwarf_Die *cu);

/* Return the place in the source of ADDRESS, which is in CU. */
struct report__place report__line_of(Dwarf_Die *cu, Dwarf_Addr address);

/* Where the function INLINED of CU was called. */
struct report__place report__call_line(Dwarf_Die *cu, Dwarf_Die *inlined);

#endif
