/* tables.h - what is printed, and how. */
#ifndef MPROF_TABLES_H
#define MPROF_TABLES_H

#include <stdio.h>

#include "report/graph/graph.h"
#include "report/elf/types.h"

#define MPROF__VERSION "1.0"

enum mprof__table {
    MPROF_BINS = 1,
    MPROF_LEAKS = 2,
    MPROF_DIRECT = 4,
    MPROF_GRAPH = 8
};
enum mprof__verbosity { MPROF_TERSE, MPROF_NORMAL, MPROF_VERBOSE };

/* What the header lines and the s-expression tell of one heap. */
struct mprof__totals {
    uint64_t allocs, bytes;              /* of the trees */
    uint64_t frees, freed;               /* C: of that */
    struct mprof_count objects, storage; /* Lisp */
    uint64_t folded, cut;                /* allocations */
};
struct mprof__totals mprof__total(const struct mprof__profile *profile,
                                  enum mprof_heap heap);

/* By thread; a thread belongs to one heap. */
bool *mprof__threads_that_allocated(const struct mprof__profile *profile,
                                    struct mprof__pool *pool);

/* Lines about the whole profile. */
void mprof__print_header(FILE *out, const struct mprof__profile *profile,
                         enum mprof__verbosity verbosity,
                         struct mprof__pool *pool);

/* One table each; THREAD as for mprof__graph_build().  Bins are those of the
 * Lisp heap, sizes and leaks of the C heap; TYPES may be NULL. */
void mprof__print_bins(FILE *out, const struct mprof__profile *profile,
                       uint32_t thread, enum mprof__verbosity verbosity,
                       struct mprof__pool *pool);
void mprof__print_sizes(FILE *out, const struct mprof__profile *profile,
                        uint32_t thread, const struct mprof__types *types,
                        enum mprof__verbosity verbosity,
                        struct mprof__pool *pool);

struct mprof__leak_options {
    enum mprof__verbosity verbosity;
    uint32_t depth;  /* callers shown at most; 0: all */
    bool offsets;    /* of the call sites; different ones are different paths */
    bool inlines;    /* show inlined callers */
    bool all_frames; /* show plumbing */
};
void mprof__print_leaks(FILE *out, const struct mprof__profile *profile,
                        const struct mprof__functions *names, uint32_t thread,
                        const struct mprof__leak_options *options,
                        struct mprof__pool *pool);

void mprof__print_direct(FILE *out, const struct mprof__graph *graph,
                         enum mprof__verbosity verbosity,
                         struct mprof__pool *pool);
void mprof__print_graph(FILE *out, const struct mprof__graph *graph,
                        enum mprof__verbosity verbosity,
                        struct mprof__pool *pool);

/* The whole profile as one s-expression. */
void mprof__print_sexp(FILE *out, const struct mprof__profile *profile,
                       const struct mprof__functions *names, bool all_frames,
                       struct mprof__pool *pool);

/* The bins of THREAD where something was allocated, by class, type and name;
 * those of several threads are put together.  Returns how many. */
uint32_t mprof__bins_collect(struct mprof__pool *pool,
                             const struct mprof__profile *profile,
                             uint32_t thread, struct mprof__bin **bins);

/* The C heap of THREAD by size: MPROF__SIZE_BINS bins, the last one for all
 * sizes above MPROF_LARGEST_BIN. */
#define MPROF__SIZE_BINS (MPROF_LARGEST_BIN + 2)
struct mprof__size_bin {
    struct mprof_count allocated, freed;
};
struct mprof__size_bin *
mprof__sizes_collect(struct mprof__pool *pool,
                     const struct mprof__profile *profile, uint32_t thread);

/* Parts of rows (text.c) */

/* Letters of the classes, as in the headings: "c--f--s--o", "s--m--l--x". */
extern const char mprof__class_letters[MPROF_HEAPS][MPROF_CLASSES];

/* A percentage in two columns: blank for 0, a dot below 1, two stars for all,
 * else cut to whole percents. */
struct mprof__percent {
    char text[3];
};
struct mprof__percent mprof__percent(uint64_t part, uint64_t whole);

/* One such field a class, with blanks between. */
struct mprof__breakdown {
    char text[3 * MPROF_CLASSES];
};
struct mprof__breakdown mprof__breakdown(const struct mprof__counts *parts,
                                         uint64_t whole);

/* "(50)", "(100)", "(.)" or "(0)", to the right in five columns. */
struct mprof__fraction {
    char text[8];
};
struct mprof__fraction mprof__fraction(uint64_t part, uint64_t whole);

/* "50.2", "100.0" for all and only then; "0.0" for nothing and only then is
 * blank. */
struct mprof__fraction mprof__tenths(uint64_t part, uint64_t whole);

/* Whether PART is left out at VERBOSITY. */
bool mprof__below(uint64_t part, uint64_t whole,
                  enum mprof__verbosity verbosity);

/* The limit as text, such as "0.5%". */
const char *mprof__limit(enum mprof__verbosity verbosity);

/* Digits of NUMBER. */
int mprof__digits(uint64_t number);

/* NUMBER with commas: 1,234,567. */
struct mprof__grouped {
    char text[28];
};
struct mprof__grouped mprof__grouped(uint64_t number);

/* *KEPT becomes what is left of *ALLOCATED after *FREED. */
void mprof__subtract(struct mprof__counts *kept,
                     const struct mprof__counts *allocated,
                     const struct mprof__counts *freed);

/* COUNT times C. */
void mprof__rule(FILE *out, char c, int count);

/* NAME, which may hold any character, on one line. */
void mprof__print_name(FILE *out, const char *name);

#endif
