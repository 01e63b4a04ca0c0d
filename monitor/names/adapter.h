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

struct mprof__chain;
struct mprof__frame;
struct mprof__names;
struct link_map;

enum { MPROF__TYPES = 128, MPROF__NAME_BYTES = 512 };

/* The object that stands for all forms which are evaluated only once. */
enum { MPROF__TOPLEVEL_OBJECT = 2 };

/* Where a function stands in the source; "": not known. */
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
    /* Start and stop calling mprof__allocated() or mprof__c_allocated().
     * Before `attach` the session is complete; after `detach` late calls may
     * come. */
    void (*attach)(unsigned heaps);
    void (*detach)(void);
    /* What the runtime does on its own to interrupt this thread waits from
     * `defer` to `undefer`, which gets what the former returned; both or
     * none are NULL. */
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
    /* The thread that calls as the runtime knows it, kept alive; 0: it does
     * not. And has that ended?  To the program it has as soon as somebody
     * waited for it, while the system still takes it away.  Called outside of
     * the hook when the recording stops or is saved.  Or both are NULL. */
    uintptr_t (*self)(void);
    bool (*has_ended)(uintptr_t self);
    void (*runtime)(char *text, size_t size);
    void (*thread)(char *text, size_t size);
    /* What the program allocates in the C heap by ways that nobody sees, "" if
     * there are none; called outside of the hook and of all locks.  Or NULL. */
    void (*unseen)(char *text, size_t size);
    /* Call FUNCTION with COOKIE and the bytes that live now after each change
     * of the C heap, from outside of the hook; NULL: no more.  Or NULL. */
    void (*watch)(void (*function)(void *cookie, uint64_t current),
                  void *cookie);
    /* Is the function at START the interpreter?  Its frames are replaced by
     * what they interpret: */
    bool (*interprets)(uintptr_t start);
    /* For the frames of a chain that interpret, but for those that are
     * `unreturned`, set `object`; what is `reused` ends at one where it
     * changes. */
    void (*match)(struct mprof__chain *chain);
    /* Where in the frame [LOW, HIGH) of the interpreter it says what runs
     * there; NULL: nobody knows.  And the object that such a word means; 0: the
     * interpreter itself. */
    const uintptr_t *(*runs)(uintptr_t low, uintptr_t high);
    uintptr_t (*object)(uintptr_t word);
    /* Name the native function at START, or the interpreted one OBJECT; its
     * callers in the chain are FRAMES[index - 1] and down. */
    void (*native)(uintptr_t start, struct link_map *module,
                   struct mprof__name *name);
    void (*interpreted)(const struct mprof__frame *frames, size_t index,
                        struct mprof__name *name);
    /* Type, and for an object its class: "structure" and "ZOO:POINT". */
    const char *(*type)(unsigned type, uintptr_t object, char *name,
                        size_t size);
    /* Does a collector tell what is alive?  Have it collect; called outside of
     * the hook.  Or both are NULL. */
    bool (*tells_alive)(void);
    void (*collect)(void);
    /* Keep OBJECT from being collected until `forget`. */
    void (*keep)(uintptr_t object);
    void (*forget)(void);
};

/* The adapter of this library. */
extern const struct mprof__adapter mprof__adapter;

#endif
