/* wishes.h - what the next recording is to be, and what is said when the
 * process ends: as mprof.h's functions and the environment set it.
 */
#ifndef MONITOR_RECORD_WISHES_H
#define MONITOR_RECORD_WISHES_H

#include <stdbool.h>
#include <stdint.h>

/* Guarded by the lock of the recording, but for what is set before there are
 * threads. */
extern struct mprof__wishes {
    unsigned heaps;    /* MPROF_HEAP_LISP, ...; 0: the library's own */
    unsigned live;     /* what of its Lisp heap is alive: MPROF_LIVE_ON, ... */
    uint32_t sampling; /* only a byte in so many is looked at; 0: all */
    uint64_t limit;    /* bytes; 0: not set */
    bool warns;        /* at the end it is said what the data lack, */
    bool summary;      /* ... and what there was */
    bool scans;        /* what is lost is looked for at the end */
    bool early;        /* the program has not begun */
} mprof__wishes;

/* The limit where none is set, in bytes: MPROF_LIMIT, or by the memory. */
uint64_t mprof__default_limit(void);

#endif
