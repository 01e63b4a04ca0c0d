/* keepers.h - what is kept alive, by steps that have names: from a root on,
 * such as the value of a symbol, to a hash table, to the lists that are its
 * values.
 *
 * Objects that are alike, and are reached by the same steps, are one.  A step
 * that is like one further out leads back there, so a list or a tree is one
 * step, however deep it is.
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
    uint32_t outer;             /* 0: it is a root's */
    uint32_t text;              /* where in the texts its name is */
    uint64_t id;                /* the same for what is alike */
    mprof_ref maker;            /* of a block of C: its counter; else 0 */
    uint16_t depth;             /* steps as far as this one */
    uint16_t kind;              /* enum mprof_keeper_kind */
    struct mprof_count own;     /* of all objects of the step, */
    struct mprof_count all;     /* and with what is further in */
    struct mprof_count strange; /* of `own`, what was not recorded */
};

/* Of the objects of a step those of one counter. */
struct mprof__kept {
    uint32_t step;
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
    struct mprof__table known;      /* outer step and id -> step */
    struct mprof__table known_kept; /* step and counter -> kept + 1 */
    bool failed;                    /* there was no memory */
};

/* Zeroed memory becomes empty steps. */
void mprof__keepers_begin(struct mprof__keepers *steps);
void mprof__keepers_end(struct mprof__keepers *steps);

/* The step within OUTER, or further out, for what ID says; 0: it is to be
 * added. */
uint32_t mprof__keepers_find(const struct mprof__keepers *steps, uint32_t outer,
                             uint64_t id);

/* Add it; TEXT is its name, or NULL if it has a MAKER.  Returns OUTER when
 * there are too many. */
uint32_t mprof__keepers_add(struct mprof__keepers *steps, uint32_t outer,
                            uint64_t id, enum mprof_keeper_kind kind,
                            const char *text, mprof_ref maker);

/* An object of BYTES, of COUNTER or 0, belongs to STEP. */
void mprof__keepers_count(struct mprof__keepers *steps, uint32_t step,
                          mprof_ref counter, uint64_t bytes);

/* Sum up, and leave out steps that keep less than one byte in so many: what
 * they keep belongs to the step further out.  A root's step goes into one of
 * its kind with the name that NAME_REST has for it. */
void mprof__keepers_finish(struct mprof__keepers *steps, uint64_t one_in,
                           const char *(*name_rest)(enum mprof_keeper_kind));

static inline const char *
mprof__keepers_text(const struct mprof__keepers *steps,
                    const struct mprof__keeper *step) {
    return steps->texts + step->text;
}

#endif
