/* exports.h - the functions that a loaded ELF file exports, by name.
 *
 * They are found in the file's hash table as the loader has it in memory: no
 * lock is taken, and no file is opened.
 */
#ifndef MONITOR_BASE_EXPORTS_H
#define MONITOR_BASE_EXPORTS_H

#include "monitor/base/loaded.h"

/* A file's tables, which must be found before names are looked up in it. */
struct mprof__exports {
    struct mprof__loaded file;
    uintptr_t hash, symbols, names; /* its tables; 0: it has none to rely on */
    uintptr_t versions;             /* of its symbols; 0: they have none */
    bool old_hash;                  /* the table of hashes is a DT_HASH */
    size_t name_bytes;
};

/* Of FILE, whose dynamic section is DYNAMIC, or NULL. */
struct mprof__exports mprof__exports_of(const struct mprof__loaded *file,
                                        const ElfW(Dyn) * dynamic);

/* The address that a lookup of NAME without a version finds; 0: it has none.
 */
uintptr_t mprof__exports_find(const struct mprof__exports *exports,
                              const char *name);

#endif
