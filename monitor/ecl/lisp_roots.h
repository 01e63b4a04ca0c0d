/* lisp_roots.h - where the collector begins to mark, by the names that Lisp has
 * for it.
 */
#ifndef MONITOR_ECL_LISP_ROOTS_H
#define MONITOR_ECL_LISP_ROOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ecl/ecl.h>

enum mprof__root {
    /* Certain: */
    MPROF__VALUE,       /* the global value of the symbol `what` */
    MPROF__OWN_VALUE,   /* a thread's value; at first `what` is a number */
    MPROF__OUTER_VALUE, /* it comes back when a binding ends */
    MPROF__FUNCTION,    /* the function of the symbol */
    MPROF__PLIST,       /* its property list */
    MPROF__NAME,        /* names of ECL's symbols */
    MPROF__THREAD,      /* ECL's data of the process `what` */
    MPROF__FOREVER,     /* memory that is never collected */
    MPROF__DATA, /* data of C; `what`: the name of its file, a C string */
    /* Not certain: */
    MPROF__STACK,     /* the stack of the process `what` */
    MPROF__OWN_STACK, /* of this thread, which asks */
    MPROF__NAMES,     /* objects that the monitor keeps for names */
    MPROF__ROOT_KINDS,
    MPROF__FIRST_UNCERTAIN = MPROF__STACK
};

/* Words, of which each may be the address of an object. */
struct mprof__lisp_root {
    enum mprof__root kind;
    uintptr_t what;
    const uintptr_t *start, *end;
    uintptr_t thread; /* the process of OWN_VALUE; 0: this thread */
};

/* In memory that is mapped; of one thread. */
struct mprof__lisp_roots {
    struct mprof__lisp_root *list;
    size_t count, room; /* of entries */
    size_t certain;     /* of them, which come first once sorted */
    bool failed;        /* there was no memory */
};

void mprof__lisp_roots_add(struct mprof__lisp_roots *roots,
                           struct mprof__lisp_root root);

/* Begin with the data of C.  This may take the loader's lock: other threads run
 * still. */
void mprof__lisp_roots_begin(struct mprof__lisp_roots *roots);

/* Add the stacks and values of all threads.  The others are stopped; this one
 * calls from FRAME outwards. */
void mprof__lisp_roots_of_threads(struct mprof__lisp_roots *roots,
                                  uintptr_t frame);

/* Put the roots into the order of their kinds. */
void mprof__lisp_roots_sort(struct mprof__lisp_roots *roots);
void mprof__lisp_roots_end(struct mprof__lisp_roots *roots);

#endif
