/* names.h - functions, their names, and their positions in the source. */
#ifndef MONITOR_NAMES_NAMES_H
#define MONITOR_NAMES_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "monitor/base/chunks.h"
#include "monitor/base/table.h"
#include "monitor/file/arena.h"
#include "monitor/format/format.h"
#include "monitor/names/adapter.h"
#include "monitor/unwind/walk.h"

/* All that is known of functions, and of the files that they are in.  Adding
 * takes the arena's lock; finding does not. */
struct mprof__names {
    struct mprof__arena *arena;
    struct mprof__chunks *memory;  /* of sites, and of files of symbols */
    struct mprof__table sites;     /* return address -> struct mprof__site * */
    struct mprof__table functions; /* start or object -> FUNCTION */
    struct mprof__table modules;   /* start of the mapping -> generation of its
                                      last check, MODULE */
    struct mprof__table certain;   /* FUNCTIONs whose names will not change */
    struct mprof__table files;     /* hash of a path -> STRING */
    struct mprof__table sources;   /* FUNCTIONs with a SOURCE */
    struct mprof__table parts;     /* module, address -> see parts.c */
    struct mprof__own *own;        /* files, see symbols.c */
    uint32_t objects;              /* interpreted functions seen */
    /* FUNCTIONs that represent many functions, or 0. */
    mprof_ref interpreted, toplevel, unknown, folded;
    struct mprof__name name; /* for one at a time: stacks may be nearly full */
};

/* Give back all but the chunks. */
void mprof__names_free(struct mprof__names *names);

/* Room for a name of KIND, empty; under the lock, until the next one. */
struct mprof__name *mprof__name_new(struct mprof__names *names, uint32_t kind);

/* Add a FUNCTION; under the lock.  0: no room. */
mprof_ref mprof__function_add(struct mprof__names *names, uint64_t address,
                              mprof_ref module, const struct mprof__name *name);

/* FUNCTION of an interpreted object in frame INDEX of the chain; 0: no room. */
mprof_ref mprof__function_of_object(struct mprof__names *names,
                                    const struct mprof__chain *chain,
                                    size_t index);

/* The FUNCTION of an interpreted OBJECT, if it has one already; else 0. */
mprof_ref mprof__function_find(const struct mprof__names *names,
                               uintptr_t object);

/* The one FUNCTION that represents all of a KIND: MPROF_UNKNOWN, ... */
mprof_ref mprof__function_special(struct mprof__names *names, uint32_t kind,
                                  mprof_ref *place);

/* Give the native function that starts at KEY, or the interpreted object KEY,
 * another name, if it was seen. */
void mprof__rename(struct mprof__names *names, uintptr_t key, const char *name);

/* Record the position in the source of the function with KEY, once. */
void mprof__set_source(struct mprof__names *names, uintptr_t key,
                       const struct mprof__source *source);

#endif
