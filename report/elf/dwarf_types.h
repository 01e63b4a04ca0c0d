/* dwarf_types.h - walk over the types in one file's DWARF.  Shared by types.c
 * and dwarf_types.c only. */
#ifndef MPROF_DWARF_TYPES_H
#define MPROF_DWARF_TYPES_H

#include <elfutils/libdw.h>
#include <stdint.h>

#include "report/base/pool.h"

/* Best first; see types.h. */
enum mprof__type_rank {
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

/* Whose types a file has. */
enum mprof__type_source {
    MPROF__PROGRAM,
    MPROF__LIBRARY,
    MPROF__SYSTEM_LIBRARY /* in /lib or /usr/lib, such as libc */
};

struct mprof__type_names;

/* Take note of a type; NAME of LENGTH bytes is only valid during the call. */
void mprof__add_type(struct mprof__type_names *names, const char *name,
                     size_t length, uint32_t size, enum mprof__type_rank rank);

/* A walk that may be cut short by a jump out of the pool: then, as at its end,
 * mprof__walk_end() gives back what it holds. */
struct mprof__type_walk {
    struct mprof__pool *pool; /* for what is needed during the walk */
    struct mprof__type_names *names;
    enum mprof__type_source source;
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
 * mprof__add_type(). */
void mprof__walk_types(struct mprof__type_walk *walk, Dwarf *dwarf);
void mprof__walk_end(struct mprof__type_walk *walk);

#endif
