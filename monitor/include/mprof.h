/* mprof.h - start and stop the allocation monitor.
 *
 * The monitor records every allocation of the running program together with
 * the chain of its callers.  It keeps what it records in a data file that
 * `mprof FILE` turns into tables; the file can be read at any time, also while
 * the program runs and after it was killed.
 *
 * libmprof records the Lisp heap of a program that embeds ECL; call these after
 * cl_boot().  libmprof_malloc records the C heap of any program, from its first
 * allocation on, without being called; with these functions the program stops
 * and starts that.
 *
 * Any thread may call any of them at any time.  Only mprof_heap_print() and
 * mprof_scope_print() print, and none of them calls malloc() or the collector
 * or allocates Lisp objects.
 *
 * Functions return 0 or one of the MPROF_E codes; mprof_strerror() explains.
 */
#ifndef MPROF_H
#define MPROF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPROF_API __attribute__((visibility("default")))

enum mprof_error {
    MPROF_E_UNPATCHED = 1, /* the runtime has no hook for the monitor */
    MPROF_E_NOT_BOOTED,    /* the runtime is not there, or not booted yet */
    MPROF_E_RUNNING,       /* running already, into another file */
    MPROF_E_STOPPED,       /* nothing has been recorded */
    MPROF_E_OPEN,          /* the data file cannot be created; see errno */
    MPROF_E_WRITE,         /* the data file cannot be written; see errno */
    MPROF_E_MEMORY,        /* no memory for the monitor's tables; see errno */
    MPROF_E_MALLOC,        /* malloc() cannot be seen: libmprof_malloc is not
                              preloaded or linked */
    MPROF_E_ARGUMENT,      /* NULL or a value that the function does not take;
                             nothing was done */
    MPROF_E_ALIVE,         /* the collector does not report live objects */
    MPROF_E_SAMPLED        /* only some allocations are recorded */
};

/* Heaps, to be combined with |. */
enum mprof_heaps { MPROF_HEAP_LISP = 1, MPROF_HEAP_MALLOC = 2 };

/* Facts about the monitor; see mprof_status(). */
struct mprof_status {
    int running;      /* 1 while allocations are recorded */
    uint64_t allocs;  /* blocks recorded since the first start or reset */
    uint64_t bytes;   /* their bytes */
    uint64_t objects; /* blocks that are Lisp objects */
    uint64_t object_bytes;
    uint64_t threads;         /* that have allocated */
    uint64_t nodes;           /* in all calling-context trees */
    uint64_t folded_allocs;   /* only their innermost functions are known */
    uint64_t unplaced_allocs; /* counted without chain or type */
    uint64_t file_bytes;      /* in use in the data file */
    uint64_t memory_bytes;    /* the monitor's, beside the data file */
    /* The part of allocs and bytes that is in the C heap, and its frees. */
    uint64_t c_allocs;
    uint64_t c_bytes;
    uint64_t c_frees;
    uint64_t c_freed_bytes;
};

/* Start recording, in all threads.
 *
 * FILE names the data file; one that exists is replaced.  NULL keeps the data
 * in memory until mprof_save().  After a stop, starting with the same name (or
 * with NULL) goes on where the stop was; another name begins anew, as after
 * mprof_reset().  Starting when it runs already is 0 and changes nothing, or
 * MPROF_E_RUNNING when FILE is another file. */
MPROF_API int mprof_start(const char *file);

/* Choose the heaps that recordings which begin from now on cover; without it,
 * a library's own.  MPROF_E_MALLOC or MPROF_E_UNPATCHED when one of them cannot
 * be seen in this process, MPROF_E_ARGUMENT for none or others. */
MPROF_API int mprof_set_heaps(unsigned heaps);

/* libmprof only: choose whether recordings of the Lisp heap that begin from now
 * on follow live objects: an object is live until the collector finds it dead.
 * With MPROF_LIVE_ON, mprof_stop() runs a collection first.  With
 * MPROF_LIVE_AS_IT_IS it does not, and objects that were allocated since the
 * last collection count as live.  MPROF_E_ALIVE, MPROF_E_ARGUMENT. */
enum mprof_live { MPROF_LIVE_OFF, MPROF_LIVE_ON, MPROF_LIVE_AS_IT_IS };
MPROF_API int mprof_set_live(int mode);

/* libmprof only: let recordings of the Lisp heap that begin from now on sample
 * one byte in BYTES, on average, and record the objects with a sampled byte; 0:
 * record each allocation.  With sampling all numbers are unbiased estimates.
 * The standard error of n bytes is at most the square root of BYTES times n.
 * Recordings with the C heap do not sample.  MPROF_E_ARGUMENT: 1, or more than
 * MPROF_MOST_SAMPLING. */
#define MPROF_MOST_SAMPLING (1u << 20)
MPROF_API int mprof_set_sampling(unsigned bytes);

/* Mark this moment of a recording that follows live objects: *NUMBER, 1 the
 * first time, separates older allocations from later ones.  MPROF_E_MEMORY
 * after 254.  The second function writes a complete data file, like
 * mprof_save(), in which objects count as live only if they were allocated
 * between two of these moments: 0 is the beginning, and UINT_MAX now.  No
 * collection is run. */
MPROF_API int mprof_snapshot(unsigned *number);
MPROF_API int mprof_save_alive(const char *file, unsigned from, unsigned until);

/* Collect garbage, and add to the data what keeps the live objects alive that
 * were allocated between two such moments, as `mprof --table=kept-by` shows it.
 * Other threads are stopped meanwhile.  mprof_stop() does so for all of them.
 * MPROF_E_ALIVE without live objects, or if they are a sample. */
MPROF_API int mprof_keepers(unsigned from, unsigned until);

/* Execute this program again, from the start and with the same arguments, in a
 * way that malloc() can be seen; for libmprof, which is too late for that when
 * it is loaded.  Open files stay open.  Returns only when it fails. */
MPROF_API int mprof_reexec(void);

/* Stop recording, in all threads, and complete the data file.  When it
 * returns no thread records any more.  Stopping twice is no error.  When C
 * objects that were recorded are freed later, the data file still learns it,
 * until another recording begins.  MPROF_E_WRITE, with errno, when it has
 * stopped, but the file lacks something, as its disk was full. */
MPROF_API int mprof_stop(void);

/* Start again, into FILE (NULL: in memory); when it runs, stop first.  As the
 * 1988 mprof had it; the same as mprof_stop() and mprof_start(FILE). */
MPROF_API int mprof_restart(const char *file);

/* Go on where mprof_stop() stopped, in the same file.  0 when it runs;
 * MPROF_E_STOPPED when nothing has been recorded. */
MPROF_API int mprof_resume(void);

/* Give this moment of the recording NAME, of 1024 bytes at most: `mprof curve`
 * shows it.  MPROF_E_STOPPED while nothing is recorded, MPROF_E_MEMORY when
 * there is no space for it. */
MPROF_API int mprof_mark(const char *name);

/* Have the data written to the disk each time a thread has made COUNT more
 * allocations of the C heap; 0 or less, as at the beginning, leaves that to the
 * system.  This matters only if the whole machine crashes: after any other end
 * a process has everything in its data file. */
MPROF_API void set_mprof_autosave(int count);

/* Forget what was recorded.  A running monitor goes on, from zero. */
MPROF_API int mprof_reset(void);

/* Write what is recorded so far to FILE, a complete data file.  The monitor
 * may be running.  FILE appears in one step, or stays as it was on error; NULL
 * is MPROF_E_ARGUMENT. */
MPROF_API int mprof_save(const char *file);

/* Fill *STATUS; NULL is MPROF_E_ARGUMENT.  The numbers of other running threads
 * may be a moment old. */
MPROF_API int mprof_status(struct mprof_status *status);

/* Limit on the data file and the memory of the trees together, in bytes, 16 GiB
 * at most.  Unless set it is what MPROF_LIMIT says in the environment, or 1
 * GiB, or an eighth of the machine's memory if that is less.  Takes effect when
 * the next data file is begun.  Beyond the limit, new chains keep only their
 * innermost functions.  The bytes of each function stay exact, and the file
 * says how many allocations that concerns. */
MPROF_API void mprof_set_limit(uint64_t bytes);

/* Unless ON is 0, as at the beginning, have a line written on standard error
 * when the process ends normally, if the data file lacks something because the
 * system refused to let it grow: no space on the device, say. */
MPROF_API void mprof_set_warnings(int on);

/* The C heap now: bytes that were asked for and not freed, the most that these
 * ever were, all bytes that were asked for, and the number of allocations.
 * They count recorded events, since the first start or reset; 0 without a
 * recording.  Exact for this thread's events, and for earlier events of other
 * threads. */
MPROF_API uint64_t mprof_heap_current(void);
MPROF_API uint64_t mprof_heap_peak(void);
MPROF_API uint64_t mprof_heap_total(void);
MPROF_API uint64_t mprof_heap_count(void);

/* From now on mprof_heap_peak() is the most since now.  The peak in the data
 * file stays what it is.  Each event of the heap takes a lock from then on. */
MPROF_API void mprof_heap_reset_peak(void);

/* Have FUNCTION called after each change of the C heap, with COOKIE and the
 * bytes that are in use then, by the thread that changes it.  Its own
 * allocations and frees do not call it again.  NULL: stop that. */
typedef void (*mprof_heap_function)(void *cookie, uint64_t current);
MPROF_API void mprof_heap_callback(mprof_heap_function function, void *cookie);

/* Print the four numbers in one line on standard error, behind LABEL. */
MPROF_API void mprof_heap_print(const char *label);

/* Of libmprof: count what this thread allocates in the Lisp heap from here on,
 * by numbers alone; within another count, too, at most 64 deep.  Nothing needs
 * to be recorded, and what is recorded does not change.  MPROF_E_UNPATCHED when
 * it cannot be seen, MPROF_E_ARGUMENT when that is too deep.  Then end it:
 * MPROF_E_ARGUMENT when none was begun.  And what the last one of this thread
 * that has ended has counted: blocks and bytes. */
MPROF_API int mprof_count_begin(void);
MPROF_API int mprof_count_end(void);
MPROF_API void mprof_counted(uint64_t *allocs, uint64_t *bytes);

/* libmprof only: do not record this thread's allocations in the Lisp heap from
 * the call with 1 to the call with 0.  Calls may be nested.  For code that
 * looks at a running recording. */
MPROF_API void mprof_silence(int begins);

/* Of libmprof: bytes of the Lisp heap in blocks that are in use now, with what
 * the collector has not found to be garbage yet; and the most that they were
 * before a collection, or when one of these was called, since the first of
 * these calls or the first recording. */
MPROF_API uint64_t mprof_lisp_heap_current(void);
MPROF_API uint64_t mprof_lisp_heap_peak(void);

/* The allocations of this thread between two moments, exactly and by chains.
 * From mprof_scope_begin() to mprof_scope_end() the scope has the thread's
 * allocations in HEAPS, 0 for all that are recorded.  MPROF_E_STOPPED when they
 * are not recorded, or were stopped or begun anew meanwhile; MPROF_E_MEMORY
 * when there is no memory.  The recording itself does not change, and scopes
 * may be nested.  The beginning copies the thread's counts; mprof_scope_free()
 * gives the copy back, whether the scope has ended or not.  All zeros is a free
 * scope.
 *
 * Allocations that found no place in the data file, normally none, count here
 * whichever thread made them. */
struct mprof_scope {
    uint64_t allocs, bytes; /* when it has ended */
    struct mprof__within *within;
};
MPROF_API int mprof_scope_begin(struct mprof_scope *scope, unsigned heaps);
MPROF_API int mprof_scope_end(struct mprof_scope *scope);
MPROF_API void mprof_scope_free(struct mprof_scope *scope);

/* While the recording still runs: write a data file to FILE with the
 * allocations of SCOPE, which has ended, and no others.  It has no frees of the
 * C heap: all allocations there look kept.  Otherwise like mprof_save(). */
MPROF_API int mprof_scope_save(const struct mprof_scope *scope,
                               const char *file);

/* Print the chains of SCOPE on standard error, ROWS of them at most and those
 * with most bytes first, by the command mprof: MPROF_COMMAND in the
 * environment, or that which was installed with this library, or one in PATH.
 * MPROF_E_OPEN when there is none. */
MPROF_API int mprof_scope_print(const struct mprof_scope *scope, unsigned rows);

/* Paint the stack of this thread below the caller's frame, 64 MiB of it at
 * most, and return the argument for mprof_stack_used().  That function returns
 * how many bytes were in use since: up to the lowest byte that was written.  It
 * must be called in the same thread, while the caller's frame exists.  0 when
 * nothing is painted. */
MPROF_API void *mprof_stack_clear(void);
MPROF_API uint64_t mprof_stack_used(const void *base);

/* A sentence for an error code, any number, in English, static. */
MPROF_API const char *mprof_strerror(int error);

/* "1.0": the version of this library, static. */
MPROF_API const char *mprof_version(void);

#ifdef __cplusplus
}
#endif
#endif
