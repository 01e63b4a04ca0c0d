/* ecl_images.h - the files that compiled Lisp was loaded from, for their
 * symbols: names of local functions, and which two C functions are one of
 * Lisp's (see entries.h). */
#ifndef MONITOR_ECL_ECL_IMAGES_H
#define MONITOR_ECL_ECL_IMAGES_H

#include <ecl/ecl.h>
#include <link.h>

#include "monitor/base/elf_image.h"
#include "monitor/ecl/entries.h"

/* The library of BLOCK was loaded, or is about to be unloaded; the part of the
 * runtime that is written in Lisp.  Under the registry's lock. */
void mprof__ecl_images_open(cl_object block);
void mprof__ecl_images_close(cl_object block);
void mprof__ecl_images_open_core(void);
void mprof__ecl_images_clear(void);
void mprof__ecl_images_forked(void);

/* The file of MODULE; NULL: Lisp did not load it. */
const struct mprof__image *mprof__ecl_image(const struct link_map *module);

/* The pair that the function at START in MODULE belongs to. */
struct mprof__pair mprof__ecl_pair_of(const struct link_map *module,
                                      uintptr_t start);

/* The body of the function at ENTRY; where there is none, ENTRY itself. */
uintptr_t mprof__ecl_body_of(uintptr_t entry);

#endif
