/* adapter.h - what the monitor asks of the runtime that feeds it.
 *
 * The monitor itself knows neither Lisp nor malloc.  An adapter reports
 * allocations (heap_events.h), and answers questions about objects and
 * functions that only the runtime can answer.  The thread that allocates asks,
 * from inside of the hook: an answer may neither allocate, nor lock, nor
 * signal.
 */
#ifndef MONITOR_NAMES_ADAPTER_H
#define MONITOR_NAMES_ADAPTER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/format/format.h"

struct mprof__keepers;
struct mprof__epochs;
struct mprof__equals;
struct mprof__chain;
struct mprof__frame;
struct mprof__names;
struct link_map;

enum { MPROF__TYPES = 128, MPROF__NAME_BYTES = 512 };

/* The object that represents all forms which are evaluated only once. */
enum { MPROF__TOPLEVEL_OBJECT = 2 };

/* The position of a function in the source; "": not known. */
struct mprof__source {
    char file[1024];
    int64_t position; /* see format.h */
};

/* A function as the runtime knows it. */
struct mprof__name {
    uint32_t kind;                  /* enum mprof_function_kind */
    char text[MPROF__NAME_BYTES];   /* "" when it has no name there */
    char symbol[MPROF__NAME_BYTES]; /* of its ELF file; "" leaves it to the
                                       reader */
    struct mprof__source source;
    bool certain; /* it will not be another one at the end; see rename() */
};

struct mprof__adapter {
    /* The heaps that are recorded unless others are asked for: bits 1 <<
     * MPROF_LISP_HEAP, 1 << MPROF_C_HEAP. */
    unsigned heaps;
    /* Can allocations in all HEAPS be seen?  0 or an MPROF_E code. */
    int (*check)(unsigned heaps);
    /* Start and stop reporting allocations, as record/heap_events.h says.
     * Before `attach` the session is complete; after `detach` late calls may
     * come. */
    void (*attach)(unsigned heaps);
    void (*detach)(void);
    /* From `defer` to `undefer` the runtime does not interrupt this thread.
     * `undefer` gets the value that `defer` returned.  Both or none are NULL.
     */
    int (*defer)(void);
    void (*undefer)(int deferred);
    /* In the child of a fork: locks that other threads held are free. */
    void (*forked)(void);
    /* ... and begin a recording there, beside the parent's in FILE; or NULL. */
    void (*follow)(const char *file);
    /* This process is a child of a raw clone() and allocates: nothing is
     * recorded.  Called in the hook, or NULL. */
    void (*cloned)(void);
    /* The process ends, and so did its recording; or NULL. */
    void (*ended)(void);
    /* Look again for names of functions that NAMES has; called outside of
     * the hook, when the recording stops or is saved. */
    void (*rename)(struct mprof__names *names);
    /* Return the runtime's object for the calling thread, kept alive; 0: it has
     * none.  And return true if that thread has ended.  For the program it has
     * ended as soon as another thread joined it, even if the system still
     * removes it.  Called outside of the hook when the recording stops or is
     * saved.  Both or none are NULL. */
    uintptr_t (*self)(void);
    bool (*has_ended)(uintptr_t self);
    void (*runtime)(char *text, size_t size);
    void (*thread)(char *text, size_t size);
    /* Describe the allocations of the C heap that mprof cannot observe; "":
     * there are none.  Called outside of the hook and of all locks.  Or NULL.
     */
    void (*unseen)(char *text, size_t size);
    /* Call FUNCTION with COOKIE and the live bytes after each change of the C
     * heap, from outside the hook; NULL: stop that.  Or NULL. */
    void (*watch)(void (*function)(void *cookie, uint64_t current),
                  void *cookie);
    /* Return true if the function at START is the interpreter.  Its frames are
     * replaced by the functions that they interpret: */
    bool (*interprets)(uintptr_t start);
    /* Set `object` in the interpreter's frames of the chain, except in those
     * that are `unreturned`.  `reused` ends at a frame where it changes. */
    void (*match)(struct mprof__chain *chain);
    /* Return the word in the interpreter's frame [LOW, HIGH) that says which
     * function runs there; NULL: not known.  And return the object that such a
     * word means; 0: the interpreter itself. */
    const uintptr_t *(*runs)(uintptr_t low, uintptr_t high);
    uintptr_t (*object)(uintptr_t word);
    /* Name the native function at START, or the interpreted one OBJECT (or
     * NULL); its callers in the chain are FRAMES[index - 1] and down. */
    void (*native)(uintptr_t start, struct link_map *module,
                   struct mprof__name *name);
    void (*interpreted)(const struct mprof__frame *frames, size_t index,
                        struct mprof__name *name);
    /* Lisp's type, and an object's class: "structure" and "ZOO:POINT". */
    const char *(*type)(unsigned type, uintptr_t object, char *name,
                        size_t size);
    /* Return true if a collector reports live objects; and run a collection.
     * Called outside of the hook.  Both or none are NULL. */
    bool (*reports_live)(void);
    void (*collect)(void);
    /* Collect, and add to KEEPERS what keeps objects alive, and to EQUALS
     * blocks whose contents were compared.  Objects that were recorded in
     * EPOCHS or, if that is NULL, at any time have their counters there.  0, or
     * an error of mprof.h.  Outside of the hook.  Or NULL. */
    int (*keepers)(struct mprof__keepers *keepers, struct mprof__equals *equals,
                   const struct mprof__epochs *epochs);
    /* Keep OBJECT of Lisp from being collected until `forget`. */
    void (*keep)(uintptr_t object);
    void (*forget)(void);
};

/* The adapter of this library. */
extern const struct mprof__adapter mprof__adapter;

#endif
