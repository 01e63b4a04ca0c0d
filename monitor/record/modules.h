/* modules.h - the loaded ELF files that functions are in. */
#ifndef MPROF_MODULES_H
#define MPROF_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/unwind/cfi.h"
#include "monitor/format/format.h"

struct mprof__session;

/* MODULE for the module of UNWIND; under the session's lock.  0: no room. */
mprof_ref mprof__module(struct mprof__session *session,
                        const struct mprof__unwind *unwind);

/* Is MODULE still the one that is mapped where it was? */
bool mprof__module_is(struct mprof__session *session,
                      const struct mprof_module *module);

/* An ELF file, mapped to read its symbols; it may be deleted meanwhile. */
struct mprof__image {
    const unsigned char *base; /* NULL: not an ELF file with symbols */
    size_t bytes;
};
void mprof__image_open(struct mprof__image *image, const char *path);
void mprof__image_close(struct mprof__image *image);

/* Call VISIT for the functions among the symbols until it returns nonzero;
 * ADDRESS is the ELF address.  Names live as long as the image. */
void mprof__image_symbols(const struct mprof__image *image,
                          int (*visit)(const char *name, uint64_t address,
                                       void *data),
                          void *data);

/* The name of the function at the ELF address ADDRESS, or NULL. */
const char *mprof__image_symbol_at(const struct mprof__image *image,
                                   uint64_t address);

#endif
