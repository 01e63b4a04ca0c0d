/* lisp_source.h - the places of Lisp functions in the source. */
#ifndef MONITOR_ECL_LISP_SOURCE_H
#define MONITOR_ECL_LISP_SOURCE_H

#include <ecl/ecl.h>

#include "monitor/names/adapter.h"

/* Put into *SOURCE what ECL knows of FUNCTION: of interpreted ones the file
 * that was loaded, of compiled ones that which was compiled; and where in it
 * the top-level form began that made the function, but of methods and closures
 * that are compiled.  It stays as it is where nothing is known. */
void mprof__lisp_source(cl_object function, struct mprof__source *source);

#endif
