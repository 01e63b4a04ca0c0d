/* keeper.h - the part of the data file about what is lost, what keeps other
 * objects alive, and equal contents; included by format.h. */
#ifndef MONITOR_FORMAT_KEEPER_H
#define MONITOR_FORMAT_KEEPER_H

/* How good a scan was. */
enum mprof_scan_flag {
    MPROF_SCAN_RUNNING = 1, /* other threads ran meanwhile */
    MPROF_SCAN_FAILED = 2,  /* it could not be made */
    MPROF_SCAN_LATE = 4     /* the program had allocated before the recording */
};

/* Lost objects of a counter of the C heap: no data, stack or register leads to
 * them. */
struct mprof_lost {
    struct mprof_record head;
    mprof_ref counter; /*  8 */
    uint32_t scan;     /* 12: whose; of interest is the last one's */
    struct mprof_lost_count count; /* 16 */
};

enum mprof_keeper_kind {
    MPROF_KEEPER_ROOT,      /* it is alive by itself */
    MPROF_KEEPER_UNCERTAIN, /* ... or not: words that may lead there by chance
                             */
    MPROF_KEEPER_SHARED,    /* several roots lead there; the label has one */
    MPROF_KEEPER_UNKNOWN,   /* no known root does */
    MPROF_KEEPER_OBJECT     /* objects that another keeper keeps */
};

/* So many are in each other at most. */
#define MPROF_MOST_KEEPERS 16u

/* A root, or alike objects that are kept by the same keeper. */
struct mprof_keeper {
    struct mprof_record head;
    mprof_ref outer;   /*  8: KEEPER that keeps it; 0: it is a root */
    mprof_ref label;   /* 12: STRING, its name, or 0: */
    mprof_ref counter; /* 16: the counter of these blocks of the C heap */
    uint16_t kind;     /* 20: enum mprof_keeper_kind */
    uint16_t heap;     /* 22: enum mprof_heap */
    uint32_t look;     /* 24: number of the look at the heap; of interest is the
                        * last one's */
    uint32_t each;     /* 28: bytes of each object; 0: they differ, or many */
    struct mprof_count strange; /* 32: objects of this step that were not
                                 * recorded, as the heap has them */
};

/* Live objects of a counter that belong to a step. */
struct mprof_kept {
    struct mprof_record head;
    mprof_ref keeper;         /*  8 */
    mprof_ref counter;        /* 12 */
    struct mprof_count count; /* 16 */
};

/* Live strings and vectors of numbers of a counter of the Lisp heap, as blocks:
 * those that were compared with all others, and those with the contents of
 * another one, all but the first one of the same contents. */
struct mprof_equal {
    struct mprof_record head;
    mprof_ref counter;           /*  8 */
    uint32_t look;               /* 12: as of a keeper */
    struct mprof_count compared; /* 16 */
    struct mprof_count equal;    /* 32 */
};

#endif
