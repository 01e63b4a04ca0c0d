/* chains.h - all chains as one tree, each with the sums of its samples. */
#ifndef REPORT_EXPORT_CHAINS_H
#define REPORT_EXPORT_CHAINS_H

#include "report/base/dictionary.h"
#include "report/export/export.h"

/* Sums over the samples of one chain. */
struct report__sum {
    uint32_t chain;
    uint64_t numbers[MPROF_NUMBERS];
    unsigned __int128 lifetime;
};

/* In the pool of the export. */
struct report__chains {
    /* In the tree, callers first: the caller plus 1, or 0, and the frame. */
    struct report__pairs list;
    /* Function and place; where no places are wanted that is 0. */
    struct report__pairs frames;
    struct report__sum *sums;  /* of chains that have samples */
    uint32_t sum_count, depth; /* depth, of the deepest one */
    /* While they are made. */
    struct report__pool *pool;
    bool by_place;
    uint32_t *sum_of; /* by chain, plus 1 */
    size_t sum_capacity, sum_of_capacity;
};

/* Return a tree without chains: report__chain_of() makes the chains of samples.
 * BY_PLACE: calls at different places of a function are different. */
struct report__chains *report__no_chains(const struct report__export *e,
                                         bool by_place);

/* Return the chains of all samples of E. */
struct report__chains *report__make_chains(const struct report__export *e,
                                           bool by_place);

/* The chain of SAMPLE. */
uint32_t report__chain_of(struct report__chains *chains,
                          const struct report__sample *sample);

/* The frames of CHAIN, innermost first, into ROOM for chains->depth of them;
 * how many. */
uint32_t report__chain_frames(const struct report__chains *chains,
                              uint32_t chain, uint32_t *room);

#endif
