/* findings.h - what a recording shows, in sentences and a few rows: computed
 * once, for the text, the page and Lisp. */
#ifndef REPORT_TABLES_FINDINGS_H
#define REPORT_TABLES_FINDINGS_H

#include "report/tables/paths.h"

/* A piece of a sentence: words, or the name of a function. */
struct report__piece {
    const char *text;
    uint32_t function; /* of names->list, or MPROF_NONE: words */
};

struct report__sentence {
    struct report__piece *pieces;
    uint32_t count;
    size_t capacity;
};

/* A function with a line of the source, or a chain of callers, innermost
 * function first; and what it has. */
struct report__finding {
    const char **names; /* one function's, or those in the chain */
    uint32_t name_count;
    struct mprof_count count;
};

enum report__finding_table {
    MPROF_FOUND_KEPT,      /* C: chains that were not freed; Lisp: live */
    MPROF_FOUND_ALLOCATED, /* C: own functions; Lisp: any, by themselves */
    MPROF_FOUND_CAUSED,    /* functions with what they called */
    MPROF_FOUND_PEAK,      /* C: own functions */
    MPROF_FOUND_TYPES,     /* Lisp */
    MPROF_FOUND_TABLES
};

struct report__findings {
    struct report__sentence *sentences; /* the most important one first */
    uint32_t sentence_count;
    size_t sentence_capacity;
    /* The largest MPROF_MOST_FOUND of each table, by bytes. */
    struct report__found_table {
        struct report__finding *rows;
        uint32_t count;
        uint64_t bytes; /* of all, which shares are of */
    } tables[MPROF_FOUND_TABLES];
    /* C: blocks that the C or C++ library keeps until the program ends, which
     * are in no row. */
    struct mprof_count held;
};
enum { MPROF_MOST_FOUND = 10 };

/* Return the findings about the heap of CONTEXT, for all threads.  Reads debug
 * information, for lines.  In the context's pool. */
struct report__findings *report__find(const struct report__context *context);

/* SENTENCE as a text.  In POOL. */
const char *report__sentence_text(struct report__pool *pool,
                                  const struct report__sentence *sentence);

/* "1.07 MB", "586 bytes": three digits, in units of 1000. */
struct report__text report__amount(uint64_t bytes);

/* "85%", "less than 1%". */
struct report__text report__share(uint64_t part, uint64_t whole);

#endif
