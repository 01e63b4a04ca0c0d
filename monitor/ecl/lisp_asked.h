/* lisp_asked.h - the Lisp heap in numbers and names, for lisp/heap.lisp. */
#ifndef MONITOR_ECL_LISP_ASKED_H
#define MONITOR_ECL_LISP_ASKED_H

#include <ecl/ecl.h>

/* Each collects garbage and answers with text: "0" and lines, or "1" and an
 * error; NULL: there is no memory.  To be freed by mprof_lisp_answer_free().
 * Lines have numbers, then a name.  In a thread of Lisp, with its interrupts
 * disabled; others are stopped meanwhile.  Lisp calls these by their names. */
#define MPROF__FOR_LISP __attribute__((visibility("default")))

/* All types: bytes, with their storage, objects, name. */
MPROF__FOR_LISP char *mprof_lisp_census(void);

/* All keepers: number of the step, of the step further out or 0, its enum
 * mprof_keeper_kind, bytes and objects that it keeps with all further in,
 * name. */
MPROF__FOR_LISP char *mprof_lisp_keepers(void);

/* Strings and vectors of numbers with equal contents: first their bytes and
 * objects, then bytes and objects that are equal to another one.  Further
 * lines have bytes and objects that are equal to the same one, and its
 * contents.  Such of few bytes are left out. */
MPROF__FOR_LISP char *mprof_lisp_equal(void);

/* The path to OBJECT: bytes and objects that it keeps itself, and 1 if one root
 * keeps it alone, 2 if only words on stacks lead to it; then, from a root on,
 * lines with how often a name comes one after the other, and the name; then 0
 * and the names of other roots.  No lines: it is not in the heap. */
MPROF__FOR_LISP char *mprof_lisp_way(cl_object object);

MPROF__FOR_LISP void mprof_lisp_answer_free(char *text);

#endif
