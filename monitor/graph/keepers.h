/* keepers.h - named groups of objects that keep others alive.
 *
 * A keeper is a root, such as the value of a symbol, or the objects that are
 * alike and that the same keeper keeps: the hash table that is the value, the
 * lists that are in it.  If a keeper is like one further out, both are one, so
 * a list or a tree is one keeper, however deep it is.
 *
 * Memory is mapped; nothing here takes a lock.
 */
#ifndef MONITOR_GRAPH_KEEPERS_H
#define MONITOR_GRAPH_KEEPERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/base/table.h"
#include "monitor/format/format.h"

struct mprof__keeper {
    uint32_t outer;             /* the keeper that keeps it; 0: it is a root */
    uint32_t text;              /* where in the texts its name is */
    uint64_t id;                /* equal for objects that are alike */
    mprof_ref maker;            /* the counter of blocks of C; else 0 */
    uint16_t depth;             /* keepers from the root to this one */
    uint16_t kind;              /* enum mprof_keeper_kind */
    uint64_t each;              /* bytes of each object, or MPROF__MIXED */
    struct mprof_count own;     /* its objects, */
    struct mprof_count all;     /* with all that it keeps; */
    struct mprof_count strange; /* the part of `own` that was not recorded */
};

/* Its objects have several sizes. */
#define MPROF__MIXED UINT64_MAX

/* The objects of a keeper that one counter has. */
struct mprof__kept {
    uint32_t keeper;
    mprof_ref counter;
    struct mprof_count count;
};

struct mprof__keepers {
    struct mprof__keeper *list; /* 0 is none of them */
    size_t count, room;
    char *texts;
    size_t length, text_room;
    struct mprof__kept *kept;
    size_t kept_count, kept_room;
    struct mprof__table known;      /* outer keeper and id -> keeper */
    struct mprof__table known_kept; /* keeper and counter -> kept */
    bool failed;                    /* there was no memory */
};

/* Zeroed memory becomes an empty set. */
void mprof__keepers_begin(struct mprof__keepers *keepers);
void mprof__keepers_end(struct mprof__keepers *keepers);

/* A keeper that keeps less than one byte in so many gets no name. */
enum { MPROF__SMALL_KEEPER = 4096 };

/* Return the keeper with ID within OUTER, or OUTER or one further out that has
 * ID; 0: there is none. */
uint32_t mprof__keepers_find(const struct mprof__keepers *keepers,
                             uint32_t outer, uint64_t id);

/* Return it, added if there is none, with the name TEXT, or NULL if it has a
 * MAKER.  Return OUTER when there are too many. */
uint32_t mprof__keepers_add(struct mprof__keepers *keepers, uint32_t outer,
                            uint64_t id, enum mprof_keeper_kind kind,
                            const char *text, mprof_ref maker);

/* Add an object of BYTES to KEEPER.  COUNTER has it; 0: it was not recorded. */
void mprof__keepers_count(struct mprof__keepers *keepers, uint32_t keeper,
                          mprof_ref counter, uint64_t bytes);

/* Compute all sums.  A keeper that keeps less than one byte in ONE_IN becomes a
 * part of the keeper that keeps it; such roots become one root for each kind.
 * The root for uncertain ones has the name OTHER_STACKS. */
void mprof__keepers_finish(struct mprof__keepers *keepers, uint64_t one_in,
                           const char *other_stacks);

static inline const char *
mprof__keepers_text(const struct mprof__keepers *keepers,
                    const struct mprof__keeper *keeper) {
    return keepers->texts + keeper->text;
}

#endif
