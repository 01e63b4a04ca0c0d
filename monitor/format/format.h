/* format.h - the data file, byte by byte.
 *
 * The file is the memory of the monitor: it is mapped MAP_SHARED into the
 * profiled program, so it can be read at any time, also after the program was
 * killed.  The monitor writes it, the reader (report/data/read.c) only reads
 * it.
 *
 *     offset 0       struct mprof_header, padded with zeros to 4096 bytes
 *     offset 4096    records, one after the other, each a multiple of 8 bytes
 *     header.used    end of the last record, and of the data
 *
 * All numbers are in the byte order and the alignment of the machine that
 * wrote the file (see header.byte_order).  A record starts with a struct
 * mprof_record.  Records refer to each other by `ref`: the offset of the
 * record in the file divided by 8; 0 refers to nothing.  A ref to a record of
 * another type than the one expected is damage.  A record is complete before
 * header.used grows over it, and never moves; counters and name refs may
 * change later.  Numerous things, such as nodes, are in blocks: a record with a
 * thread and space for some things, `count` of which are complete.  A ref to
 * one of these is its own offset divided by 8.  A parent node comes before its
 * children, a module before its functions, a function before its call sites, a
 * thread before its blocks and bins: every ref in a record points backwards,
 * except those marked "later".  Things in a block may lead to records behind
 * it.
 *
 * state is MPROF_OPEN while a program may write to the file; after a kill it
 * stays so.  When it is MPROF_CLOSED the file ends at header.used and
 * header.crc is the CRC-32 (the one of gzip and zlib's crc32()) of all of it,
 * taken with the four bytes of header.crc as zero.  Any other state, and any
 * other magic, version, byte order or header size, is not a data file for
 * this reader.
 *
 * Unused and padding bytes are zero.
 */
#ifndef MONITOR_FORMAT_FORMAT_H
#define MONITOR_FORMAT_FORMAT_H

#include <stdint.h>

#define MPROF_MAGIC "MPROF\r\n\x1a" /* 8 bytes, no NUL */
#define MPROF_VERSION 12u
#define MPROF_UNCOPIED_VERSION 10u /* ... without copied symbols */
#define MPROF_LARGE_VERSION 9u   /* ... and for counters that know what lives */
#define MPROF_BROAD_VERSION 8u   /* ... and for struct mprof_lisp_counter */
#define MPROF_UNTYPED_VERSION 7u /* ... and for the types of counters */
#define MPROF_BYTE_ORDER 0x01020304u
#define MPROF_HEADER_BYTES 4096u
#define MPROF_OPEN 0x4e45504fu   /* "OPEN" */
#define MPROF_CLOSED 0x44534c43u /* "CLSD" */

/* The heaps that can be recorded, alone or together. */
enum mprof_heap {
    MPROF_LISP_HEAP = 0, /* objects of Lisp and the storage they own */
    MPROF_C_HEAP = 1     /* malloc() and its relatives */
};
#define MPROF_HEAPS 2

/* The type classes of Lisp and the size classes of C share four places. */
#define MPROF_CLASSES 4
enum mprof_class { MPROF_CONS, MPROF_FLOAT, MPROF_STRUCT, MPROF_OTHER };
enum mprof_size_class {
    MPROF_SMALL,  /* up to 32 bytes */
    MPROF_MEDIUM, /* up to 256 */
    MPROF_LARGE,  /* up to 2048 */
    MPROF_EXTRA   /* more */
};

/* Each size up to this one has a bin; all larger ones share another. */
#define MPROF_LARGEST_BIN 1024u

/* Without a branch: sizes come in no order. */
static inline enum mprof_size_class mprof_size_class(uint64_t bytes) {
    return (enum mprof_size_class)((bytes > 32) + (bytes > 256) +
                                   (bytes > 2048));
}

typedef uint32_t mprof_ref;

struct mprof_header {
    char magic[8];         /*   0 */
    uint32_t version;      /*   8 */
    uint32_t byte_order;   /*  12 */
    uint32_t header_bytes; /* 16: MPROF_HEADER_BYTES */
    uint32_t state;        /*  20: MPROF_OPEN or MPROF_CLOSED */
    uint64_t used;         /*  24: bytes of the file in use, a multiple of 8 */
    uint32_t crc;          /*  32: see above; 0 while open */
    uint32_t pid;          /*  36: process that is profiled */
    uint64_t start_time;   /*  40: first start, ns since 1970 (UTC) */
    uint64_t duration;     /*  48: ns profiled, up to the last stop or save */
    uint64_t memory;       /*  56: bytes of monitor memory beside this file */
    mprof_ref program;     /*  64: STRING, path of the executable; later */
    mprof_ref command;     /*  68: STRING, its arguments with blanks; later */
    mprof_ref runtime;     /*  72: STRING, such as "ECL 21.2.1"; later */
    uint32_t machine;      /*  76: e_machine of ELF, 62 for x86-64 */
    uint64_t unplaced_allocs; /* 80: counted without chain or type */
    uint64_t unplaced_bytes;  /* 88: their bytes; not in any node or bin */
    uint32_t heaps;           /* 96: bits 1 << MPROF_LISP_HEAP, ... recorded */
    uint32_t parent;          /* 100: process whose fork began this one, or 0 */
    uint64_t failed_allocs;   /* 104: C requests refused; in no other number */
    uint64_t unknown_frees;   /* 112: C frees of what was not recorded */
    uint64_t unplaced_frees; /* 120: C frees of what was, that are missing in */
    uint64_t unplaced_freed_bytes; /* 128:  the counts and bins; their bytes */
    uint64_t untracked_allocs; /* 136: counted, but their frees will not be */
    uint64_t untracked_bytes;  /* 144:   known, because memory was short */
    uint64_t image;       /* 152: differs for each program that is executed */
    uint64_t saved;       /* 160: last stop or save, ns since the boot */
    uint64_t output_pipe; /* 168: the pipe that standard output was, or 0 */
    uint64_t emptied;     /* 176: how often a thread has begun or ended to empty
                           * its spill */
    uint64_t boot;        /* 184: a number of the boot of the machine, or 0 */
    uint64_t pids;        /* 192: the namespace of `pid`, or 0 */
    uint64_t forked;      /* 200: when `pid` was forked, ns since the boot */
    mprof_ref unseen;     /* 208: STRING, the program's allocations that mprof
                           * cannot observe; may change, later */
    uint32_t timed;       /* 212: each event of the C heap has had its time: */
    struct mprof_load {
        uint64_t
            load[2];   /* of bytes that lived times ns, the lower half first */
        uint64_t live; /* bytes then */
        uint64_t time; /* ns of `duration` */
    } loads[2];        /* 216: the last two */
    uint32_t newer_load; /* 280: which is the newer one */
    uint32_t grouped;    /* 284: they are in the sum of a group, too */
    uint64_t begun;      /* 288: CLOCK_MONOTONIC at the first start, ns */
    uint32_t scan;       /* 296: number of the last scan, and 0 when it was not
                          * looked what is lost since the last start */
    uint32_t scan_flags; /* 300: enum mprof_scan_flag */
    struct mprof_lost_count {
        uint64_t objects, bytes, roots; /* of these, pointed to by none */
    } lost_unplaced;                    /* 304: that no LOST has */
    uint32_t ppid;  /* 328: parent of `pid` when the recording began */
    uint32_t alive; /* 332: Lisp heap: enum mprof_alive_flag */
    uint64_t alive_collections; /* 336: after which live objects were counted */
    uint32_t sampling; /* 344: 0, or of the Lisp heap all numbers are estimates:
                        * a byte in so many was looked at */
    uint32_t zero;     /* 348 */
    uint64_t recorded; /* 352: last stop or save, ns since 1970; 0: not known */
    uint32_t look[MPROF_HEAPS]; /* 360: for each heap the number of the last
                                 * search for keepers; 0: there was none since
                                 * the last start */
};

/* Is it known what of the Lisp heap is alive, and as of when? */
enum mprof_alive_flag {
    MPROF_ALIVE_KNOWN = 1,
    MPROF_ALIVE_AT_END = 2, /* after a collection that the last stop made */
    MPROF_ALIVE_MISSED = 4  /* it was not always seen what died */
};

enum mprof_record_type {
    MPROF_STRING = 1,
    MPROF_MODULE = 2,
    MPROF_FUNCTION = 3,
    MPROF_THREAD = 4,
    MPROF_NODES = 5,
    MPROF_BIN = 6,
    MPROF_EDGES = 7, /* up to version 11 */
    MPROF_COUNTERS = 8,
    MPROF_SIZE = 9,
    MPROF_SITE = 10,
    MPROF_FREED = 11,
    MPROF_SPILL_NODES = 12,
    MPROF_SPILL_COUNTERS = 13,
    MPROF_TOTALS = 14,
    MPROF_CURVE = 15,
    MPROF_COLLECTIONS = 16,
    MPROF_MARK = 17,
    MPROF_LOST = 18,
    MPROF_SOURCE = 19,
    MPROF_WIDE = 20,
    MPROF_C_WIDE = 21,
    MPROF_KEEPER = 22,
    MPROF_KEPT = 23,
    MPROF_EQUAL = 24
};

struct mprof_record {
    uint32_t type;  /* enum mprof_record_type */
    uint32_t bytes; /* size of the whole record, a multiple of 8 */
};

/* Text in UTF-8, not ended by a NUL; zeros pad it to a multiple of 8. */
struct mprof_string {
    struct mprof_record head;
    uint32_t length; /*  8: bytes of text */
    char text[];     /* 12 */
};

enum { MPROF_MODULE_UNLOADED = 1 };

/* An ELF file that was mapped: run-time address = ELF address + bias. */
struct mprof_module {
    struct mprof_record head;
    uint64_t bias;           /*  8 */
    uint64_t start, end;     /* 16, 24: run-time addresses, end excluded */
    mprof_ref path;          /* 32: STRING, as the loader knows it */
    uint32_t flags;          /* 36: MPROF_MODULE_UNLOADED */
    uint32_t build_id_bytes; /* 40: 0 when it has none */
    uint8_t build_id[36];    /* 44 */
};

enum mprof_function_kind {
    MPROF_C = 0,           /* no Lisp name; the reader knows its C name */
    MPROF_LISP = 1,        /* compiled or C function with a Lisp name */
    MPROF_INTERPRETED = 2, /* bytecodes; address is the object's */
    MPROF_TOPLEVEL = 3,    /* forms that EVAL or LOAD ran, all of them */
    MPROF_UNKNOWN = 4,     /* here the walk was cut: no unwind rule */
    MPROF_FOLDED = 5,      /* the frames further out: the tree was full */
    MPROF_ENTRY = 6        /* counts the arguments for the Lisp function of
                            * its name, and calls it */
};

/* Is a function of this KIND native code in its module? */
static inline int mprof_is_native(enum mprof_function_kind kind) {
    return kind == MPROF_C || kind == MPROF_LISP || kind == MPROF_ENTRY;
}

/* A function.  name is what Lisp prints for it; symbol is its name in the
 * ELF file, where the process had to read that because the file may be gone, or
 * as a copy for readers who do not find the file that it was. */
struct mprof_function {
    struct mprof_record head;
    uint64_t address; /*  8: ELF address of its first instruction */
    mprof_ref module; /* 16: MODULE or 0 */
    uint16_t kind;    /* 20: enum mprof_function_kind */
    uint8_t copied;   /* 22: 1: symbol is such a copy */
    uint8_t splits;   /* 23: the monitor's: contexts of other call sites */
    mprof_ref name;   /* 24: STRING or 0; may change, later */
    mprof_ref symbol; /* 28: STRING or 0; later */
};

#define MPROF_NO_POSITION (-1)

/* The position of a Lisp function in the source, as far as it is known. */
struct mprof_source {
    struct mprof_record head;
    mprof_ref function; /*  8: FUNCTION */
    mprof_ref file;     /* 12: STRING, its path, absolute */
    int64_t position;   /* 16: bytes before the top-level form that made the
                         * function, and before blanks and comments in front of
                         * that; or MPROF_NO_POSITION */
};

enum mprof_thread_flag {
    MPROF_THREAD_ENDED = 1,
    MPROF_THREAD_LIVES =
        2 /* Lisp: its counters follow live objects, like C's */
};

/* Why a walk could not mark a return address; see marks.h. */
enum mprof_unmarked {
    MPROF_MARKS_OFF,     /* MPROF_MARKS=0, too many threads, not safe here */
    MPROF_SHADOW_STACK,  /* ... or signed addresses: it would be noticed */
    MPROF_FOREIGN_STACK, /* not the stack that the thread was made with */
    MPROF_NO_RULE        /* frames without unwind rules */
};
#define MPROF_UNMARKED 4

/* A thread in one of two heaps.  Its root is its node that has no parent. Where
 * there are very many threads, later ones go on with the record of one that has
 * ended; tid is then the last one's. */
struct mprof_thread {
    struct mprof_record head;
    uint32_t tid;           /*  8: kernel's number */
    uint32_t flags;         /* 12: enum mprof_thread_flag */
    mprof_ref name;         /* 16: STRING or 0, later */
    uint32_t heap;          /* 20: enum mprof_heap */
    uint64_t folded_allocs; /* 24: number of the nodes' allocations that are */
    uint64_t folded_bytes;  /* 32:   below FOLDED, since the tree was full */
    uint64_t cut_allocs;    /* 40: whose chain ends in an MPROF_UNKNOWN */
    uint64_t cut_bytes;     /* 48 */
    uint64_t members;       /* 56: threads that counted here, mostly 1 */
    uint64_t marks;         /* 64: return addresses that were marked */
    uint64_t unmarked[MPROF_UNMARKED]; /* 72: how often that would have paid
                                          off, but was impossible */
    uint32_t emptied; /* 104: times that its spill was emptied: the valid count
                       * of a TOTAL is number `emptied & 1` */
    uint32_t spilled; /* 108: if this is `emptied`, the spill's counts are not
                       *   in the TOTALs yet; else the spill does not count */
    /* The C heap's peak; the process's is the largest of all threads': */
    uint64_t
        peak; /* 112: live bytes when the peak was raised last, which is when
               *   something is freed: there may be more live bytes now */
    uint64_t high, high_time; /* 120: bytes, when a new height was noted, ns of
                               *   `duration` then, */
    uint64_t high_clock;      /* 136: and bytes allocated before */
    uint64_t stack; /* 144: bytes, the deepest that allocated; 0: not known */
};

enum { MPROF_CURVE_POINTS = 256, MPROF_CURVE_RSS = 60 };

/* The C heap over time.  Where one list is full, every other entry goes, and
 * the distance between two of them is twice as large from then on; while that
 * is done some may be there twice, and not in order. */
struct mprof_curve {
    struct mprof_record head;
    uint32_t count;     /*  8: points, later */
    uint32_t rss_count; /* 12: later */
    uint64_t step;      /* 16: bytes allocated between points, or more */
    uint64_t rss_step;  /* 24: ns between samples, or more */
    struct mprof_point {
        uint64_t time;            /* ns of `duration` */
        uint64_t allocated;       /* bytes so far */
        uint64_t current;         /* of these, not freed */
        uint64_t objects;         /* that these bytes are in */
    } points[MPROF_CURVE_POINTS]; /* 32 */
    struct mprof_rss {
        uint64_t time;
        uint64_t bytes;     /* of memory that the process had resident */
    } rss[MPROF_CURVE_RSS]; /* 8224 */
};

/* A moment to which the program gave a name. */
struct mprof_mark {
    struct mprof_record head;
    mprof_ref name;     /*  8: STRING */
    uint32_t zero;      /* 12 */
    uint64_t time;      /* 16: ns of `duration` */
    uint64_t allocated; /* 24: bytes of the C heap so far */
    uint64_t current;   /* 32: of these, not freed */
    uint64_t objects;   /* 40: that these bytes are in */
};

enum { MPROF_COLLECTION_POINTS = 256 };

/* The collections of the Lisp heap.  When the list is full, every other point
 * is removed, and there are half as many from then on; see above. */
struct mprof_collections {
    struct mprof_record head;
    uint32_t count;       /*  8: points, later */
    uint32_t zero;        /* 12 */
    uint64_t step;        /* 16: collections for a point */
    uint64_t collections; /* 24: all there were */
    uint64_t ns;          /* 32: that they took */
    uint64_t highest;     /* 40: bytes in use before one, the most */
    struct mprof_collection {
        uint64_t time;                 /* ns of `duration`, when it ended */
        uint64_t allocated;            /* bytes that Lisp asked for so far */
        uint64_t before, after;        /* bytes of blocks in use */
        uint64_t collections;          /* so far, this one included */
        uint64_t ns;                   /* that these took */
    } points[MPROF_COLLECTION_POINTS]; /* 48 */
};

struct mprof_count {
    uint64_t allocs; /* blocks that the allocator was asked for */
    uint64_t bytes;  /* the requested size */
};

/* A call site: where a function called on. */
struct mprof_site {
    struct mprof_record head;
    mprof_ref function;      /*  8: FUNCTION that calls */
    mprof_ref module;        /* 12: MODULE or 0 */
    uint64_t return_address; /* 16: run-time address behind the call */
};

/* Many small things of one thread, in a record with room for more. */
struct mprof_block {
    struct mprof_record head;
    mprof_ref thread; /*  8: THREAD */
    uint32_t count;   /* 12: that are complete; grows */
};

/* In NODES.  A call site of a function in the context of its parent: a node of
 * the calling-context tree.  Its counters hold the
 * allocations made with exactly this chain; nothing is added along the chain.
 * ECL's allocators (ecl_cons) are nodes too; malloc() and its relatives are
 * none. */
struct mprof_node {
    mprof_ref parent;  /*  0: node, 0 for the root of the thread */
    mprof_ref call;    /*  4: SITE where its function called, or, from
                        * wherever it called, that FUNCTION; 0 for the root */
    mprof_ref counter; /*  8: the oldest of its counters, or 0; later */
    /* The monitor's own: */
    mprof_ref child; /* 12 */
    uint32_t hash;   /* 16 */
    mprof_ref next;  /* 20 */
};

/* In EDGES, of files up to version 11: another place where the
 * function of a node called. */
struct mprof_edge {
    mprof_ref node;  /*  0: node */
    mprof_ref site;  /*  4: SITE in the function of that node */
    uint32_t pad[2]; /* 8 */
};

#include "monitor/format/counter.h"

/* In TOTALS: allocations of chains that were in a spill, each counted once,
 * even if its chain has the function or arc several times. */
enum mprof_total_kind {
    MPROF_SELF,  /* by the function itself, of one type */
    MPROF_TWICE, /* ... with the function further out as well */
    MPROF_BELOW, /* by it and what it called */
    MPROF_CALLS, /* allocs: through calls of it, as the call graph counts them;
                  * bytes: allocations with the function twice on the chain */
    MPROF_ARC,   /* through calls of it by `caller`, 0 when it has no caller */
    MPROF_SHORT  /* by the chains of a counter in the tree, `function` */
};
#define MPROF_TOTAL_KINDS 6

/* A sum counts in the tables without plumbing, in those with all frames, or in
 * both. */
enum mprof_view { MPROF_SHOWN_FRAMES = 1, MPROF_ALL_FRAMES = 2 };
#define MPROF_VIEWS 2

/* In place of a FUNCTION: the caller of functions without a shown caller. */
#define MPROF_TOP 1u

struct mprof_total {
    mprof_ref caller;             /*  0: FUNCTION, in an ARC; in a SELF of
                                   *     Lisp the key, when it has a type */
    mprof_ref function;           /*  4: FUNCTION; COUNTER in a SHORT */
    uint8_t kind;                 /*  8: enum mprof_total_kind */
    uint8_t views;                /*  9: enum mprof_view */
    uint8_t class_;               /* 10 */
    uint8_t pad;                  /* 11 */
    uint16_t depth[MPROF_VIEWS];  /* 12: in a BELOW: least number of callers
                                   *     in each view, 65535 for more */
    struct mprof_count counts[2]; /* 16: see mprof_thread.emptied */
};

/* Does what a thread of HEAP with FLAGS allocated have an end that is known? */
static inline int mprof_knows_lives(uint32_t heap, uint32_t flags) {
    return heap == MPROF_C_HEAP || (flags & MPROF_THREAD_LIVES) != 0;
}

/* Bytes of a thing in a record of TYPE, of a thread that KNOWS_LIVES or not; 0:
 * that is no block. */
static inline uint32_t mprof_thing_bytes(uint32_t type, int knows_lives) {
    _Static_assert(sizeof(struct mprof_c_counter) ==
                       sizeof(struct mprof_alive_counter),
                   "there are two sizes of counters, not three");
    switch (type) {
    case MPROF_NODES:
    case MPROF_SPILL_NODES:
        return sizeof(struct mprof_node);
    case MPROF_EDGES:
        return sizeof(struct mprof_edge);
    case MPROF_COUNTERS:
        return knows_lives ? sizeof(struct mprof_c_counter)
                           : sizeof(struct mprof_lisp_counter);
    case MPROF_SPILL_COUNTERS:
        return knows_lives ? sizeof(struct mprof_spill_counter)
                           : sizeof(struct mprof_lisp_counter);
    case MPROF_TOTALS:
        return sizeof(struct mprof_total);
    default:
        return 0;
    }
}

/* A thread's frees of another thread's objects. */
struct mprof_freed {
    struct mprof_record head;
    mprof_ref thread;           /*  8: THREAD that frees */
    mprof_ref counter;          /* 12: counter of the other thread */
    struct mprof_count freed;   /* 16 */
    uint64_t lifetime[2];       /* 32: the clock at each free, as above */
    uint64_t stamp;             /* 48: as above, and what was freed before: */
    struct mprof_count at_peak; /* 56 */
};

#include "monitor/format/keeper.h"

/* Allocations of one type, and for structures and instances one class. */
struct mprof_bin {
    struct mprof_record head;
    mprof_ref thread; /*  8: THREAD */
    mprof_ref type;   /* 12: STRING, "cons", "double-float", "structure" */
    mprof_ref name;   /* 16: STRING, the class as Lisp prints it, or 0 */
    uint32_t class_;  /* 20: enum mprof_class */
    struct mprof_count objects; /* 24: headers, conses, compact vectors */
    struct mprof_count storage; /* 40: blocks that such objects own */
};

/* The C heap by size.  Frees are counted where the object was allocated: a
 * thread that frees what another has allocated has a SIZE of its own with that
 * thread in it.  A size's numbers are sums over all its SIZEs. */
struct mprof_size {
    struct mprof_record head;
    mprof_ref thread; /*  8: THREAD that allocated */
    uint32_t size;    /* 12: bytes; above MPROF_LARGEST_BIN all larger ones */
    struct mprof_count allocated; /* 16 */
    struct mprof_count freed;     /* 32 */
};

#endif
