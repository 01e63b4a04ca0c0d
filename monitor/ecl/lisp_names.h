/* lisp_names.h - names of Lisp objects, printed without Lisp.
 *
 * These read the objects' memory and neither cons nor call Lisp, so they work
 * inside of the hook.  Names come out as PRIN1 would print them with CL-USER
 * as the current package, except symbols of COMMON-LISP, which get "CL:".
 */
#ifndef MONITOR_ECL_LISP_NAMES_H
#define MONITOR_ECL_LISP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include <ecl/ecl.h>

/* Text that is filled from the left and cut where it is full. */
struct mprof__text {
    char *at, *end; /* end: the last byte, for the NUL */
};

void mprof__text_begin(struct mprof__text *text, char *buffer, size_t size);
void mprof__text_add(struct mprof__text *text, const char *string);
void mprof__text_char(struct mprof__text *text, unsigned character);

/* A symbol, or a list such as (SETF FOO) or (METHOD AREA (CIRCLE)), numbers,
 * characters and strings in it; anything else prints as #<...>. */
void mprof__text_object(struct mprof__text *text, cl_object object);

/* The characters of a string object, or of a symbol's name. */
void mprof__text_string(struct mprof__text *text, cl_object string);

static inline bool mprof__is_a(cl_object object, cl_type type) {
    return object != OBJNULL && ecl_t_of(object) == type;
}

/* The characters of a string object, of a base string or not; 0 of none. */
size_t mprof__string_length(cl_object string);
unsigned mprof__string_char(cl_object string, size_t i);

/* Is STRING a string, OBJECT a symbol, with the characters of NAME? */
bool mprof__string_is(cl_object string, const char *name);
bool mprof__symbol_is(cl_object object, const char *name);

/* (METHOD AREA :AROUND (CIRCLE)) for a method object; false: not one. */
bool mprof__text_method(struct mprof__text *text, cl_object method);

/* The adapter's answer: Lisp's name of ECL's TYPE; with an OBJECT that is a
 * class, what its instances are, and the class's name in BUFFER. */
const char *mprof__type_name(unsigned type, uintptr_t object, char *buffer,
                             size_t size);

#endif
