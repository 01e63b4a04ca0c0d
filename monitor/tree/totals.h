/* totals.h - sums over the chains of a spill, by function and arc.
 *
 * The tables need only the functions and arcs of a chain.  So a full spill is
 * summed up, by one walk over it: the sum of a frame's subtree is added to its
 * function and its arc, unless these are further out on the path as well
 * (sum_up.c; report/graph/graph.c does it for the tree).  Plumbing must be
 * known here, because arcs cannot be split afterwards.  So there are two sums,
 * one of the shown frames and one of all frames; where they are equal, as
 * mostly, they are stored once.
 */
#ifndef MONITOR_TREE_TOTALS_H
#define MONITOR_TREE_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/table.h"
#include "monitor/format/format.h"
#include "monitor/file/blocks.h"

struct mprof__trees;

/* Where a sum counts: in tables of the shown frames, in tables of all frames,
 * or in both, if it is equal. */
enum mprof__views { MPROF__SHOWN, MPROF__ALL, MPROF__BOTH, MPROF__WAYS };

#define MPROF__NOTHING UINT32_MAX /* in place of the number of something */

/* Where the TOTALs of something are, by views and class; 0: there is none yet.
 */
typedef mprof_ref mprof__total_refs[MPROF__WAYS][MPROF_CLASSES];

struct mprof__function_totals {
    mprof_ref function;
    uint32_t on_path[MPROF_VIEWS]; /* how often it is on the walk's path */
    mprof__total_refs twice, below, calls;
};

struct mprof__arc_totals {
    mprof_ref caller, function;
    uint32_t on_path[MPROF_VIEWS];
    mprof__total_refs through;
};

/* The totals of a thread.  Only that thread touches them. */
struct mprof__totals {
    struct mprof__blocks blocks; /* TOTALS; all of them, mapped: */
    struct mprof_block **block;
    uint32_t block_count, block_room;
    struct mprof__table numbers; /* FUNCTION that represents others -> number */
    struct mprof__table arcs;    /* numbers of caller and function -> number */
    struct mprof__table shorts;  /* counter -> its TOTAL */
    struct mprof__table selfs;   /* number, views and key -> TOTAL of that */
    struct mprof__function_totals *functions; /* by number; mapped */
    struct mprof__arc_totals *arc;            /* by number; mapped */
    uint32_t function_count, arc_count, function_room, arc_room;
    /* For the walk, mapped: links of nodes, and the path. */
    void *links, *path;
    size_t links_bytes, path_bytes;
};

/* Adding to the totals of a thread. */
struct mprof__adding {
    struct mprof__trees *trees;
    struct mprof__totals *totals;
    unsigned valid; /* the count of a TOTAL that will be true, and is changed */
    bool failed;    /* there was no room or memory */
};

/* Add what is in THREAD's spill to the counts of its totals that are not true
 * now; they are with the next number of its `emptied`.  False: no room. */
bool mprof__sum_up(struct mprof__trees *trees);

/* Begin it. */
void mprof__totals_begin(struct mprof__adding *a, struct mprof__trees *trees);

/* Return the number of the FUNCTION that represents others, and the number of
 * the arc from CALLER, or MPROF__NOTHING, to FUNCTION; MPROF__NOTHING when
 * there is no memory. */
uint32_t mprof__totals_function(struct mprof__adding *a, mprof_ref function);
uint32_t mprof__totals_arc(struct mprof__adding *a, uint32_t caller,
                           uint32_t function);

/* Add the allocations at a node itself with KEY, to the function NUMBER that it
 * is in. */
void mprof__totals_self(struct mprof__adding *a, uint32_t number,
                        enum mprof__views way, uint32_t key,
                        const struct mprof_count *count);
/* The SUM, by class, of the subtree of a frame of function NUMBER, or called by
 * arc NUMBER, where that is not further out; DEPTH functions are, by view. */
void mprof__totals_below(struct mprof__adding *a, uint32_t number,
                         enum mprof__views way, const struct mprof_count *sum,
                         const uint32_t *depth);
void mprof__totals_through(struct mprof__adding *a, uint32_t number,
                           enum mprof__views way,
                           const struct mprof_count *sum);
/* The CALLS of a function: allocations through these, and in place of bytes
 * those with the function further out. */
void mprof__totals_calls(struct mprof__adding *a, uint32_t number,
                         enum mprof__views way,
                         const struct mprof_count *calls);
/* Add the count of FROM, for the counter of its short chain. */
void mprof__totals_short(struct mprof__adding *a,
                         const struct mprof_spill_counter *from);

/* Give back BYTES of mapped *MEMORY, which becomes NULL; the memory of the
 * walk; and all that is not in the data file. */
void mprof__totals_give(void **memory, size_t bytes);
void mprof__totals_forget(struct mprof__totals *totals);
void mprof__totals_free(struct mprof__totals *totals);

#endif
