/* ecl_version.h - what differs from one version of ECL to the next.
 *
 * configure checks the headers of the ECL that mprof is built with, not its
 * number: snapshots before a version have the number of the version before.
 */
#ifndef MONITOR_ECL_ECL_VERSION_H
#define MONITOR_ECL_ECL_VERSION_H

#include <ecl/ecl.h>

#include "config.h"

#ifndef HAVE_STRUCT_ECL_MONITOR
/* As the patch declares it. */
struct ecl_monitor {
    void (*allocated)(cl_type type, int storage, cl_index bytes, cl_object clas,
                      void *block);
    void (*freed)(void *block);
    void (*named)(cl_object name, cl_object function);
    void (*loaded)(cl_object block, int opened);
};
#endif

/* All threads: a vector. */
#ifdef HAVE_STRUCT_ECL_CORE_STRUCT
#define MPROF__ECL_PROCESSES ecl_core.processes
#else
#define MPROF__ECL_PROCESSES cl_core.processes
#endif

/* In an environment: the innermost record of the thread's invocation history,
 * and where the C stack began when Lisp was started; the stack of outer values
 * of special variables, and the thread's own values of them; the stacks of
 * arguments and of places to return to. */
#ifdef HAVE_STRUCT_CL_ENV_STRUCT_IHS_STACK
#define MPROF__ECL_HISTORY(env) ((env)->ihs_stack.top)
#define MPROF__ECL_STACK(env) ((env)->c_stack.org)
#define MPROF__ECL_OUTER(env) ((env)->bds_stack.org)
#define MPROF__ECL_OUTER_TOP(env) ((env)->bds_stack.top)
#define MPROF__ECL_BINDINGS(env) ((env)->bds_stack.tl_bindings)
#define MPROF__ECL_BINDINGS_SIZE(env) ((env)->bds_stack.tl_bindings_size)
#define MPROF__ECL_ARGUMENTS(env) ((env)->run_stack.org)
#define MPROF__ECL_ARGUMENTS_TOP(env) ((env)->run_stack.top)
#define MPROF__ECL_FRAMES(env) ((env)->frs_stack.org)
#define MPROF__ECL_FRAMES_TOP(env) ((env)->frs_stack.top)
#else
#define MPROF__ECL_HISTORY(env) ((env)->ihs_top)
#define MPROF__ECL_STACK(env) ((env)->cs_org)
#define MPROF__ECL_OUTER(env) ((env)->bds_org)
#define MPROF__ECL_OUTER_TOP(env) ((env)->bds_top)
#define MPROF__ECL_BINDINGS(env) ((env)->thread_local_bindings)
#define MPROF__ECL_BINDINGS_SIZE(env) ((env)->thread_local_bindings_size)
#define MPROF__ECL_ARGUMENTS(env) ((env)->stack)
#define MPROF__ECL_ARGUMENTS_TOP(env) ((env)->stack_top)
#define MPROF__ECL_FRAMES(env) ((env)->frs_org)
#define MPROF__ECL_FRAMES_TOP(env) ((env)->frs_top)
#endif

/* ENTRIES: has a function of a fixed number of arguments an entry beside its
 * body?  See entries.h.
 *
 * Up to 24.5.10 one table leads from symbols to their SETF functions, and a
 * macro is in the place of a function; later each symbol has both.
 *
 * SETF_TABLE: from a symbol to what SETF_PAIR is; OBJNULL: there is none.
 * SETF_PAIR: (function . symbol) for (SETF SYMBOL), or else no cons.
 * MACRO: the symbol's macro function, where it has one beside its function. */
#ifdef HAVE_STRUCT_ECL_SYMBOL_SFDEF
#define MPROF__ECL_ENTRIES true
#define MPROF__ECL_SETF_TABLE OBJNULL
#define MPROF__ECL_SETF_PAIR(of) ((of)->symbol.sfdef)
#define MPROF__ECL_MACRO(of) ((of)->symbol.macfun)
#else
#define MPROF__ECL_ENTRIES false
#define MPROF__ECL_SETF_TABLE cl_core.setf_definitions
#define MPROF__ECL_SETF_PAIR(of) ECL_NIL
#define MPROF__ECL_MACRO(of) ECL_NIL
#endif

#endif
