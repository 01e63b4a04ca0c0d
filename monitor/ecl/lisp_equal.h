/* lisp_equal.h - strings, and vectors of numbers, with equal contents.
 *
 * Two are equal if they have the same element type, length and elements.  Those
 * that share the elements of another one are left out.
 */
#ifndef MONITOR_ECL_LISP_EQUAL_H
#define MONITOR_ECL_LISP_EQUAL_H

#include "monitor/base/table.h"
#include "monitor/ecl/lisp_heap.h"
#include "monitor/ecl/lisp_names.h"

/* Objects with the same contents. */
struct mprof__lisp_contents {
    const struct mprof__lisp_object *first;
    uint64_t copies, bytes; /* the other ones, with their storage */
};

struct mprof__lisp_equals {
    struct mprof__lisp_contents *list; /* from 1 on */
    size_t count, room;
    struct mprof__table known; /* hash -> number in the list */
    uint64_t objects, bytes;   /* all that were compared, with their storage */
    bool failed;               /* there was no memory */
};

/* May it be such an object, by the type of its elements? */
bool mprof__lisp_is_comparable(const struct mprof__lisp_object *object);

void mprof__lisp_equals_begin(struct mprof__lisp_equals *equals);
void mprof__lisp_equals_end(struct mprof__lisp_equals *equals);

/* Compare OBJECT with those that were added before.  Return 0 if it is no such
 * object, 1 if it is the first one with its contents, 2 if it is equal to
 * another one.  Store in *STORAGE the object that has its elements, or NULL:
 * they are in OBJECT itself. */
int mprof__lisp_equals_add(struct mprof__lisp_equals *equals,
                           const struct mprof__lisp_heap *heap,
                           const struct mprof__lisp_object *object,
                           const struct mprof__lisp_object **storage);

/* Add what OBJECT, such an object, contains to TEXT: the beginning of a string,
 * or how many numbers. */
void mprof__lisp_contents_text(const struct mprof__lisp_object *object,
                               struct mprof__text *text);

#endif
