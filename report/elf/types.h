/* types.h - the names of types by their size, from DWARF.
 *
 * The names are those of structures, unions and classes, and of the typedefs
 * of such and of arrays; C++ names are qualified.  Names that are equal and of
 * equal size count once.  Of one size come, each by name (those with a leading
 * underscore last):
 *
 *     1. structures that the program's own sources declare,
 *     2. its typedefs of arrays,
 *     3. its typedefs of numbers, pointers and enumerations, only where there
 *        is nothing in 1 and 2,
 *     4. structures that system headers declare, as far as the program has
 *        them,
 *     5. those of namespaces of the C++ library (std, __gnu_cxx), only where
 *        there is nothing in 1 and 2,
 *     6. structures, then array typedefs, of its shared libraries, and at last
 *        those of libraries in /lib and /usr/lib,
 *     7. what libraries have of 5, under the same condition.
 *
 * Types without a name, types that the compiler made, incomplete types, and
 * typedefs in C++ classes and functions that only rename a type are left out.
 */
#ifndef REPORT_ELF_TYPES_H
#define REPORT_ELF_TYPES_H

#include "report/data/profile.h"

struct report__types;

/* The types of the modules of PROFILE; of libraries in /lib and /usr/lib, whose
 * inner types say little to who did not write them, only with SYSTEM.  PROGRAM
 * is the path to use in place of the one recorded for the program itself, or
 * NULL.  The result and its names live in POOL. */
struct report__types *report__types_read(struct report__pool *pool,
                                         const struct report__profile *profile,
                                         const char *program, bool system);

/* The *COUNT names of types of SIZE bytes, best first.  Sizes above
 * MPROF_LARGEST_BIN have none. */
const char *const *report__types_of_size(const struct report__types *types,
                                         uint64_t size, uint32_t *count);

/* A sentence without a full stop that says why the program itself has no
 * types, or NULL when it has debug information. */
const char *report__types_missing(const struct report__types *types);

#endif
