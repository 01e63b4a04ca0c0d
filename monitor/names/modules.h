/* modules.h - the loaded ELF files that functions are in. */
#ifndef MONITOR_NAMES_MODULES_H
#define MONITOR_NAMES_MODULES_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/format/format.h"
#include "monitor/unwind/cfi.h"

struct mprof__names;

/* MODULE for the module of UNWIND; under the arena's lock.  0: no room. */
mprof_ref mprof__module(struct mprof__names *names,
                        const struct mprof__unwind *unwind);

/* The path of MAP, absolute, so that the reader finds it; "": there is none. */
void mprof__module_path(const struct link_map *map, char *path, size_t size);

/* Is MODULE still the one that is mapped where it was? */
bool mprof__module_is_still(struct mprof__names *names,
                            const struct mprof_module *module);

#endif
