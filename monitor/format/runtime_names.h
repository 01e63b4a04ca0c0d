/* runtime_names.h - C functions that a Lisp programmer knows by other names.
 *
 * Much of Common Lisp is written in C in ECL.  The function that Lisp calls has
 * its Lisp name from there; the functions below it that do the work, which
 * other parts of ECL call as well, are named here.
 */
#ifndef MONITOR_FORMAT_RUNTIME_NAMES_H
#define MONITOR_FORMAT_RUNTIME_NAMES_H

#include <stdbool.h>

/* The Lisp function that SYMBOL of the file MODULE does the work of, as tables
 * print it, or NULL. */
const char *mprof__lisp_function(const char *symbol, const char *module);

/* Is SYMBOL the function that loads a file which ECL compiled: calls its
 * top-level forms?  Only for a program that runs ECL. */
bool mprof__loads_file(const char *symbol);

/* Is FILE, without folder, what COMPILE makes: ecl000XXXXXX.fas, of another
 * name each time? */
bool mprof__is_passing(const char *file);

#endif
