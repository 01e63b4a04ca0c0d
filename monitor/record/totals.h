/* totals.h - what the chains in a spill have allocated, by function and arc.
 *
 * The tables need no more of a chain than its functions and arcs.  So a spill
 * that is full is summed up, by one walk over it: what was allocated in the
 * subtree of a frame is added to its function and its arc if these are not
 * further out on the path as well (report/graph/graph.c does the same).  What
 * is plumbing has to be known here, since arcs cannot be taken apart
 * afterwards: there are two sums, of the frames that are shown and of all
 * frames, and where they are one number, as mostly, that is told once.
 */
#ifndef MONITOR_RECORD_TOTALS_H
#define MONITOR_RECORD_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/base/table.h"
#include "monitor/format/format.h"
#include "monitor/record/blocks.h"

struct mprof__thread;
struct mprof__function_totals;
struct mprof__arc_totals;

/* Of a thread, and only it touches it. */
struct mprof__totals {
    struct mprof__blocks blocks; /* TOTALS; all of them, mapped: */
    struct mprof_block **block;
    uint32_t block_count, block_room;
    struct mprof__table numbers; /* FUNCTION that stands for others -> number */
    struct mprof__table arcs;    /* numbers of caller and function -> number */
    struct mprof__table shorts;  /* counter -> its TOTAL */
    struct mprof__function_totals *functions; /* by number; mapped */
    struct mprof__arc_totals *arc;            /* the same */
    uint32_t function_count, arc_count, function_room, arc_room;
    /* Of the walk, mapped: links of nodes, and the path. */
    void *links, *path;
    size_t links_bytes, path_bytes;
};

/* Add what is in THREAD's spill to the counts of its totals that are not true
 * now; they are with the next number of its `emptied`.  False: no room. */
bool mprof__totals_add(struct mprof__thread *thread);

/* Give back the memory that is not in the data file. */
void mprof__totals_free(struct mprof__totals *totals);

#endif
