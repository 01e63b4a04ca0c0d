/* rows.h - rows of the tables that show paths: leaks, peak, temporary.
 *
 * All paths of the C heap that end in the same frames, as many as are shown,
 * are one row.
 */
#ifndef REPORT_TABLES_ROWS_H
#define REPORT_TABLES_ROWS_H

#include "report/graph/groups.h"
#include "report/tables/paths.h"

struct report__row {
    uint32_t path; /* one of them */
    struct mprof_count allocated, freed, kept, at_peak;
    uint64_t temporary;
    struct mprof_lost_count lost;
    struct mprof_count compared, equal; /* Lisp */
    unsigned __int128 lifetime;         /* of all that was allocated */
    uint64_t main, second;              /* by which it is sorted */
    uint64_t indirect;     /* objects lost that others lost point to */
    enum mprof__held held; /* of the runtime, in a table of what is kept */
};

/* Return the number of ROW at the offset AT, see REPORT__OF(). */
#define REPORT__OF(member) offsetof(struct report__row, member)
static inline uint64_t report__row_number(const struct report__row *row,
                                          size_t at) {
    return *(const uint64_t *)(const void *)((const char *)row + at);
}

/* The number that rows are sorted by; rows with 0 are left out. */
enum report__measure {
    MPROF_BY_KEPT,
    MPROF_BY_LOST,
    MPROF_BY_PEAK,
    MPROF_BY_TEMPORARY,
    MPROF_BY_ALIVE, /* Lisp */
    MPROF_BY_EQUAL, /* Lisp */
    MPROF_BY_SORT   /* chosen by the options */
};

struct report__rows {
    const struct report__functions *names;
    struct report__paths paths;
    uint32_t *frames; /* by path, those that are shown; 0: not counted yet */
    uint32_t depth;   /* frames shown at most; UINT32_MAX: all */
    struct report__row *list, total; /* of all rows, shown or not */
    uint32_t count;
    struct report__left left;
    uint64_t held[MPROF__HELD]; /* bytes of rows that the runtime holds */
    uint64_t lacking;           /* of rows with fewer callers than asked for */
    bool by_ends;               /* see struct report__context */
    uint32_t sampling;          /* as of the profile */
    size_t capacity;
    struct report__ends ends;
    uint32_t *row_of;   /* by path: its row plus 1 */
    uint32_t *room;     /* for the longest path */
    const char **parts; /* the same as text; NULL: some are left out */
    /* By function, where paths are shortened; or NULL. */
    const enum report__origin *origins;
    bool is_lisp;
    uint32_t path_width; /* as of the context */
};

/* Return the rows of context C, sorted. */
struct report__rows report__rows_make(const struct report__context *c,
                                      enum report__measure by);

/* The end of a line. */
void report__print_row_path(FILE *out, struct report__rows *rows,
                            const struct report__row *row);

/* Notes below a table of what is sorted by WHAT. */
void report__print_row_notes(FILE *out, const struct report__rows *rows,
                             const struct report__choice *choice,
                             const char *what);

#endif
