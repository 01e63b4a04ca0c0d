/* dwarf_types.h - walk over the types in one file's DWARF. */
#ifndef REPORT_ELF_DWARF_TYPES_H
#define REPORT_ELF_DWARF_TYPES_H

#include <elfutils/libdw.h>
#include <stdint.h>

#include "report/base/pool.h"
#include "report/elf/type_names.h"
#include "report/elf/units.h"

/* Whose types a file has. */
enum report__type_source {
    MPROF__PROGRAM,
    MPROF__LIBRARY,
    MPROF__SYSTEM_LIBRARY /* in /lib or /usr/lib, such as libc */
};

/* A walk that may be cut short by a jump out of the pool: then, as at its end,
 * report__walk_end() gives back what it holds. */
struct report__type_walk {
    struct report__pool *pool; /* for what is needed during the walk */
    struct report__type_names *names;
    enum report__type_source source;
    const struct report__elf_file *file;
    int split_gone; /* units whose .dwo file is not there */
    /* The rest belongs to dwarf_types.c. */
    Dwarf *dwarf; /* that lists the units */
    struct unit *unit;
    void *seen; /* units and files that were met otherwise */
    Dwarf_Die *pending;
    size_t pending_count, pending_capacity;
    struct member *members;
    size_t member_count, member_capacity;
    char *text;
    size_t text_length, text_capacity;
};

/* Give all types of DWARF with up to MPROF_LARGEST_BIN bytes to
 * report__add_type(). */
void report__walk_types(struct report__type_walk *walk, Dwarf *dwarf);
void report__walk_end(struct report__type_walk *walk);

#endif
