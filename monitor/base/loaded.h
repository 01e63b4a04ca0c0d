/* loaded.h - what of a loaded ELF file there is to read.
 *
 * The file may be damaged: whatever its tables say leads to memory only if the
 * loader has put something there.
 */
#ifndef MONITOR_BASE_LOADED_H
#define MONITOR_BASE_LOADED_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* A file, or a segment of the program, that is mapped from `start` to `end`;
 * ELF address 0 is `bias`. */
struct mprof__loaded {
    uintptr_t start, end, bias;
};

/* Its program headers, COUNT of them; NULL: there is none to rely on. */
const ElfW(Phdr) *
    mprof__loaded_headers(const struct mprof__loaded *file, unsigned *count);

/* How far there is something to read from ADDRESS on, in the segment that it is
 * in; 0: it is in none. */
uintptr_t mprof__loaded_until(const struct mprof__loaded *file,
                              uintptr_t address);

#endif
