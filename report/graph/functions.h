/* functions.h - the functions of the tables.
 *
 * A FUNCTION record of the data file is code; a function of the tables is what
 * a reader of the tables takes for one: all definitions of one Lisp name, a C
 * function together with its cold part, all frames of the top level.
 */
#ifndef REPORT_GRAPH_FUNCTIONS_H
#define REPORT_GRAPH_FUNCTIONS_H

#include "monitor/format/plumbing.h"
#include "report/base/pool.h"
#include "report/data/profile.h"

/* Index of the function in place of a visible caller, if there is none. */
#define MPROF_TOP_LEVEL 0u

struct report__inlining;
struct report__place;

struct report__shown {
    const char *name;
    enum mprof_function_kind kind;
    /* Belongs to the runtime rather than to the program; see
     * monitor/format/plumbing.c. */
    bool plumbing;
    /* Loads libraries: in the Lisp heap that is plumbing too. */
    bool loading;
    /* The runtime keeps its blocks until the program ends, which is no leak:
     * see mprof__held_by_runtime(). */
    enum mprof__held held;
    /* C++: `name` is demangled; `full` is the whole of that where it was made
     * shorter, or NULL. */
    bool is_cxx;
    const char *full;
    /* The compiler inlined it; its name ends with MPROF_INLINED, and `module`
     * is where it was inlined. */
    bool is_inlined;
    uint32_t module;
};

#define MPROF_INLINED " [inlined]"

struct report__functions {
    struct report__shown *list;
    uint32_t count;
    bool are_short; /* names of C++ */
    /* By index of the FUNCTION record. */
    uint32_t *shown;
    /* The record is a part or a copy that the C compiler made of a function:
     * below that function itself it is no call. */
    bool *fragment;
    const char *program; /* as given to report__name_functions() */
    /* By module: the first one that is the same file. */
    uint32_t *module_id;
    /* NULL: inlined functions are one with the functions around them. */
    const struct report__inlining *inlining;
    /* By index of the FUNCTION record, the places of Lisp functions in the
     * source; NULL: they were not looked up.  See call_sites.h. */
    const struct report__place *sources;
};

/* Is F printed in HEAP?  With ALL_FRAMES any is; else it is the program's. */
static inline bool report__is_shown(const struct report__shown *f,
                                    enum mprof_heap heap, bool all_frames) {
    return all_frames ||
           !(f->plumbing || (f->loading && heap == MPROF_LISP_HEAP));
}

/* The function of the tables of FUNCTION, a record, MPROF_NONE or
 * MPROF_TOP_FUNCTION. */
static inline uint32_t report__shown_of(const struct report__functions *names,
                                        uint32_t function) {
    return function < MPROF_TOP_FUNCTION ? names->shown[function]
                                         : MPROF_TOP_LEVEL;
}

/* Name all functions of PROFILE, reading ELF files where that is needed.
 * PROGRAM is the path to use in place of the one that was recorded for the
 * program itself, or NULL. */
struct report__functions *
report__name_functions(struct report__pool *pool,
                       const struct report__profile *profile,
                       const char *program);

/* Make the names of C++ functions in NAMES short, with parameters only where
 * functions differ by them alone; then again for functions that are new. */
void report__shorten_names(struct report__pool *pool,
                           struct report__functions *names);

/* PROGRAM if MODULE is the program itself, else NULL: what
 * report__symbols_open() wants to know. */
const char *report__program_path(const struct report__profile *profile,
                                 uint32_t module, const char *program);

#endif
