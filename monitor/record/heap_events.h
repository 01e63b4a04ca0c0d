/* heap_events.h - what the runtime reports to the monitor: allocations and
 * frees of the two heaps.
 *
 * The functions are called in the hook, by the thread that allocates or frees,
 * while a recording runs.
 */
#ifndef MONITOR_RECORD_HEAP_EVENTS_H
#define MONITOR_RECORD_HEAP_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/format/format.h"

/* An allocation of Lisp; from a sample, one that represents others of its size.
 */
struct mprof__event {
    struct mprof_count count;
    uint8_t class_;   /* enum mprof_class */
    uint8_t type;     /* the adapter's number for it, below MPROF__TYPES */
    bool storage;     /* a block that belongs to an object of that type */
    uintptr_t object; /* the class of an instance, or 0; kept alive */
    const void *block;
};

/* Record EVENT for ME, who is inside already and leaves here, or is NULL when
 * it cannot be.  FRAME is the MPROF__FRAME() of the hook function, which must
 * have been compiled with a frame pointer: the chain begins at its caller.
 * BY_RULES: a walk by cells led nowhere, or there was no room.  The quick way
 * is in find_counter.h. */
struct mprof__self;
void mprof__allocated_inside(struct mprof__self *me, struct mprof__event *event,
                             const void *frame, bool by_rules);

/* Record the end of a collection.  IS_ALIVE returns true if the object at an
 * address was marked.  Under the collector's lock, from outside of the hook. */
void mprof__lisp_collected(bool (*is_alive)(const void *address));

/* BLOCK, if it was recorded, is about to be given back.  With the collector's
 * lock, from inside of the hook.  NULL. */
void *mprof__lisp_freed(void *block);

/* There was a collection that took NS, with so many bytes of the heap in use
 * before and after it.  From outside of the hook, by one thread at a time. */
void mprof__collected(uint64_t ns, uint64_t before, uint64_t after);

/* Record that the C heap gave OBJECT for a request of BYTES bytes; FRAME as
 * above. */
void mprof__c_allocated(const void *object, uint64_t bytes, const void *frame);

/* Count a request that was refused. */
void mprof__c_failed(void);

/* Record that OBJECT is about to be freed. */
void mprof__c_release(const void *object);

/* Return true if a signal handler is between the function with FRAME and one
 * at STACK, further out.  Not known while nothing is recorded. */
bool mprof__c_interrupts(const void *frame, uintptr_t stack);

/* A free in two steps, for realloc().  `take` forgets OBJECT and stores in
 * *WHAT what it was; false: it was not recorded.  Then `freed` counts the free,
 * or `untake` puts OBJECT back.  `moved` ends the two steps. */
struct mprof__object;
bool mprof__c_take(const void *object, struct mprof__object *what);
void mprof__c_freed(const struct mprof__object *what);
void mprof__c_untake(const void *object, const struct mprof__object *what);
void mprof__c_moved(void);

/* The variants for recordings that are timed; see log.h.  COUNT is the number
 * of elements of calloc(), 0 for others.  realloc() has two steps: `resizing`
 * forgets the old object and stores in *WHAT what it was (false: it was not
 * recorded); `resized` counts the result.  Between them the thread stays inside
 * the hook and holds the log, because another thread may get the old address.
 */
struct mprof__resized;
void mprof__c_allocated_timed(const void *object, uint64_t bytes,
                              uint64_t count, const void *frame);
void mprof__c_release_timed(const void *object);
bool mprof__c_resizing_timed(const void *object, struct mprof__object *what,
                             const void *frame);
void mprof__c_resized_timed(const struct mprof__resized *r, const void *frame);

/* The module at START..END is about to be unloaded: forget all that is known of
 * its code.  Between enter and leave. */
void mprof__module_unloads(uintptr_t start, uintptr_t end);

/* Return true if the recording is timed. */
bool mprof__timed(void);

#endif
