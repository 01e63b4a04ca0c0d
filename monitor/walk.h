/* walk.h - the chain of callers of this thread.
 *
 * The walk reads the unwind tables; it never allocates on a heap that is
 * profiled, and says when it could not go on.
 */
#ifndef MPROF_WALK_H
#define MPROF_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cfi.h"
#include "format.h"

struct mprof__session;

/* What is known of one return address; see sites.c.  Only `checked` changes. */
struct mprof__site {
    struct mprof__unwind unwind;
    uint32_t id;        /* counts the sites of the session, from 1 */
    uint32_t checked;   /* generation that this holds for; atomic */
    bool known;         /* false: there is no rule, the walk ends here */
    bool beyond;        /* ... as it should: the loader, before the program */
    bool interpreter;   /* frames of it stand for what they interpret */
    mprof_ref function; /* FUNCTION in the data file; 0: no room for it */
};

/* A frame, as it is while it calls on.  Its memory is [low, high): from its
 * stack pointer to the one its caller has. */
struct mprof__frame {
    const struct mprof__site *site;
    uintptr_t pc;
    uintptr_t low, high;
    uintptr_t bp;
    uintptr_t bp_at;  /* where its caller's frame pointer is, or 0: unchanged */
    uintptr_t object; /* what is interpreted here, or 0 */
    bool exact;       /* a signal struck here: pc is no return address */
    bool firm; /* the way to the caller is the return address below `high`, the
                  frame pointer at `bp_at`, and nothing else */
    bool last; /* it has no caller */
    bool interprets;
};

/* The chain, outermost frame first.  The outermost ones that are still those
 * of the walk before, with all that was known of them, are `kept`. */
struct mprof__chain {
    struct mprof__frame *frames; /* mapped; owned by the chain */
    size_t count, room, kept;
    struct mprof__frame *fresh; /* of this walk, innermost first; mapped */
    size_t fresh_count, fresh_room;
    uintptr_t end;       /* return address of frames[0], which is no frame's */
    uint32_t generation; /* of code; 0: nothing may be kept */
    bool cut;            /* frames[0] is where the rules ended */
};

/* Walk from the caller of the function whose frame address is FRAME to the
 * first frame of the thread.  There is no limit to the depth; when there is
 * no memory for more frames, the chain is cut. */
void mprof__walk(struct mprof__session *session, struct mprof__chain *chain,
                 const void *frame);

/* Keep nothing of the last walk. */
static inline void mprof__chain_forget(struct mprof__chain *chain) {
    chain->generation = 0;
}

void mprof__chain_free(struct mprof__chain *chain);

#endif
