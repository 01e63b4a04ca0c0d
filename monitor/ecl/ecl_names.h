/* ecl_names.h - the names that Lisp gives to compiled functions. */
#ifndef MONITOR_ECL_ECL_NAMES_H
#define MONITOR_ECL_ECL_NAMES_H

#include <ecl/ecl.h>
#include <stdbool.h>

#include "monitor/ecl/lisp_names.h"
#include "monitor/names/adapter.h"

/* The address of the code of FUNCTION; 0: it is not compiled, or none. */
uintptr_t mprof__ecl_entry_of(cl_object function);

/* FUNCTION gets NAME; under the registry's lock, as all that changes names. */
void mprof__ecl_names_add(cl_object name, cl_object function);
/* Add all that exist now: of symbols, also as macros, and of (SETF symbol). */
void mprof__ecl_names_fill(void);
/* Forget the names of the code from START to END; all of them. */
void mprof__ecl_names_remove(uintptr_t start, uintptr_t end);
void mprof__ecl_names_clear(void);

/* Has the function at ENTRY a name, perhaps several? */
bool mprof__ecl_has_name(uintptr_t entry);
/* Append it; false: it has none, or several. */
bool mprof__ecl_entry_name(uintptr_t entry, struct mprof__text *text);
/* Find its place in the source, if its name still means it. */
void mprof__ecl_entry_source(uintptr_t entry, struct mprof__source *source);
/* Call VISIT for each function from START to END that has a name. */
void mprof__ecl_names_visit(uintptr_t start, uintptr_t end,
                            void (*visit)(uintptr_t entry));

/* Append the name of the one global function or macro whose name ECL's compiler
 * makes MANGLED in C: do_defsetf, or clos__validate of another package.  False:
 * there is none, or several.  Looks at all symbols. */
bool mprof__ecl_mangled_name(const char *mangled, struct mprof__text *text);

/* Call VISIT with each symbol as VALUE; and with each symbol as KEY whose (SETF
 * symbol) a VALUE (function . symbol) represents in a table.  Other threads may
 * define more meanwhile. */
typedef void mprof__ecl_visit(cl_object key, cl_object value, void *data);
void mprof__ecl_all_symbols(mprof__ecl_visit *visit, void *data);
void mprof__ecl_all_setf(mprof__ecl_visit *visit, void *data);

#endif
