/* profile.h - a data file in memory.
 *
 * report__read() checks everything that format.h promises, so every index in a
 * profile may be followed.  Indices count from 0 within the array of their
 * type; MPROF_NONE means "nothing".  Text is valid UTF-8 and ends in a NUL. All
 * of it is in the pool given to the reader.
 */
#ifndef REPORT_DATA_PROFILE_H
#define REPORT_DATA_PROFILE_H

#include "monitor/format/group.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/format/format.h"
#include "monitor/format/process.h"
#include "report/base/pool.h"

/* ALL without LESS, or 0: while the program runs, what was freed may be seen
 * before it was allocated. */
static inline uint64_t report__left(uint64_t all, uint64_t less) {
    return all > less ? all - less : 0;
}

static inline struct mprof_count
report__count_left(struct mprof_count all, const struct mprof_count *less) {
    return (struct mprof_count){report__left(all.allocs, less->allocs),
                                report__left(all.bytes, less->bytes)};
}

static inline void report__add_count(struct mprof_count *sum,
                                     const struct mprof_count *n) {
    sum->allocs += n->allocs;
    sum->bytes += n->bytes;
}

/* Allocations and bytes by class. */
struct report__counts {
    struct mprof_count by_class[MPROF_CLASSES];
};

struct report__module {
    const char *path; /* "" when unknown */
    uint64_t bias, start, end;
    uint32_t flags; /* MPROF_MODULE_UNLOADED */
    uint32_t build_id_bytes;
    uint8_t build_id[36];
    uint32_t file; /* the first module with the same path and build id */
    /* Of profiles that were put together: it was the program of one, and the
     * path to use in place of its own, or NULL. */
    bool is_program;
    const char *given;
};

struct report__function {
    uint64_t address; /* ELF address */
    uint32_t module;  /* or MPROF_NONE */
    enum mprof_function_kind kind;
    const char *name;   /* Lisp name or NULL */
    const char *symbol; /* ELF name as recorded, or NULL */
    const char *copied; /* the same for when its file is another one */
    /* Lisp: its source file or NULL, and where in it the form begins that made
     * it, or MPROF_NO_POSITION. */
    const char *file;
    int64_t position;
};

struct report__thread {
    uint32_t tid;
    uint32_t flags; /* enum mprof_thread_flag */
    enum mprof_heap heap;
    const char *name; /* or NULL */
    uint64_t folded_allocs, folded_bytes;
    uint64_t cut_allocs;
    uint64_t members; /* threads that counted here; name and tid: the last */
    uint64_t marks, unmarked[MPROF_UNMARKED];
    uint64_t stack;
    uint32_t process; /* of profiles that were put together */
    /* Which counts of its totals are true; and whether its spill's are. */
    unsigned true_counts;
    bool has_spill;
};

/* A node.  Parents come before their children.  There may be millions; its
 * counters have the allocations. */
struct report__node {
    uint32_t thread;
    uint32_t parent;   /* MPROF_NONE for the root of a thread */
    uint32_t function; /* MPROF_NONE for the root */
    uint32_t site;     /* where that called; MPROF_NONE: not known, or from
                        * several */
};

/* Frees and lifetimes of a counter's objects, where these are known. */
struct report__lived {
    struct mprof_count freed;
    /* Allocated by chains that end in this short one, and are in a spill or in
     * totals; `freed` has what was freed of these, too. */
    struct mprof_count elsewhere;
    /* C, for `allocated` and `elsewhere`: the part that was live at the peak;
     * the number that the next event freed; and the sum of their lifetimes, in
     * bytes that were allocated meanwhile. */
    struct mprof_count at_peak;
    struct mprof_lost_count lost; /* C: the lost part, if there was a scan */
    uint64_t temporary;
    /* ... or of Lisp: how many collections those survived that are alive. */
    unsigned __int128 lifetime;
};
_Static_assert(sizeof(struct report__lived) == 96, "a block of the pool");

/* Allocations at a node in one class, in Lisp of one type, by one call of the
 * allocator.  There may be a million counters. */
struct report__counter {
    uint32_t node;
    uint32_t site; /* of that call, or MPROF_NONE */
    uint32_t bin;  /* Lisp: its type, or MPROF_NONE: not known */
    uint8_t heap;  /* enum mprof_heap: its thread's */
    uint8_t class_;
    bool is_storage; /* Lisp: blocks that such objects own */
    bool is_spill;   /* its chain is whole, but has its frees elsewhere */
    struct mprof_count allocated;
    struct report__lived *lived; /* NULL: nothing is known, which is so in
                                    spills, and nowhere else of C */
};

/* Return the frees and lifetimes of COUNTER, or zeros. */
static inline const struct report__lived *
report__lived(const struct report__counter *counter) {
    static const struct report__lived nothing;
    return counter->lived != NULL ? counter->lived : &nothing;
}

/* Return the objects of COUNTER, no spill's, that are not freed; in Lisp, not
 * known to be dead. */
static inline struct mprof_count
report__present(const struct report__counter *counter) {
    const struct report__lived *lived = report__lived(counter);
    struct mprof_count all = counter->allocated;
    report__add_count(&all, &lived->elsewhere);
    return report__count_left(all, &lived->freed);
}

/* In place of the index of a function in totals: MPROF_TOP_LEVEL of the tables;
 * see graph/functions.h. */
#define MPROF_TOP_FUNCTION (MPROF_NONE - 1)

/* Allocations of chains that were in spills, by function or arc; all kinds
 * except MPROF_SHORT, which is `elsewhere` above. */
struct report__total {
    uint32_t thread;
    enum mprof_total_kind kind;
    unsigned views; /* enum mprof_view */
    uint32_t class_;
    uint32_t bin; /* for a SELF in Lisp, as above, or MPROF_NONE */
    bool is_storage;
    uint32_t caller;   /* an arc's, or MPROF_NONE */
    uint32_t function; /* or MPROF_TOP_FUNCTION, as the caller */
    uint16_t depth[MPROF_VIEWS];
    struct mprof_count count;
};

/* Whether TOTAL is what a function allocated itself, as tables show that. */
static inline bool report__is_shown_self(const struct report__total *total,
                                         bool all_frames) {
    return total->kind == MPROF_SELF &&
           total->views & (all_frames ? MPROF_ALL_FRAMES : MPROF_SHOWN_FRAMES);
}

/* The C heap by size. */
struct report__size {
    uint32_t thread; /* that allocated */
    uint32_t size;   /* above MPROF_LARGEST_BIN: all larger ones */
    struct mprof_count allocated, freed;
};

struct report__bin {
    uint32_t thread;
    enum mprof_class class_;
    const char *type;
    const char *name; /* class of a structure or instance, or NULL */
    struct mprof_count objects, storage;
    struct mprof_count dead; /* found by the tables, if it is known */
};

/* Where a function calls. */
struct report__site {
    uint32_t function; /* that calls */
    uint32_t module;   /* or MPROF_NONE */
    uint64_t return_address;
};

/* The C heap at one moment. */
struct report__moment {
    uint64_t time;      /* ns of `duration` */
    uint64_t allocated; /* bytes so far */
    struct mprof_count live;
    bool is_peak;
    const char *mark; /* the name that the program gave it, or NULL */
};

/* A root, or objects that are alike and kept by the same keeper. */
struct report__keeper {
    uint32_t outer;    /* the keeper that keeps it, or MPROF_NONE */
    uint32_t counter;  /* C: that such blocks have, or MPROF_NONE */
    const char *label; /* its name, or NULL if it has a counter */
    enum mprof_keeper_kind kind;
    enum mprof_heap heap;
    uint32_t each; /* bytes of each of its objects; 0: they differ */
    struct mprof_count strange; /* its objects that were not recorded */
};

/* Objects of a step that one counter has. */
struct report__holding {
    uint32_t keeper, counter;
    struct mprof_count count;
};

/* Live strings and vectors of numbers that one counter of Lisp has: all blocks,
 * and those with the contents of another one. */
struct report__equal {
    uint32_t counter;
    struct mprof_count compared, equal;
};

/* One of the processes of several profiles; see merge.h. */
struct report__process {
    struct mprof__process process;
    bool open;
    uint64_t start_time, duration; /* as in the profile */
    const char *program;
};

struct report__profile {
    bool open; /* the program runs, or was killed */
    uint32_t pid;
    struct mprof__process process;
    uint64_t start_time, duration; /* ns since 1970, ns */
    uint64_t recorded;             /* ns since 1970, until then */
    uint64_t file_bytes, memory_bytes;
    uint32_t heaps;  /* bits 1 << MPROF_LISP_HEAP, ... */
    uint32_t parent; /* process that forked this one, or 0 */
    uint32_t ppid;   /* its parent when it began, or 0 */
    uint64_t unplaced_allocs, unplaced_bytes;
    uint64_t failed_allocs, unknown_frees;
    uint64_t unplaced_frees, unplaced_freed_bytes;
    uint64_t untracked_allocs, untracked_bytes;
    /* C: live objects at the peak, and the time, in ns of `duration`, when the
     * heap first came within a thousandth of that.  In a copy that was made
     * while the program ran, this may differ from the peak that the program
     * counted. */
    struct mprof_count at_peak;
    uint64_t peak_time, peak_clock, counted_peak;
    /* C, when it is timed: bytes times ns until `load_time`. */
    bool timed;
    unsigned __int128 load;
    uint64_t load_time; /* ns of `duration` */
    uint64_t begun;     /* ns of the machine's clock */
    /* C: not 0 if there was a scan; then enum mprof_scan_flag, and lost blocks
     * that no counter has. */
    uint32_t scan, scan_flags;
    struct mprof_lost_count lost_unplaced;
    /* C: in the order of time; the peak and the last moment are among them. */
    struct report__moment *moments;
    struct mprof_rss *resident;
    uint32_t moment_count, resident_count;
    struct report__moment *marks; /* in the order of time */
    uint32_t mark_count;
    /* Lisp: is it known what is alive, as of the collection that ended the
     * recording, and after so many of them? */
    bool alive, alive_at_end;
    bool alive_missed; /* some deaths were not noticed */
    bool is_alive;     /* in place of all that was allocated; see alive.h */
    uint64_t alive_collections;
    /* Lisp: a byte in so many was looked at, and all numbers are estimates; or
     * 0.  Of several profiles the most. */
    uint32_t sampling;
    /* Lisp: not every collection has a point. */
    struct mprof_collection *collections;
    uint32_t collection_count;
    uint64_t collected, collecting;          /* how often, ns */
    uint64_t most_before;                    /* bytes in use before one */
    const char *program, *command, *runtime; /* "" when unknown */
    const char *unseen; /* allocations that mprof could not observe */
    struct report__module *modules;
    struct report__function *functions;
    struct report__thread *threads;
    struct report__node *nodes;
    struct report__bin *bins;
    struct report__site *sites;
    struct report__counter *counters;
    struct report__total *totals;
    struct report__size *sizes;
    uint32_t module_count, function_count, thread_count;
    uint32_t node_count, bin_count, counter_count, size_count;
    uint32_t site_count;
    uint32_t total_count;
    unsigned looked; /* bits of heaps: keepers are known; outer ones come
                      * first */
    struct report__keeper *keepers;
    struct report__holding *holdings;
    struct report__equal *equals; /* if keepers of Lisp are known */
    uint32_t keeper_count, holding_count, equal_count;
    /* Of profiles that were put together, else none; and how many of them did
     * not look for what is lost. */
    struct report__process *processes;
    uint32_t process_count, unscanned;
};

/* Read the data file PATH.  On failure returns NULL, and *ERROR is one sentence
 * without a newline that names the file and the place. */
struct report__profile *report__read(struct report__pool *pool,
                                     const char *path, const char **error);

/* The same of the file FD, of SIZE bytes, which stays open.  NAME replaces the
 * path in messages. */
struct report__profile *report__read_file(struct report__pool *pool,
                                          const char *name, int fd,
                                          uint64_t size, const char **error);

/* For those who show PROFILE to others: its command becomes the name of the
 * program alone, without arguments, which may be secret.  In POOL. */
void report__leave_out_arguments(struct report__pool *pool,
                                 struct report__profile *profile);

/* Whether HEAP was recorded. */
static inline bool report__has_heap(const struct report__profile *profile,
                                    enum mprof_heap heap) {
    return profile->heaps >> heap & 1;
}

/* As `sampling`, of HEAP. */
static inline uint32_t report__sampling(const struct report__profile *profile,
                                        enum mprof_heap heap) {
    return heap == MPROF_LISP_HEAP ? profile->sampling : 0;
}

/* *SUM += *COUNTS. */
static inline void report__add(struct report__counts *sum,
                               const struct report__counts *counts) {
    for (int i = 0; i < MPROF_CLASSES; i++) {
        sum->by_class[i].allocs += counts->by_class[i].allocs;
        sum->by_class[i].bytes += counts->by_class[i].bytes;
    }
}

/* *SUM += *COUNT. */
static inline void report__add_lost(struct mprof_lost_count *sum,
                                    const struct mprof_lost_count *count) {
    sum->objects += count->objects;
    sum->bytes += count->bytes;
    sum->roots += count->roots;
}

/* Over all classes. */
static inline uint64_t report__bytes(const struct report__counts *counts) {
    uint64_t bytes = 0;
    for (int i = 0; i < MPROF_CLASSES; i++)
        bytes += counts->by_class[i].bytes;
    return bytes;
}

static inline uint64_t report__allocs(const struct report__counts *counts) {
    uint64_t allocs = 0;
    for (int i = 0; i < MPROF_CLASSES; i++)
        allocs += counts->by_class[i].allocs;
    return allocs;
}

/* The build id of MODULE in hexadecimal digits; "" if there is none.  In POOL.
 */
const char *report__build_id(struct report__pool *pool,
                             const struct report__module *module);

/* Read it from the file NAME; false: that is none. */
bool report__read_group(const char *name, struct mprof_group *group);

static inline bool report__is_group(const char *name) {
    struct mprof_group group;
    return report__read_group(name, &group);
}

#endif
