/* same_name.h - names without what differs from one run to the next. */
#ifndef REPORT_GRAPH_SAME_NAME_H
#define REPORT_GRAPH_SAME_NAME_H

#include "report/data/profile.h"

/* Return the Lisp name NAME without generated numbers: "(LAMBDA #2 :IN F)"
 * becomes "(LAMBDA :IN F)", and the symbols #:G123 and P::G123, which GENSYM
 * made, become #:G and P::G.  NAME itself where there are none; else in POOL.
 */
const char *report__same_name(struct report__pool *pool, const char *name);

/* The file name of the module PATH, without folders, nor the version of a
 * shared library: libx.so.1.2 is libx.so.  The files that COMPILE makes have a
 * new name each time: they are one.  In POOL. */
const char *report__same_file(struct report__pool *pool, const char *path);

#endif
