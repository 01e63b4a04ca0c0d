/* local_names.h - Lisp names of local functions, from their C names.
 *
 * ECL's compiler names the C function of a global Lisp function L<n>foo, and of
 * a local one LC<n>foo or, patched, LC<n>foo__labels_in__outer.  `outer` is the
 * C name of the global function around it.  Functions inside another one have
 * smaller numbers than that.
 */
#ifndef MONITOR_ECL_LOCAL_NAMES_H
#define MONITOR_ECL_LOCAL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/elf_image.h"
#include "monitor/ecl/lisp_names.h"
#include "monitor/names/adapter.h"

/* Name the function at START from the symbols of its library, which is loaded
 * at BIAS: (LABELS WALK :IN TREE-SUM) where that is known. */
void mprof__local_name(const struct mprof__image *image, uintptr_t start,
                       uintptr_t bias, struct mprof__name *name);

#endif
