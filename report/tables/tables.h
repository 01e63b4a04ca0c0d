/* tables.h - what is printed, and how. */
#ifndef REPORT_TABLES_TABLES_H
#define REPORT_TABLES_TABLES_H

/* With what all tables need of the C library. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/search.h"
#include "report/base/fitted.h"
#include "report/base/utf8.h"
#include "report/elf/types.h"
#include "report/graph/graph.h"

/* In the order in which they are printed. */
enum report__table_id {
    MPROF_TABLE_BINS,
    MPROF_TABLE_LEAKS,
    MPROF_TABLE_LOST,
    MPROF_TABLE_PEAK,
    MPROF_TABLE_TEMPORARY,
    MPROF_TABLE_ALIVE, /* of Lisp, if that is known; then it is usual */
    MPROF_TABLE_KEPT_BY,
    MPROF_TABLE_EQUAL, /* Lisp */
    MPROF_TABLE_PATHS,
    MPROF_TABLE_TREE,
    MPROF_TABLE_BY_TYPE, /* Lisp */
    MPROF_TABLE_DIRECT,
    MPROF_TABLE_GRAPH,
    MPROF_TABLES
};
/* Printed unless others are named. */
#define MPROF_USUAL_TABLES                                                     \
    (1u << MPROF_TABLE_BINS | 1u << MPROF_TABLE_LEAKS |                        \
     1u << MPROF_TABLE_DIRECT | 1u << MPROF_TABLE_GRAPH)

enum report__verbosity { MPROF_TERSE, MPROF_NORMAL, MPROF_VERBOSE };

/* By which column; a table that has it not takes its usual one. */
enum report__sort {
    MPROF_SORT_USUAL,
    MPROF_SORT_BYTES,
    MPROF_SORT_ALLOCS,
    MPROF_SORT_SELF,
    MPROF_SORT_TOTAL,
    MPROF_SORT_KEPT,
    MPROF_SORT_PEAK
};

/* Which rows of a table are printed, and in which order. */
struct report__choice {
    enum report__verbosity verbosity;
    enum report__sort sort;
    uint32_t rows; /* most of them; 0: all */
    uint32_t arcs; /* the same of a function's callers, and of its calls */
};

/* The numbers of one heap in the header lines and the s-expression. */
struct report__totals {
    struct mprof_count allocated;        /* of the trees */
    struct mprof_count freed;            /* C: of that; Lisp: found dead */
    struct mprof_count objects, storage; /* Lisp */
    /* Of the allocations: those for whose chains the tree had no room, of these
     * those that are lost; and those with cut chains. */
    struct mprof_count folded, lost;
    uint64_t cut;
};
struct report__totals report__total(const struct report__profile *profile,
                                    enum mprof_heap heap);

/* By thread; a thread belongs to one heap. */
bool *report__threads_that_allocated(const struct report__profile *profile,
                                     struct report__pool *pool);

/* Lines about the whole profile. */
void report__print_header(FILE *out, const struct report__profile *profile,
                          enum report__verbosity verbosity,
                          struct report__pool *pool);

/* Print problems, in sentences.  Normally there are none. */
void report__print_notices(FILE *out, const struct report__profile *profile);

/* The first of these lines, when PROFILE was put together from several. */
void report__print_processes(FILE *out, const struct report__profile *profile,
                             struct report__pool *pool);

/* NS since 1970 as a date. */
struct report__text report__date(uint64_t ns);

/* The end of the first line: the runtime, when the recording began, and how
 * long it took, between BEFORE and BEHIND. */
void report__print_when(FILE *out, const struct report__profile *profile,
                        const char *before, const char *behind);

enum report__curve_format {
    MPROF_CURVE_CHOSEN, /* drawn on a terminal, else a table */
    MPROF_CURVE_TABLE,
    MPROF_CURVE_TSV,
    MPROF_CURVE_PLOT
};
struct report__curve_options {
    enum report__curve_format format;
    uint32_t width, height; /* of the drawing, in characters */
    /* Of printed points of the C heap, what lies nearer to the last one in both
     * is left out; 0: nothing. */
    uint64_t least_ns, least_bytes;
};

/* The C heap over time. */
void report__print_curve(FILE *out, const struct report__profile *profile,
                         const struct report__curve_options *options,
                         struct report__pool *pool);

/* The Lisp heap at its collections. */
void report__print_collections(FILE *out, const struct report__profile *profile,
                               const struct report__curve_options *options,
                               struct report__pool *pool);

/* The input of a table, and its options.  The command sets it once, and heap
 * and thread for each set of tables. */
struct report__context {
    FILE *out;
    uint32_t width;      /* columns of a line; 0: any */
    const char *file;    /* the data file, as the user named it */
    bool digits;         /* in the summary bytes have no units */
    bool is_narrow;      /* tables have only their most important columns */
    uint32_t path_width; /* a path has at most so many columns; 0: any */
    struct report__pool *pool;
    const struct report__profile *profile; /* all that was recorded */
    const struct report__profile *part;    /* what the tables show of it */
    const struct report__functions *names; /* NULL: not needed */
    const struct report__types *types;     /* of sizes of C, or NULL */
    const struct report__types *own_types; /* without libraries' types */
    struct report__graph *graph;           /* see report__graph_of() */
    enum mprof_heap heap;
    uint32_t thread; /* or MPROF_ALL_THREADS */
    struct report__choice choice;
    uint32_t depth; /* callers shown at most; 0: all */
    bool inverted;  /* the tree: from what allocates out to its callers */
    bool offsets;   /* of the call sites; different ones are different paths */
    bool lines;     /* lines of the source in place of offsets */
    bool in_sentences; /* inlined functions are not in brackets */
    bool direct_by;    /* the direct table has a row for each of these */
    bool all_frames;   /* show plumbing */
    /* Chains in the spill and in totals are counted where their innermost
     * functions are in the tree, which is told what became of it; so it always
     * is in the C heap. */
    bool by_ends;
};

enum report__table_needs {
    MPROF_NEEDS_NAMES = 1, /* of functions */
    MPROF_NEEDS_TYPES = 2, /* for C's table of sizes */
};

typedef void report__print_table(struct report__context *context);
struct report__table {
    const char *name;
    unsigned heaps; /* bits 1 << enum mprof_heap */
    unsigned needs; /* of enum report__table_needs */
    report__print_table *print;
};

/* By enum report__table_id; see registry.c. */
extern const struct report__table report__tables[MPROF_TABLES];

/* The call graph of CONTEXT, which makes it when it is first wanted. */
const struct report__graph *report__graph_of(struct report__context *context);

report__print_table report__print_bins, report__print_leaks, report__print_lost,
    report__print_peak, report__print_temporary, report__print_alive,
    report__print_kept_by, report__print_equal, report__print_paths,
    report__print_tree, report__print_by_type, report__print_direct,
    report__print_graph;

/* LABEL, a keeper's, with the name of a variable of C++ in it as it is in the
 * program.  In POOL, or LABEL itself. */
const char *report__keeper_label(struct report__pool *pool, const char *label);

/* Return true if mprof looked at all live objects of CONTEXT's heap; else print
 * TITLE, and why not. */
bool report__is_looked_at(const struct report__context *context,
                          const char *title);

/* The table kept-by of CONTEXT as a list: a row below another one of the level
 * before is within it. */
struct report__kept_row {
    uint32_t level;
    const char *text;
    struct mprof_count all;
    uint32_t function; /* that allocated much of it, or MPROF_NONE */
};
struct report__kept_row *
report__kept_rows(const struct report__context *context, uint32_t *count);

/* By keeper of PROFILE, the recorded bytes in HEAP that it keeps alive. */
uint64_t *report__kept_bytes(struct report__pool *pool,
                             const struct report__profile *profile,
                             enum mprof_heap heap);

/* For tables by call site or line: of which functions of the Lisp heap the call
 * sites are not told apart.  Normally nothing. */
void report__print_merged(const struct report__context *context);

/* Print the summary of CONTEXT's heap, in at most LINES lines of at most 132
 * columns; IS_FIRST: with the recording, and notices.  Return the number of
 * lines printed. */
uint32_t report__print_summary(const struct report__context *context,
                               bool is_first, uint32_t lines);

/* The whole profile as one s-expression. */
void report__print_sexp(struct report__context *context);

/* The sentences about each of HEAPS, a set of bits, as one s-expression. */
void report__print_sexp_findings(struct report__context *context,
                                 unsigned heaps);

/* The bins of THREAD where something was allocated, by class, type and name;
 * the bins of several threads are united.  Returns how many.  *UNTYPED: the
 * dead objects of unknown types. */
uint32_t report__bins_collect(struct report__pool *pool,
                              const struct report__profile *profile,
                              uint32_t thread, struct report__bin **bins,
                              struct mprof_count *untyped);

/* The C heap of THREAD by size: MPROF__SIZE_BINS bins, the last one for all
 * sizes above MPROF_LARGEST_BIN. */
#define MPROF__SIZE_BINS (MPROF_LARGEST_BIN + 2)
struct report__size_bin {
    struct mprof_count allocated, freed;
};
struct report__size_bin *
report__sizes_collect(struct report__pool *pool,
                      const struct report__profile *profile, uint32_t thread);

/* Parts of rows (text.c) */

/* Letters of the classes, as in the headings: "c--f--s--o", "s--m--l--x". */
extern const char report__class_letters[MPROF_HEAPS][MPROF_CLASSES];

/* A text that lasts for the expression that contains it. */
struct report__text {
    char text[40];
};

/* A percentage in two columns: blank for 0, a dot below 1, two stars for all,
 * else cut to whole percents. */
struct report__text report__percent(uint64_t part, uint64_t whole);

/* One such field a class, with blanks between. */
struct report__text report__breakdown(const struct report__counts *parts,
                                      uint64_t whole);

/* "(50)", "(100)", "(.)" or "(0)", to the right in five columns. */
struct report__text report__fraction(uint64_t part, uint64_t whole);

/* "50.2", "100.0" for all and only then; "0.0" for nothing and only then is
 * blank. */
struct report__text report__tenths(uint64_t part, uint64_t whole);

/* NUMBER with commas: 1,234,567; and without. */
struct report__text report__grouped(uint64_t number);
struct report__text report__plain(uint64_t number);

/* "s" unless there is one. */
static inline const char *report__plural(uint64_t n) {
    return n == 1 ? "" : "s";
}

/* Print TEXT with the numbers behind it: # is the next one with commas, @
 * without, and ~ the "s" of a plural, if the last one was not 1. */
#define SAY(out, text, ...)                                                    \
    report__say(out, text, (const uint64_t[]){__VA_ARGS__})
void report__say(FILE *out, const char *text, const uint64_t *numbers);

/* Whether PART is left out at VERBOSITY. */
bool report__below(uint64_t part, uint64_t whole,
                   enum report__verbosity verbosity);

/* Rows that are left out: as they are small, or there are too many; and what
 * these have in all. */
struct report__left {
    uint64_t small, more, sum;
};

/* A line below a table: rows, called WHAT each, are LEFT out, with so much of
 * UNIT. */
void report__print_left(FILE *out, const struct report__choice *choice,
                        const char *what, const struct report__left *left,
                        const char *unit);
/* The same; BELOW has the limit as %s, and SUM what they have, or is "". */
void report__print_left_out(FILE *out, const struct report__choice *choice,
                            const char *what, uint64_t small, uint64_t more,
                            const char *below, const char *sum);

/* The largest ones of rows that are in another order: those above LEAST, and so
 * many EQUAL ones. */
struct report__cut {
    uint64_t least;
    uint32_t equal;
    struct report__left left;
};
/* Of COUNT VALUES, which are sorted, the MOST largest; 0: all. */
void report__cut(struct report__cut *cut, uint64_t *values, uint32_t count,
                 uint32_t most);
/* Whether the row of VALUE is left out: then it is in cut->left. */
bool report__leave_out(struct report__cut *cut, uint64_t value, bool is_small);

/* The limit as text, such as "0.5%". */
const char *report__limit(enum report__verbosity verbosity);

/* Digits of NUMBER. */
int report__digits(uint64_t number);

/* Return the larger one of two widths; or of a width and NUMBER's. */
static inline int report__larger(int a, int b) {
    return a > b ? a : b;
}
static inline int report__width(int least, uint64_t number) {
    return report__larger(least, report__digits(number));
}

/* The same for a number with commas. */
int report__grouped_width(int least, uint64_t number);

/* *KEPT becomes what is left of *ALLOCATED after *FREED. */
void report__subtract(struct report__counts *kept,
                      const struct report__counts *allocated,
                      const struct report__counts *freed);

/* Of BYTES that are estimated from a byte in SAMPLING, in percent: it is never
 * more than this. */
double report__standard_error(uint64_t bytes, uint32_t sampling);

/* TITLE above a table, and an empty line; that it is estimated from a byte in
 * SAMPLING, if that is not 0. */
void report__print_title(FILE *out, const char *title, uint32_t sampling);

/* COUNT times C. */
void report__rule(FILE *out, char c, int count);
/* The line below a heading. */
void report__underline(FILE *out, int count);

#endif
