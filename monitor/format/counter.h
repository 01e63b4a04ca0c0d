/* counter.h - the counters of a node, byte by byte: a part of format.h, which
 * includes it behind all that it needs.
 *
 * There are three kinds of counters, by the thread: Lisp's in one word, Lisp's
 * that follow live objects, and C's.  The first and the last have small
 * numbers; larger ones are in a record of their own.
 */
#ifndef MONITOR_FORMAT_COUNTER_H
#define MONITOR_FORMAT_COUNTER_H

/* The key of a counter in the C heap is a class, enum mprof_size_class.  In the
 * Lisp heap it is a type: the type's BIN, with this bit for blocks that such
 * objects own.  Where there was no space for that, and in all files of
 * MPROF_UNTYPED_VERSION, it is an enum mprof_class.  No BIN has a ref as small,
 * or as large. */
#define MPROF_STORAGE ((uint32_t)1 << 31)

static inline int mprof_key_has_type(uint32_t key) {
    return key >= MPROF_CLASSES;
}

static inline mprof_ref mprof_key_bin(uint32_t key) {
    return key & ~MPROF_STORAGE;
}

/* The beginning of each counter. */
struct mprof_counter {
    mprof_ref next; /*  0: the node's next newer one, or 0; later */
    uint32_t key;   /*  4: see above; later */
};

/* In COUNTERS of the Lisp heap: allocations of one type at a node.  In one
 * word, as there are many: 31 bits of allocations, above a 0, and 31 of bytes,
 * above a 0.  Larger numbers are in a WIDE; then the word has its ref and
 * MPROF_IS_WIDE. In files of MPROF_BROAD_VERSION and before it is a struct
 * mprof_count. */
struct mprof_lisp_counter {
    struct mprof_counter counter;
    uint64_t sum; /*  8 */
};

#define MPROF_IS_WIDE ((uint64_t)1 << 63)
/* The bits of a word that are 0 where it has the numbers themselves. */
#define MPROF_NOT_NARROW (MPROF_IS_WIDE | (uint64_t)1 << 31)

/* The numbers of a Lisp counter that are too large for it. */
struct mprof_wide {
    struct mprof_record head;
    mprof_ref counter;            /*  8: whose; may lie behind this */
    uint32_t zero;                /* 12 */
    struct mprof_count allocated; /* 16 */
};

static inline mprof_ref mprof_wide_ref(uint64_t sum) {
    return (mprof_ref)(sum & ~MPROF_IS_WIDE);
}

/* Have both numbers room in a word? */
static inline int mprof_is_narrow(struct mprof_count n) {
    return (n.allocs | n.bytes) >> 31 == 0;
}

static inline uint64_t mprof_narrow_sum(struct mprof_count n) {
    return n.bytes << 32 | n.allocs;
}

static inline struct mprof_count mprof_narrow_count(uint64_t sum) {
    return (struct mprof_count){(uint32_t)sum, sum >> 32};
}

/* Allocations of one class and call site at a node of the C heap, and their
 * frees. */
struct mprof_c_numbers {
    struct mprof_count allocated; /*  0 */
    struct mprof_count spilled;   /* 16: by chains in the spill and in TOTALs
                                   *   whose innermost functions these are */
    struct mprof_count freed; /* 32: by that thread, of what is counted here */
    uint64_t lifetime[2];     /* 48: the clock at each free, less that at each
                               * allocation: the bytes allocated so far.
                               * The second times 2^64, and the first as signed */
    uint64_t temporary;       /* 64: freed by the very next event */
    uint64_t stamp; /* 72: the peak when this was changed first since that was
                     *   raised; at_peak is what lived of it before */
    struct mprof_count at_peak; /* 80 */
};

/* In COUNTERS of the C heap.  Numbers of allocations and bytes are in a word:
 * `allocated` and `spilled` as in a Lisp counter, the others with 32 bits of
 * each; and the second half of the lifetime is 0.  If that is too small,
 * `allocated` is MPROF_IS_WIDE and the ref of a C_WIDE, which has all of them,
 * and the other members here do not count any more. */
struct mprof_c_counter {
    struct mprof_counter counter;
    uint64_t allocated; /*  8 */
    mprof_ref thread;   /* 16: THREAD, as in the block */
    mprof_ref site;     /* 20: SITE of the call of the allocator, or 0 */
    uint64_t spilled;   /* 24 */
    uint64_t freed;     /* 32 */
    uint64_t stamp;     /* 40 */
    int64_t lifetime;   /* 48 */
    uint64_t at_peak;   /* 56 */
    uint32_t temporary; /* 64 */
    uint32_t pad;       /* 68 */
};

struct mprof_c_wide {
    struct mprof_record head;
    mprof_ref counter;             /*  8: whose; may lie behind this */
    uint32_t zero;                 /* 12 */
    struct mprof_c_numbers number; /* 16 */
};

/* Return the numbers of COUNTER, which has no C_WIDE. */
static inline struct mprof_c_numbers
mprof_c_narrow_numbers(const struct mprof_c_counter *counter) {
    return (struct mprof_c_numbers){
        .allocated = mprof_narrow_count(counter->allocated),
        .spilled = mprof_narrow_count(counter->spilled),
        .freed = mprof_narrow_count(counter->freed),
        .lifetime = {(uint64_t)counter->lifetime, 0},
        .temporary = counter->temporary,
        .stamp = counter->stamp,
        .at_peak = mprof_narrow_count(counter->at_peak)};
}

/* In COUNTERS of a Lisp thread of which it is known what LIVES. */
struct mprof_alive_counter {
    struct mprof_counter counter;
    struct mprof_count allocated; /*  8 */
    struct mprof_count spilled;   /* 24: as above */
    struct mprof_count freed;     /* 40: found dead */
    uint64_t ages; /* 56: collections that those alive have survived, all
                    *   together */
    uint64_t pad;  /* 64 */
};

/* In SPILL_NODES: nodes as above, of chains for which the tree had no room,
 * with all frames from another root on.  Such a tree is small, and when it is
 * full its chains are summed up in TOTALs, and it is emptied.  Its counters, in
 * SPILL_COUNTERS, are as above for Lisp; for C and LIVES they are: */
struct mprof_spill_counter {
    struct mprof_counter counter;
    struct mprof_count allocated; /*  8 */
    /* The counter in the tree, of the innermost functions of the chain, that
     * has the frees of what is counted here, and the call site. */
    mprof_ref short_; /* 24 */
    uint32_t pad;     /* 28 */
};

#endif
