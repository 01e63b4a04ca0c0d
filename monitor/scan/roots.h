/* roots.h - the memory of the process, and what of it may be looked through. */
#ifndef MONITOR_SCAN_ROOTS_H
#define MONITOR_SCAN_ROOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mprof__mapping {
    uintptr_t start, end;
    bool readable, writable;
    bool heap;   /* [heap], which the allocator has from brk() */
    bool stack;  /* the first thread's, or a guard page is right below */
    bool device; /* to read may do something */
    bool own;    /* private, and no file is behind it */
    bool libc;   /* data of the C library, which has the allocator */
};

struct mprof__mappings {
    struct mprof__mapping *list; /* by address */
    size_t count, room;
};

/* Call VISIT for each line of /proc/self/maps, which it may change, until it
 * returns an error.  Lines that are too long are cut.  0 or an errno. */
int mprof__mappings_lines(int (*visit)(char *line, void *data), void *data);

/* Read them into the list, which has room.  0 or an errno. */
int mprof__mappings_read(struct mprof__mappings *mappings);

/* The one that has ADDRESS, or NULL. */
const struct mprof__mapping *
mprof__mapping_at(const struct mprof__mappings *mappings, uintptr_t address);

/* Call VISIT for the parts of [START, END), which is in one mapping, that are
 * in memory, or swapped out: other pages were never written to.  PAGEMAP is a
 * descriptor of /proc/self/pagemap, or -1: then for all of it. */
void mprof__present(int pagemap, uintptr_t start, uintptr_t end,
                    void (*visit)(uintptr_t start, uintptr_t end, void *data),
                    void *data);

#endif
