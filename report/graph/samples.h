/* samples.h - allocations by whole chains: the input of the exports. */
#ifndef REPORT_GRAPH_SAMPLES_H
#define REPORT_GRAPH_SAMPLES_H

#include "report/graph/inlining.h"

struct report__frame {
    /* Of names->list: one that is_inlined is so in the next frame. */
    uint32_t function;
    uint32_t place; /* where it calls, of names->inlining->places, or 0 */
};

/* In place of a function, the outermost one of its chain: there were more, that
 * are left out; or callers are not known, as the tree was full. */
static inline uint32_t report__deeper(const struct report__functions *names) {
    return names->count;
}
static inline uint32_t report__summed(const struct report__functions *names) {
    return names->count + 1;
}
static inline uint32_t
report__all_functions(const struct report__functions *names) {
    return names->count + 2;
}

/* The numbers of a sample: in allocations, or in bytes. */
enum report__number {
    MPROF_NUMBER_ALLOCS,
    MPROF_NUMBER_BYTES,
    /* C only; KEPT also of Lisp, see struct report__sampling */
    MPROF_NUMBER_KEPT_ALLOCS,
    MPROF_NUMBER_KEPT_BYTES,
    MPROF_NUMBER_PEAK_ALLOCS,
    MPROF_NUMBER_PEAK_BYTES,
    MPROF_NUMBER_TEMPORARY, /* allocations */
    MPROF_NUMBERS
};
#define MPROF_LISP_NUMBERS MPROF_NUMBER_KEPT_ALLOCS

/* How many of them HEAP has. */
static inline int report__numbers_of(enum mprof_heap heap) {
    return heap == MPROF_C_HEAP ? (int)MPROF_NUMBERS : (int)MPROF_LISP_NUMBERS;
}

/* Of one chain, in one class, type and thread.  Chains that read alike may come
 * several times. */
struct report__sample {
    const struct report__frame *frames; /* innermost first */
    uint32_t depth;                     /* of them, 1 at least */
    uint32_t thread, class_;
    uint32_t bin;    /* Lisp: one of that type, or MPROF_NONE: not known */
    bool is_storage; /* Lisp: blocks that such objects own */
    uint64_t numbers[MPROF_NUMBERS];
    unsigned __int128 lifetime; /* C: bytes allocated meanwhile, all together */
};

struct report__sampling {
    enum mprof_heap heap;
    bool all_frames;
    uint32_t depth; /* innermost functions of a chain; 0: all */
    uint32_t tid;   /* only samples of the thread with this id; or 0 */
    /* Of Lisp what is alive as well, as KEPT; of what was summed up it is with
     * the innermost functions. */
    bool alive;
};

/* PLACE of a frame: the number, from 1 on, of the file of
 * names->inlining->places, and the line; zeros: that is not known. */
static inline struct report__pair
report__frame_place(const struct report__functions *names, uint32_t place) {
    return names->inlining && place > 0
               ? names->inlining->places.pairs.list[place]
               : (struct report__pair){0, 0};
}

struct report__samples;

/* All of it is in POOL; the arguments must last. */
struct report__samples *report__samples_open(
    struct report__pool *pool, const struct report__profile *profile,
    const struct report__functions *names, const struct report__sampling *how);

/* Call TAKE for each, in the same order each time; a sample is valid during the
 * call.  All together have what the tables have, with NAMES->inlining those
 * with inlined functions. */
void report__each_sample(struct report__samples *samples,
                         void (*take)(void *data,
                                      const struct report__sample *sample),
                         void *data);

#endif
