/* trees.h - what the files share that read blocks: trees.c, counted.c and
 * spills.c. */
#ifndef REPORT_DATA_TREES_H
#define REPORT_DATA_TREES_H

#include "report/data/reader.h"

/* The call of a node. */
struct report__known_call {
    mprof_ref call; /* 0: none yet */
    uint32_t function, site;
};

enum { MPROF_KNOWN_CALLS = 2048 };

struct report__trees {
    struct report__known_call known[MPROF_KNOWN_CALLS]; /* by ref, a cache */
    bool *calls_more;  /* by node: it has EDGES; NULL: the file has none */
    uint32_t *counter; /* by thing: 1 + index of what was made of it, or 0, or
                        * a number that counted.c knows */
    bool *is_seen;     /* by thing in SPILL_COUNTERS: it has its node */
};

/* The meaning of a counter's or total's key. */
struct report__what {
    enum mprof_heap heap;
    uint32_t class_, bin;
    bool is_storage;
};

/* Has node INDEX several call sites, as in old files? */
static inline bool report__calls_more(const struct report__reader *reader,
                                      uint32_t index) {
    const bool *more = reader->trees->calls_more;
    return more != NULL && more[index];
}

/* Find the meaning of KEY, in the FIELD of the thing at byte AT, of THREAD.
 * *KNOWN is false where its bin is missing, in an open file.  False when the
 * file is damaged, as with all that follow. */
bool report__read_key(struct report__reader *reader, uint64_t at,
                      unsigned field, uint32_t key, uint32_t thread,
                      struct report__what *what, bool *known);

/* A counter of WHAT at NODE. */
struct report__counter report__counter_of(uint32_t node,
                                          const struct report__what *what,
                                          struct mprof_count allocated);

/* All counters of node INDEX of THREAD, which is at byte AT, oldest first; of a
 * tree, or of a spill. */
bool report__read_counters(struct report__reader *reader, uint64_t at,
                           uint32_t index, uint32_t thread);
bool report__read_spill_counters(struct report__reader *reader, uint64_t at,
                                 uint32_t index, uint32_t thread);

/* The counter of a short chain at REF, in the FIELD of what is at byte AT, has
 * COUNT elsewhere. */
bool report__add_elsewhere(struct report__reader *reader, uint64_t at,
                           unsigned field, mprof_ref ref, uint32_t thread,
                           const struct mprof_count *count);

/* The total at byte AT. */
bool report__read_total(struct report__reader *reader, uint64_t at,
                        uint32_t index, uint32_t thread);

/* When all counters are known: the counter at REF, of a record's FIELD;
 * *COUNTER is NULL where there is none yet, in a file that is open. */
bool report__follow_counter(struct report__reader *reader, uint64_t at,
                            unsigned field, mprof_ref ref,
                            struct report__counter **counter);

/* Likewise: read the frees by other threads, the lost blocks of the last scan,
 * and what keeps objects alive. */
bool report__read_frees(struct report__reader *reader);
bool report__read_lost(struct report__reader *reader);
bool report__read_keepers(struct report__reader *reader);

#endif
