/* wishes.h - what the next recording is to be, and what is said when the
 * process ends: as mprof.h's functions and the environment set it.
 */
#ifndef MONITOR_RECORD_WISHES_H
#define MONITOR_RECORD_WISHES_H

#include <stdbool.h>
#include <stdint.h>

/* Guarded by the lock of the recording, except when set before there are
 * threads. */
extern struct mprof__wishes {
    unsigned heaps;    /* MPROF_HEAP_LISP, ...; 0: the library's own */
    unsigned alive;    /* live objects of its Lisp heap: MPROF_LIVE_ON, ... */
    uint32_t sampling; /* only a byte in so many is looked at; 0: all */
    uint64_t limit;    /* bytes; 0: not set */
    bool warns;        /* at the end it is said what the data lack, */
    bool summary;      /* ... and what there was */
    bool scans;        /* scan for lost blocks at the end, */
    bool keepers;      /* ... and find what keeps the others */
    bool early;        /* a start now records all allocations of the program */
} mprof__wishes;

/* The limit where none is set, in bytes: MPROF_LIMIT, or by the memory. */
uint64_t mprof__default_limit(void);

#endif
