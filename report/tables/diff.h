/* diff.h - what grew and what shrank from one profile to another. */
#ifndef REPORT_TABLES_DIFF_H
#define REPORT_TABLES_DIFF_H

#include "report/graph/join.h"
#include "report/tables/paths.h"

enum report__diff_by {
    MPROF_DIFF_BY_FUNCTION,
    MPROF_DIFF_BY_CHAIN,
    MPROF_DIFF_BY_TYPE, /* in C by size */
    MPROF_DIFF_BY_LINE
};

/* The numbers of a row; `numbers` below says which of them a table has. */
enum report__diff_number {
    MPROF_DIFF_BYTES, /* for a function: with its callees */
    MPROF_DIFF_ALLOCS,
    MPROF_DIFF_SELF, /* bytes of a function itself */
    MPROF_DIFF_KEPT, /* bytes, C; a function's own, like the next one */
    MPROF_DIFF_PEAK,
    MPROF_DIFF_NUMBERS
};

struct report__diff_options {
    struct report__choice choice;
    enum report__diff_by by;
    enum mprof_heap heap;
    struct report__factor factor;
    uint32_t depth; /* of a chain the innermost functions; 0: all */
    bool all_frames;
};

struct report__change {
    uint64_t numbers[MPROF_SIDES];
};

struct report__diff_row {
    struct report__change numbers[MPROF_DIFF_NUMBERS];
    const char *name;        /* NULL: a chain */
    uint32_t function, path; /* those that there are */
    uint32_t depth;          /* of a function: least number of callers */
};

struct report__diff {
    const struct report__diff_options *options;
    unsigned numbers; /* bits 1 << enum report__diff_number */
    struct report__diff_row *rows, total;
    uint32_t count;
    size_t capacity;
    struct report__paths paths; /* of chains */
};

/* The difference of the sides of PART, which is JOINED's profile or a part of
 * it.  All that is the same is there, too. */
struct report__diff *
report__diff_make(struct report__pool *pool,
                  const struct report__joined *joined,
                  const struct report__profile *part,
                  const struct report__diff_options *options);

/* Whether it grew, and by how much it changed. */
bool report__grew(const struct report__change *change);
uint64_t report__change(const struct report__change *change);

/* "+80.0%", "new" or "gone"; "" when nothing changed. */
struct report__text report__growth(const struct report__change *change);

/* "+1,234", "-1,234" or "0", with commas if GROUPED. */
struct report__text report__signed(const struct report__change *change,
                                   bool grouped);

/* Return the row of DIFF whose NUMBER grew most, or if not GREW shrank most;
 * NULL: none did.  FUNCTION: only chains that end in it, or MPROF_NONE. */
const struct report__diff_row *
report__most_changed(const struct report__diff *diff,
                     enum report__diff_number number, bool grew,
                     uint32_t function);

/* A table of what changed. */
void report__print_diff(FILE *out, const struct report__diff *diff,
                        struct report__pool *pool);

/* Print the whole change, and its causes, in sentences that begin with HEAP, a
 * name or ""; FUNCTIONS and CHAINS are by these. */
void report__print_diff_words(FILE *out, const char *heap,
                              const struct report__diff *functions,
                              const struct report__diff *chains,
                              struct report__pool *pool);

/* Print the few roots whose kept bytes in HEAP changed most, if both SIDES know
 * that. */
void report__print_root_change(FILE *out, struct report__pool *pool,
                               const struct report__profile *const *sides,
                               enum mprof_heap heap);

/* The chain of ROW, from the outermost function that is shown on. */
void report__print_diff_chain(FILE *out, const struct report__diff *diff,
                              const struct report__diff_row *row,
                              struct report__pool *pool);

#endif
