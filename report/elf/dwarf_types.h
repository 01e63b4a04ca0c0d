/* dwarf_types.h - walk over the types in one file's DWARF. */
#ifndef REPORT_ELF_DWARF_TYPES_H
#define REPORT_ELF_DWARF_TYPES_H

#include <stdbool.h>
#include <elfutils/libdw.h>
#include <stdint.h>

#include "report/base/dictionary.h"
#include "report/elf/elf_file.h"

/* Best first; see types.h. */
enum report__type_rank {
    MPROF__OWN_STRUCTURE,
    MPROF__OWN_ARRAY,
    MPROF__OWN_SCALAR,
    MPROF__SYSTEM_TYPE,
    MPROF__STANDARD_TYPE,
    MPROF__LIBRARY_STRUCTURE,
    MPROF__LIBRARY_ARRAY,
    MPROF__SYSTEM_LIBRARY_TYPE,
    MPROF__LIBRARY_STANDARD_TYPE
};

struct report__type_name {
    const char *name;
    uint32_t size;
    enum report__type_rank rank; /* the best that was seen */
};

/* The names of types and their sizes, each once; in a pool. */
struct report__type_names {
    struct report__pool *pool;
    struct report__type_name *list;
    size_t count, capacity;
    struct report__dictionary texts;
    struct report__pairs sizes; /* number of a text, size */
};

/* Take note of a type; NAME is only valid during the call. */
void report__add_type(struct report__type_names *names, const char *name,
                      uint32_t size, enum report__type_rank rank);

/* Whose types a file has. */
enum report__type_source {
    MPROF__PROGRAM,
    MPROF__LIBRARY,
    MPROF__SYSTEM_LIBRARY /* in /lib or /usr/lib, such as libc */
};

enum { MPROF__LONGEST_TYPE = 2048 }; /* longer names are cut */

struct report__type_walk {
    struct report__pool *pool; /* for what is needed during the walk */
    struct report__type_names *names;
    enum report__type_source source;
    const struct report__elf_file *file;
    int split_gone; /* units whose .dwo file is not there */
    /* The rest belongs to dwarf_types.c. */
    Dwarf *dwarf; /* that lists the units */
    struct unit *unit;
    struct report__pairs seen; /* units and files that were met otherwise */
    Dwarf_Die *pending;
    size_t pending_count, pending_capacity;
    struct member *members;
    size_t member_count, member_capacity;
    char text[MPROF__LONGEST_TYPE + 1]; /* a name */
    size_t text_length;
};

/* Give all types of DWARF with up to MPROF_LARGEST_BIN bytes to
 * report__add_type(). */
void report__walk_types(struct report__type_walk *walk, Dwarf *dwarf);

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

/* Find the kind of TYPE, behind typedefs and qualifiers, and its size. */
enum report__type_kind report__measure_type(Dwarf_Die *type, uint64_t *size);

#endif
