/* entries.h - the two C functions of one compiled Lisp function.
 *
 * From 24.5.10.20250914 on, ECL's compiler makes two of a function with a fixed
 * number of arguments: its entry L<n>foo_va, which Lisp knows, counts the
 * arguments and calls the body L<n>foo.
 */
#ifndef MONITOR_ECL_ENTRIES_H
#define MONITOR_ECL_ENTRIES_H

#include <stdint.h>

#include "monitor/base/elf_image.h"

/* Twice the same where there is only one. */
struct mprof__pair {
    uintptr_t entry, body;
};

/* Find the pair of the function at START, by the symbols of its library, which
 * is loaded at BIAS.  False: they do not show it. */
bool mprof__pair_by_symbols(const struct mprof__image *image, uintptr_t start,
                            uintptr_t bias, struct mprof__pair *pair);

/* The body that the code of the function at ENTRY calls, or ENTRY itself.  Its
 * library must be loaded, and stay so. */
uintptr_t mprof__body_by_code(uintptr_t entry);

#endif
