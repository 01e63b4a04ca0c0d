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
    MPROF_E_ALIVE,         /* the collector does not tell what is alive */
    MPROF_E_SAMPLED        /* only some allocations are recorded */
};

/* Heaps, to be combined with |. */
enum mprof_heaps { MPROF_HEAP_LISP = 1, MPROF_HEAP_MALLOC = 2 };

/* Facts about the monitor; see mprof_status(). */
struct mprof_status {
    int running;      /* 1 while allocations are recorded */
    uint64_t allocs;  /* blocks recorded since the first start or reset */
    uint64_t bytes;   /* their bytes */
    uint64_t objects; /* of the blocks, those that are Lisp objects */
    uint64_t object_bytes;
    uint64_t threads;         /* that have allocated */
    uint64_t nodes;           /* of all calling-context trees */
    uint64_t folded_allocs;   /* only their innermost functions are known */
    uint64_t unplaced_allocs; /* counted without chain or type */
    uint64_t file_bytes;      /* in use in the data file */
    uint64_t memory_bytes;    /* of the monitor beside the data file */
    /* Of allocs and bytes, those of the C heap, and what became of them. */
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

/* Of libmprof: choose whether recordings of the Lisp heap that begin from now
 * on tell what is alive: each object until the collector finds it dead.  With
 * MPROF_LIVE_ON stopping, by mprof_stop(), has the collector collect first;
 * with MPROF_LIVE_AS_IT_IS it does not, and what was allocated since the last
 * collection is taken for alive.  MPROF_E_ALIVE, MPROF_E_ARGUMENT. */
enum mprof_live { MPROF_LIVE_OFF, MPROF_LIVE_ON, MPROF_LIVE_AS_IT_IS };
MPROF_API int mprof_set_live(int mode);

/* Of libmprof: let recordings of the Lisp heap that begin from now on look at
 * one byte in BYTES only, on average, and record the objects that these are in;
 * 0: at each allocation.  All numbers are estimates then, whose mean is the
 * truth and whose standard error is no more than the square root of BYTES times
 * what they tell.  Recordings with the C heap are as without. MPROF_E_ARGUMENT:
 * 1, or more than MPROF_MOST_SAMPLING. */
#define MPROF_MOST_SAMPLING (1u << 20)
MPROF_API int mprof_set_sampling(unsigned bytes);

/* While that is recorded: what is allocated from now on can be told from what
 * was allocated before, by *NUMBER, 1 the first time; MPROF_E_MEMORY after 254.
 * And write a complete data file, as mprof_save() does, in which of what is
 * alive only that counts as alive which was allocated from one of these moments
 * until another one: 0 is the beginning, and UINT_MAX now.  Nothing is
 * collected. */
MPROF_API int mprof_snapshot(unsigned *number);
MPROF_API int mprof_save_alive(const char *file, unsigned from, unsigned until);

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
 * tells it.  MPROF_E_STOPPED while nothing is recorded, MPROF_E_MEMORY when
 * there is no room for it. */
MPROF_API int mprof_mark(const char *name);

/* Have the data written to the disk each time a thread has made COUNT more
 * allocations of the C heap; 0 or less, as at the beginning, leaves that to the
 * system.  Only a crash of the whole machine makes a difference: the data file
 * of a process that dies in any other way has everything. */
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
 * the next data file is begun.  Of chains that are new past it, only the
 * innermost functions are told apart: what each allocated stays exact, the file
 * says how many allocations were concerned. */
MPROF_API void mprof_set_limit(uint64_t bytes);

/* Unless ON is 0, as at the beginning, have a line written on standard error
 * when the process ends normally, if the data file lacks something because the
 * system refused to let it grow: no space on the device, say. */
MPROF_API void mprof_set_warnings(int on);

/* The C heap now: bytes that were asked for and not freed, the most that these
 * ever were, all bytes that were asked for, and how many allocations that was.
 * Of what is recorded, since the first start or reset; 0 where nothing is.
 * Exact for what this thread did, and for what others did before. */
MPROF_API uint64_t mprof_heap_current(void);
MPROF_API uint64_t mprof_heap_peak(void);
MPROF_API uint64_t mprof_heap_total(void);
MPROF_API uint64_t mprof_heap_count(void);

/* From now on mprof_heap_peak() is the most since now.  The peak in the data
 * file stays what it is.  Each event of the heap takes a lock from then on. */
MPROF_API void mprof_heap_reset_peak(void);

/* Have FUNCTION called after each change of the C heap, with COOKIE and the
 * bytes that are in use then, by the thread that changes it; what it allocates
 * or frees itself does not call it again.  NULL: no more. */
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

/* Of libmprof: what this thread allocates in the Lisp heap is not recorded from
 * the call with 1 to that with 0, which may be nested: for what looks at a
 * recording that runs. */
MPROF_API void mprof_silence(int begins);

/* Of libmprof: bytes of the Lisp heap in blocks that are in use now, with what
 * the collector has not found to be garbage yet; and the most that they were
 * before a collection, or when one of these was called, since the first of
 * these calls or the first recording. */
MPROF_API uint64_t mprof_lisp_heap_current(void);
MPROF_API uint64_t mprof_lisp_heap_peak(void);

/* A stretch of what one thread does, by that thread.  From mprof_scope_begin()
 * to mprof_scope_end() it is noted what the thread allocates in HEAPS, 0 for
 * all that are recorded, exactly and by chains; MPROF_E_STOPPED when they are
 * not recorded, or were stopped or begun anew meanwhile, MPROF_E_MEMORY when
 * there is no memory.  What is recorded does not change, and scopes may lie in
 * one another.  The beginning takes a copy of what the thread has counted so
 * far, which mprof_scope_free() gives back, whether it has ended or not; all
 * zeros is a scope that is free.
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

/* While it is recorded yet: write a data file to FILE with the allocations of
 * SCOPE, which has ended, and no others.  Of the C heap it does not tell what
 * became of them: there all are kept.  As mprof_save() otherwise. */
MPROF_API int mprof_scope_save(const struct mprof_scope *scope,
                               const char *file);

/* Print the chains of SCOPE on standard error, ROWS of them at most and those
 * with most bytes first, by the command mprof: MPROF_COMMAND in the
 * environment, or that which was installed with this library, or one in PATH.
 * MPROF_E_OPEN when there is none. */
MPROF_API int mprof_scope_print(const struct mprof_scope *scope, unsigned rows);

/* Paint the stack of this thread below the caller's frame, 64 MiB of it at
 * most; what mprof_stack_used() is to be given.  That tells how many bytes of
 * it were in use since, up to where something was written that is lowest; as
 * long as the caller's frame is there, in the same thread.  0 when nothing is
 * painted. */
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
