/* ecl_adapter.h - the parts of the adapter for ECL.
 *
 *     ecl_hook.c      the hook: types, classes, what is interpreted
 *     ecl_registry.c  what is known of functions and libraries: its parts are
 *     ecl_names.c     names of native code,
 *     ecl_images.c    the files that it comes from,
 *     ecl_methods.c   names of methods
 *     ecl_bytecodes.c function names: interpreted code
 *     ecl_keep.c      objects that the collector must leave alone
 */
#ifndef MONITOR_ECL_ECL_ADAPTER_H
#define MONITOR_ECL_ECL_ADAPTER_H

#include <ecl/ecl.h>

#include "monitor/ecl/lisp_names.h"
#include "monitor/names/adapter.h"

/* Keep OBJECT alive; see adapter.h.  The collector sees what is kept from the
 * first call of mprof__ecl_keep_start() on. */
void mprof__ecl_keep_start(void);
void mprof__ecl_keep(uintptr_t object);
void mprof__ecl_forget(void);
/* Call VISIT for what is kept, in pieces. */
void mprof__ecl_each_kept(void (*visit)(const uintptr_t *objects, size_t count,
                                        void *data),
                          void *data);
void mprof__ecl_keep_forked(void);

/* Read the names of all functions that exist now. */
void mprof__ecl_registry_fill(void);
/* FUNCTION gets NAME, a symbol or a list (SETF symbol). */
void mprof__ecl_registry_name(cl_object name, cl_object function);
/* A library was opened, or is about to be closed. */
void mprof__ecl_registry_library(cl_object block, bool opened);
/* Forget names and files. */
void mprof__ecl_registry_clear(void);
void mprof__ecl_registry_forked(void);
/* See struct mprof__adapter. */
void mprof__ecl_native(uintptr_t start, struct link_map *module,
                       struct mprof__name *name);

/* Names of methods, which only the generic functions know. */
void mprof__ecl_rename_methods(struct mprof__names *names);

void mprof__ecl_interpreted(const struct mprof__frame *frames, size_t index,
                            struct mprof__name *name);

#endif
