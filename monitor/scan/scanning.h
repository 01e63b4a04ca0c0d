/* scanning.h - what the files share that scan the C heap. */
#ifndef MONITOR_SCAN_SCANNING_H
#define MONITOR_SCAN_SCANNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/graph/graph.h"
#include "monitor/heap/live.h"
#include "monitor/scan/freeze.h"
#include "monitor/scan/roots.h"
#include "monitor/scan/variables.h"

struct mprof__block {
    uintptr_t at;
    uint64_t bytes;
    mprof_ref counter;
};

/* Memory that may point to blocks, and is no block; or the words of a thread,
 * which has the number TID. */
struct mprof__area {
    uintptr_t start, end;
    const struct mprof__variable *variable; /* that is there, or NULL */
    pid_t tid;                              /* or 0 */
    bool is_stack;                          /* or registers: not certain */
    bool allocators; /* there are words that malloc() has for itself */
};

struct mprof__range {
    uintptr_t start, end;
};

/* A thread, and its memory that may point to blocks. */
struct mprof__thread_areas {
    pid_t tid;
    uintptr_t stack_pointer, pointer; /* its thread pointer */
    struct mprof__range local;        /* thread-local variables */
    struct mprof__range stack;        /* the live part, without these */
};

/* In memory of its own, which is not scanned. */
struct mprof__scan {
    struct mprof__live *heap;
    bool late;       /* the program had allocated before the recording */
    bool names;      /* of variables are wanted, and dominators */
    uint32_t number; /* the number of this scan */
    uintptr_t stack; /* of this thread, from here on */
    struct mprof__freezer freezer;
    struct mprof__mappings mappings;
    int pagemap;                 /* a descriptor, or -1 */
    struct mprof__block *blocks; /* by address */
    size_t count, room;
    uintptr_t low, high; /* the range that has all of them */
    char *memory;        /* for all these */
    size_t bytes;
    struct mprof__variables variables;   /* none: no names are wanted */
    struct mprof__thread_areas *threads; /* this one is the last */
    size_t thread_count;
    struct mprof__area *areas; /* certain ones first */
    size_t area_count, area_room, certain;
    struct mprof__graph graph; /* area i is node i + 1, then come blocks */
    bool allocators;           /* in the words that are seen now */
    bool failed;               /* there was no memory */
};

/* The first block that ends behind ADDRESS, or COUNT. */
static inline size_t mprof__block_behind(const struct mprof__scan *s,
                                         uintptr_t address) {
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct mprof__block *b = &s->blocks[middle];
        if (b->at + (b->bytes > 0 ? b->bytes : 1) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* areas.c: find them. */
void mprof__scan_areas(struct mprof__scan *scan);

/* kept.c: add to KEEPERS what keeps each block. */
struct mprof__keepers;
void mprof__scan_keepers(const struct mprof__scan *scan,
                         struct mprof__keepers *keepers);

#endif
