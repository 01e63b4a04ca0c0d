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

/* Has a function of a fixed number of arguments an entry beside its body?  See
 * entries.h. */
#ifdef HAVE_STRUCT_ECL_SYMBOL_SFDEF
#define MPROF__ECL_ENTRIES true
#else
#define MPROF__ECL_ENTRIES false
#endif

/* The innermost record of the thread's invocation history. */
static inline struct ecl_ihs_frame *mprof__ecl_history(cl_env_ptr env) {
#ifdef HAVE_STRUCT_CL_ENV_STRUCT_IHS_STACK
    return env->ihs_stack.top;
#else
    return env->ihs_top;
#endif
}

/* Where the C stack began when Lisp was started. */
static inline char *mprof__ecl_stack(cl_env_ptr env) {
#ifdef HAVE_STRUCT_CL_ENV_STRUCT_IHS_STACK
    return env->c_stack.org;
#else
    return env->cs_org;
#endif
}

/* Up to 24.5.10 one table leads from symbols to their SETF functions, and a
 * macro is in the place of a function; later each symbol has both.
 *
 * The table that leads from a symbol to what mprof__ecl_setf_pair() returns,
 * or OBJNULL: there is none. */
static inline cl_object mprof__ecl_setf_table(void) {
#ifdef HAVE_STRUCT_ECL_SYMBOL_SFDEF
    return OBJNULL;
#else
    return cl_core.setf_definitions;
#endif
}

/* (function . symbol) for (SETF SYMBOL), or else no cons. */
static inline cl_object mprof__ecl_setf_pair(cl_object symbol) {
#ifdef HAVE_STRUCT_ECL_SYMBOL_SFDEF
    return symbol->symbol.sfdef;
#else
    (void)symbol;
    return ECL_NIL;
#endif
}

/* The symbol's macro function, where it has one beside its function. */
static inline cl_object mprof__ecl_macro(cl_object symbol) {
#ifdef HAVE_STRUCT_ECL_SYMBOL_SFDEF
    return symbol->symbol.macfun;
#else
    (void)symbol;
    return ECL_NIL;
#endif
}

#endif
