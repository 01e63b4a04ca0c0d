/* lisp_kept.h - what keeps objects of Lisp alive, in the programmer's words. */
#ifndef MONITOR_ECL_LISP_KEPT_H
#define MONITOR_ECL_LISP_KEPT_H

#include "monitor/ecl/lisp_heap.h"
#include "monitor/ecl/lisp_names.h"
#include "monitor/graph/keepers.h"

/* How one object leads to another.  From here on: by a slot. */
enum {
    MPROF__SOMEHOW,
    MPROF__KEY,
    MPROF__AS_VALUE,
    MPROF__VARIABLE,
    MPROF__SLOTS = 16
};

/* Is NODE storage that OWNER, an object or NULL, owns? */
bool mprof__lisp_is_part(const struct mprof__lisp_object *node,
                         const struct mprof__lisp_object *owner);

/* Call VISIT for each node that a word of FROM leads to, with the way that is;
 * OWNER owns FROM, if FROM is storage. */
void mprof__lisp_each_way(
    const struct mprof__lisp_heap *heap, const struct mprof__lisp_object *from,
    const struct mprof__lisp_object *owner,
    void (*visit)(uint32_t node, unsigned how, void *data), void *data);

/* The name of ROOT, with the thread where it is the value or without it; and of
 * an OBJECT that OWNER leads to by HOW. */
void mprof__lisp_root_name_there(const struct mprof__lisp_root *root,
                                 struct mprof__text *text);
void mprof__lisp_root_name(const struct mprof__lisp_root *root,
                           struct mprof__text *text);
void mprof__lisp_keeper_name(const struct mprof__lisp_heap *heap,
                             const struct mprof__lisp_object *object,
                             const struct mprof__lisp_object *owner,
                             unsigned how, struct mprof__text *text);

/* The class of an instance or structure; OBJNULL: none. */
cl_object mprof__lisp_class(const struct mprof__lisp_heap *heap,
                            const struct mprof__lisp_object *object);

/* The adapter's answer: see names/adapter.h. */
struct mprof__epochs;
struct mprof__equals;
int mprof__lisp_keepers(struct mprof__keepers *keepers,
                        struct mprof__equals *equals,
                        const struct mprof__epochs *epochs);

/* Add all objects of HEAP to KEEPERS, which have begun. */
void mprof__lisp_add_keepers(const struct mprof__lisp_heap *heap,
                             struct mprof__keepers *keepers,
                             const struct mprof__lisp_recorded *recorded);

#endif
