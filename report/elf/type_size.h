/* type_size.h - kinds and sizes of types in DWARF, which may be damaged.
 * Shared by dwarf_types.c and type_size.c only. */
#ifndef REPORT_ELF_TYPE_SIZE_H
#define REPORT_ELF_TYPE_SIZE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum report__type_kind {
    MPROF__NO_KIND, /* incomplete, or of no fixed size */
    MPROF__STRUCTURE,
    MPROF__ARRAY,
    MPROF__SCALAR
};

/* Attributes of DIE; false, and *VALUE or *REFERRED as before, when there is
 * none of the right form. */
bool report__die_flag(Dwarf_Die *die, unsigned int name);
bool report__die_number(Dwarf_Die *die, unsigned int name, uint64_t *value);
bool report__referred_die(Dwarf_Die *die, unsigned int name,
                          Dwarf_Die *referred);

/* What TYPE is behind typedefs and qualifiers, and its size. */
enum report__type_kind report__measure_type(Dwarf_Die *type, uint64_t *size);

#endif
