/* shown.h - what the tables make of a function, for who sums up chains. */
#ifndef MONITOR_NAMES_SHOWN_H
#define MONITOR_NAMES_SHOWN_H

#include <stdbool.h>

#include "monitor/base/table.h"
#include "monitor/format/format.h"

struct mprof__names;

struct mprof__shown {
    /* A FUNCTION that represents all that are one function in the tables, or
     * MPROF_TOP.  Threads may choose different ones. */
    mprof_ref function;
    bool hidden;   /* plumbing, in the heap of the thread */
    bool fragment; /* a part or copy that the C compiler made of a function */
};

/* All that a thread has found out.  Only it touches this. */
struct mprof__shows {
    struct mprof__names *names;
    bool is_lisp;  /* in Lisp's heap more is plumbing */
    uint32_t time; /* raised when functions may have been seen that are the
                      wholes of parts */
    struct mprof__table functions; /* FUNCTION -> what the tables make of it */
    struct mprof__table texts; /* text of a name -> the first FUNCTION of it */
};

/* Return how the tables show FUNCTION, and remember it in SHOWS.  The answer
 * for a part whose whole was not seen before holds until `time` is raised.
 * Reads the ELF files of C functions, if they exist and have symbols. */
struct mprof__shown mprof__shown(struct mprof__shows *shows,
                                 mprof_ref function);

void mprof__shows_free(struct mprof__shows *shows);

#endif
