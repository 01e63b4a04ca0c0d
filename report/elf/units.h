/* units.h - the units of a program's debug information, and the files that hold
 * the rest of them (split DWARF). */
#ifndef REPORT_ELF_UNITS_H
#define REPORT_ELF_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "report/elf/elf_file.h"

struct report__unit {
    Dwarf_CU *cu; /* NULL: before the first one */
    uint8_t type; /* DW_UT_compile, ... */
    Dwarf_Die die;
    Dwarf_Die split; /* of a skeleton: what stands in another file; or zeros */
};

/* Go on to the next UNIT of DWARF, which is FILE's or that of a file that it
 * names; false: there is none.  libdw opens what a skeleton names, and would
 * wait for ever for a FIFO: only regular files are left to it. */
bool report__next_unit(const struct report__elf_file *file, Dwarf *dwarf,
                       struct report__unit *unit);

#endif
