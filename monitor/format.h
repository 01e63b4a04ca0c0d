/* format.h - the data file, byte by byte.
 *
 * The file is the memory of the monitor: it is mapped MAP_SHARED into the
 * profiled program, so it can be read at any time, also after the program was
 * killed.  The monitor writes it, the reader (report/read.c) only reads it.
 *
 *     offset 0       struct mprof_header, padded with zeros to 4096 bytes
 *     offset 4096    records, one after the other, each a multiple of 8 bytes
 *     header.used    end of the last record; what follows is not data
 *
 * All numbers are in the byte order and the alignment of the machine that
 * wrote the file (header.byte_order tells it).  A record starts with a struct
 * mprof_record.  Records refer to each other by `ref`: the offset of the
 * record in the file divided by 8; 0 refers to nothing.  A ref to a record of
 * another type than the one expected is damage.  A record is complete before
 * header.used grows over it, and never moves; counters and name refs may
 * change later.  A parent node comes before its children, a module before its
 * functions, a thread before its nodes, bins and edges: every ref but those
 * marked "later" points backwards.
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
#ifndef MPROF_FORMAT_H
#define MPROF_FORMAT_H

#include <stdint.h>

#define MPROF_MAGIC "MPROF\r\n\x1a" /* 8 bytes, no NUL */
#define MPROF_VERSION 1u
#define MPROF_BYTE_ORDER 0x01020304u
#define MPROF_HEADER_BYTES 4096u
#define MPROF_OPEN 0x4e45504fu   /* "OPEN" */
#define MPROF_CLOSED 0x44534c43u /* "CLSD" */

/* The size classes of C and the type classes of Lisp share four places. */
#define MPROF_CLASSES 4
enum mprof_class { MPROF_CONS, MPROF_FLOAT, MPROF_STRUCT, MPROF_OTHER };

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
    uint64_t unplaced_allocs; /* 80: allocations known only by number */
    uint64_t unplaced_bytes;  /* 88: their bytes; not in any node or bin */
};

enum mprof_record_type {
    MPROF_STRING = 1,
    MPROF_MODULE = 2,
    MPROF_FUNCTION = 3,
    MPROF_THREAD = 4,
    MPROF_NODE = 5,
    MPROF_BIN = 6,
    MPROF_EDGE = 7
};

struct mprof_record {
    uint32_t type;  /* enum mprof_record_type */
    uint32_t bytes; /* of the whole record, a multiple of 8 */
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
    MPROF_FOLDED = 5       /* frames past the limit of the tree */
};

/* A function.  name is what Lisp prints for it; symbol is its name in the
 * ELF file where the process had to read that because the file may be gone. */
struct mprof_function {
    struct mprof_record head;
    uint64_t address; /*  8: ELF address of its first instruction */
    mprof_ref module; /* 16: MODULE or 0 */
    uint32_t kind;    /* 20: enum mprof_function_kind */
    mprof_ref name;   /* 24: STRING or 0; may change, later */
    mprof_ref symbol; /* 28: STRING or 0; later */
};

enum { MPROF_THREAD_ENDED = 1 };

/* A thread.  Its root is the node of it that has no parent. */
struct mprof_thread {
    struct mprof_record head;
    uint32_t tid;           /*  8: kernel's number */
    uint32_t flags;         /* 12: MPROF_THREAD_ENDED */
    mprof_ref name;         /* 16: STRING or 0, later */
    uint32_t pad;           /* 20 */
    uint64_t folded_allocs; /* 24: of the nodes' allocations, how many are in */
    uint64_t folded_bytes;  /* 32:   an ancestor since the tree was full */
    uint64_t cut_allocs;    /* 40: whose chain ends in an MPROF_UNKNOWN */
    uint64_t cut_bytes;     /* 48 */
};

struct mprof_count {
    uint64_t allocs; /* blocks that the allocator was asked for */
    uint64_t bytes;  /* bytes that it was asked for */
};

/* A function in the context of its parent: a node of the calling-context tree.
 * Its counters hold the allocations made with exactly this chain; nothing is
 * added along the chain.  Allocators themselves (ecl_cons) are nodes too. */
struct mprof_node {
    struct mprof_record head;
    mprof_ref thread;   /*  8: THREAD */
    mprof_ref parent;   /* 12: NODE, 0 for the root of the thread */
    mprof_ref function; /* 16: FUNCTION, 0 for the root */
    uint32_t pad;       /* 20 */
    struct mprof_count count[MPROF_CLASSES]; /* 24 */
};

/* What was allocated: one type, and for structures and instances one class. */
struct mprof_bin {
    struct mprof_record head;
    mprof_ref thread; /*  8: THREAD */
    mprof_ref type;   /* 12: STRING, "cons", "double-float", "structure" */
    mprof_ref name;   /* 16: STRING, the class as Lisp prints it, or 0 */
    uint32_t class_;  /* 20: enum mprof_class */
    struct mprof_count objects; /* 24: headers, conses, compact vectors */
    struct mprof_count storage; /* 40: blocks that such objects own */
};

/* A call site: a place in the function of a node where it called on to the
 * frames inside of it.  A node has one edge for each such place. */
struct mprof_edge {
    struct mprof_record head;
    mprof_ref node;          /*  8: NODE */
    mprof_ref module;        /* 12: MODULE or 0 */
    uint64_t return_address; /* 16: run-time address behind the call */
};

#endif
