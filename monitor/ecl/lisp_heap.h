/* lisp_heap.h - the Lisp heap as a graph.
 *
 *     certain roots, such as values      stacks, for objects that
 *     of symbols                         nothing else leads to
 *           |                              |
 *           +---------------+--------------+
 *                           v
 *     objects that the collector marked, and the objects that they point to
 *
 * The collector stops other threads while we read that.  The type of an object
 * is in its header; an object without one may be storage that another object
 * owns, such as the data of a hash table.
 */
#ifndef MONITOR_ECL_LISP_HEAP_H
#define MONITOR_ECL_LISP_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ecl/ecl.h>

#include "monitor/base/objects.h"
#include "monitor/ecl/collector.h"
#include "monitor/ecl/lisp_roots.h"
#include "monitor/graph/graph.h"

/* In place of a type: */
enum {
    MPROF__OTHER = t_start, /* not known */
    MPROF__CONS = t_list,
    MPROF__STORAGE = 255, /* of another object */
    MPROF__ROOTS = 254    /* its words are roots */
};

struct mprof__lisp_object {
    uintptr_t at;
    uint64_t bytes : 48; /* as the collector has it */
    uint64_t type : 8;   /* of ECL, or one of those above */
    uint64_t kind : 8;   /* enum mprof__collected */
};

struct mprof__lisp_heap {
    struct mprof__graph graph;
    struct mprof__lisp_roots roots; /* entry i is node i + 1 */
    struct mprof__lisp_object *objects;
    size_t count, room;  /* of objects */
    uint32_t *index;     /* a hash table: numbers of objects + 1, by address */
    size_t slots;        /* in it, a power of two */
    uintptr_t low, high; /* all objects are in this range */
    bool failed;         /* there was no memory */
    bool stopped;        /* other threads are stopped */
    uint64_t begun;      /* ns, when a prompt waits for it; or 0 */
    bool has_said;       /* how far it is */
};

/* Stores in *WHAT the counter and the bytes of the object at ADDRESS; the
 * counter is 0, and stays so if the object was not recorded. */
struct mprof__lisp_recorded {
    void (*find)(uintptr_t address, const void *data,
                 struct mprof__object *what);
    const void *data;
};

enum mprof__lisp_look {
    MPROF__OBJECTS, /* objects, without a graph */
    MPROF__GRAPH,   /* and the graph, with bytes as the collector has them */
    MPROF__AT_PROMPT = 2 /* flag: say on standard error what takes long */
};

/* Collect garbage, look at what is left, and call SEE with it and DATA; WHAT is
 * an enum mprof__lisp_look.  Meanwhile other threads are stopped: nothing may
 * take a lock, nor cons.  0, or an error of mprof.h: MPROF_E_MEMORY with EFAULT
 * in errno if an object led to where there is no memory.  Outside of the hook,
 * in a thread of Lisp whose interrupts are disabled. */
int mprof__lisp_heap_look(unsigned what,
                          void (*see)(struct mprof__lisp_heap *heap,
                                      void *data),
                          void *data);

/* Say that HEAP takes long, and WHAT it does next with its objects. */
void mprof__lisp_heap_says(struct mprof__lisp_heap *heap, const char *what);

/* The node of the object that WORD is the address of, as Lisp has it; 0: of
 * none. */
uint32_t mprof__lisp_node(const struct mprof__lisp_heap *heap, uintptr_t word);

/* The object that is NODE, NULL: it is none; or the root, likewise. */
static inline const struct mprof__lisp_object *
mprof__lisp_object(const struct mprof__lisp_heap *heap, uint32_t node) {
    size_t number = (size_t)node - heap->graph.roots - 1;
    return node > heap->graph.roots && number < heap->count
               ? &heap->objects[number]
               : NULL;
}

static inline const struct mprof__lisp_root *
mprof__lisp_root(const struct mprof__lisp_heap *heap, uint32_t node) {
    return node > 0 && node <= heap->graph.roots ? &heap->roots.list[node - 1]
                                                 : NULL;
}

/* May it have pointers? */
static inline bool mprof__lisp_points(const struct mprof__lisp_object *object) {
    return object->kind == MPROF__POINTERS ||
           object->kind == MPROF__UNCOLLECTED;
}

/* lisp_objects.c.  The type of OBJECT, which has none yet, by its own words. */
unsigned mprof__lisp_type(const struct mprof__lisp_object *object);

/* The parts of memory that OBJECT owns, COUNT of them. */
enum { MPROF__MOST_OWNED = 3 };
size_t mprof__lisp_owned(const struct mprof__lisp_object *object,
                         uintptr_t owned[MPROF__MOST_OWNED]);

#endif
