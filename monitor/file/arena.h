/* arena.h - the data file as memory.
 *
 * A range of addresses as large as the limit is chosen at once, and the file is
 * mapped into it piece by piece, so records never move.  The blocks of each
 * piece are allocated before it is mapped: a full disk is an error here and
 * never a SIGBUS in the profiled program.  If another process cuts the file,
 * the recording is lost and ends; see cut.h.
 *
 *     base              used      mapped         limit - reserve      limit
 *      |header|rec|rec|..|0000000000|   no access  |  (not for nodes)   |
 *      0      4096       |
 *                        where the next record goes
 *
 * MPROF_HEADER_BYTES <= used <= mapped <= limit.  All are multiples of 8,
 * mapped of the page size.  The records cover [MPROF_HEADER_BYTES, used)
 * without a gap: each begins where the one before ends, `bytes` of its head
 * further on, a multiple of 8.  `used` is in the header.  It grows over a
 * record when that is complete, and never shrinks.  A ref is the offset of a
 * record, or of a thing in a block, divided by 8.
 *
 * One thread at a time may call the functions that add records (the caller
 * holds the arena's lock); every thread may write into records.
 */
#ifndef MONITOR_FILE_ARENA_H
#define MONITOR_FILE_ARENA_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/base/atomic.h"
#include "monitor/base/table.h"
#include "monitor/format/format.h"

struct mprof__arena {
    /* Guards the adding of records, and of what is known of them: sites,
     * modules, functions, threads. */
    pthread_mutex_t lock;
    char *base;       /* start of the range, and of the file */
    bool far;         /* the range is far away, and not reserved */
    size_t limit;     /* bytes of the range */
    size_t mapped;    /* bytes of the file mapped so far */
    int fd;           /* -1 while there is none for us */
    const char *path; /* the file's, or NULL; owned by the caller */
    dev_t device;     /* the file's behind fd, to notice when the program */
    ino_t inode;      /*   closed our descriptor and opened its own at it */
    bool full;        /* the file cannot grow any more */
    bool cut;         /* another process has cut it; atomic, see cut.h */
    int refused;      /* 0, or why the system did not let it: an errno */
    uint32_t waits, backoff; /* requests until the next attempt to reach the
                                file, after one that failed */
    size_t reserve; /* bytes below the limit that whole chains may not take;
                       see enum mprof__room */
    uint64_t mapped_before; /* mprof__mapped when it was opened */
    uint64_t started;       /* CLOCK_MONOTONIC, ns, when it was last started to
                               record into it, */
    uint64_t before;        /* and ns recorded before that */
    /* Its file was found to be cut, or NULL; in a signal's handler, too. */
    void (*on_cut)(struct mprof__arena *arena);
};

/* The invariants, of the whole arena; the caller holds the arena's lock. */
void mprof__arena_check(const struct mprof__arena *arena);

/* Create the data file PATH, or one without a name when PATH is NULL, and
 * begin it with a header.  PATH must live as long as the arena.  0 or an
 * MPROF_E code; errno says more. */
int mprof__arena_open(struct mprof__arena *arena, const char *path,
                      size_t limit);

/* Let the file FD have BYTES from OFFSET on, whatever signals come, and without
 * one.  False: errno says why not. */
bool mprof__allocate_blocks(int fd, size_t offset, size_t bytes);

/* Unmap it.  The file stays as it is. */
void mprof__arena_close(struct mprof__arena *arena);

/* Let go of the file of one that was cut, which others may still touch. */
void mprof__arena_leave_file(struct mprof__arena *arena);

/* Return space for a record of BYTES bytes (rounded up to 8), zeroed except its
 * head.  It becomes part of the file with mprof__arena_publish().  NULL: there
 * is no space. */
void *mprof__arena_record(struct mprof__arena *arena, uint32_t type,
                          size_t bytes);
mprof_ref mprof__arena_publish(struct mprof__arena *arena, void *record);

/* Add a STRING of LENGTH bytes; 0 when there is no room. */
mprof_ref mprof__arena_string(struct mprof__arena *arena, const char *text,
                              size_t length);

/* Mark the file complete and cut it at its end, or open for more again. */
int mprof__arena_complete(struct mprof__arena *arena);
int mprof__arena_reopen(struct mprof__arena *arena);

/* How long ARENA is recorded into at NOW, CLOCK_MONOTONIC: ns. */
static inline uint64_t mprof__arena_time(const struct mprof__arena *arena,
                                         uint64_t now) {
    return arena->before + now - arena->started;
}

/* Bring the duration and the memory in the header up to date, which a killed
 * program leaves behind; while it is recorded.  NOW is CLOCK_MONOTONIC, in ns.
 */
void mprof__arena_clock_at(struct mprof__arena *arena, uint64_t now);
void mprof__arena_clock(struct mprof__arena *arena);

/* Have what is recorded so far written to the disk, without waiting. */
void mprof__arena_flush(struct mprof__arena *arena);

/* The check sum of a file as it is when it is complete. */
uint32_t mprof__arena_checksum(const struct mprof_header *header);

static inline struct mprof_header *
mprof__arena_header(const struct mprof__arena *arena) {
    return (struct mprof_header *)arena->base;
}

/* Purposes that space is reserved for.  The first is the first to be refused.
 */
enum mprof__room {
    MPROF__FOR_CHAINS,   /* the tree of whole chains */
    MPROF__FOR_SHORT,    /* spills; chains of the innermost functions */
    MPROF__FOR_SHORTER,  /* ... of fewer of these */
    MPROF__FOR_COUNTERS, /* ... and totals and functions, without which all
                          * would be lost; some is left for threads and bins, */
    MPROF__FOR_ROOTS     /* and for what these have without a chain */
};

/* Bytes that the file may grow to for ROOM, of that what is not for chains:
 * each leaves half of what the one before it does. */
static inline size_t mprof__arena_most(const struct mprof__arena *arena,
                                       enum mprof__room room) {
    return arena->limit - (arena->reserve >> (room + 1));
}

/* Bytes of memory that were mapped beside the file since it was opened. */
static inline uint64_t mprof__arena_beside(const struct mprof__arena *arena) {
    uint64_t mapped = mprof__load_relaxed(&mprof__mapped);
    return mapped > arena->mapped_before ? mapped - arena->mapped_before : 0;
}

/* Is there room?  Without the lock: there was lately.  Whole chains have the
 * limit for the file and for the memory that they take beside it. */
static inline bool mprof__arena_has_room(const struct mprof__arena *arena,
                                         enum mprof__room room) {
    size_t used = mprof__load_relaxed(&mprof__arena_header(arena)->used);
    if (room != MPROF__FOR_CHAINS)
        return used < mprof__arena_most(arena, room);
    return used + mprof__arena_beside(arena) < arena->limit - arena->reserve;
}

/* Bytes from RECORD to the next one; where the file was cut, to behind all. */
static inline size_t mprof__record_size(const struct mprof_record *record) {
    return record->bytes != 0 ? record->bytes : PTRDIFF_MAX;
}

static inline void *mprof__arena_at(const struct mprof__arena *arena,
                                    mprof_ref ref) {
    return arena->base + (size_t)ref * 8;
}

/* Return true if the file is as long as the arena takes it to be: another
 * process may have cut off its unused end. */
bool mprof__arena_is_whole(struct mprof__arena *arena);

/* Write the STRING at REF, or "", into TEXT of SIZE bytes, as far as it fits.
 */
void mprof__arena_text(const struct mprof__arena *arena, mprof_ref ref,
                       char *text, size_t size);

static inline mprof_ref mprof__arena_ref(const struct mprof__arena *arena,
                                         const void *record) {
    return (mprof_ref)((uintptr_t)((const char *)record - arena->base) / 8);
}

#endif
