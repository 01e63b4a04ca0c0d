/* ecl_keep.c - objects that stay while the profile may ask for them.
 *
 * They are listed in memory of our own, which the collector is shown as one
 * more root whenever it marks; nothing comes from its heap.
 */
#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/ecl/ecl_adapter.h"

/* Headers of the collector that this ECL has: its own, in libecl, or the
 * system's. */
#if GBC_BOEHM == 0
#include <ecl/gc/gc_mark.h>
#else
#include <gc/gc_mark.h>
#endif

#include "monitor/base/table.h"

enum { PIECE = 4096 };

struct piece {
    struct piece *next;
    size_t count; /* grows after the object is stored */
    uintptr_t object[PIECE];
};

static struct piece *pieces; /* the newest first; atomic */
static GC_push_other_roots_proc others;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static void push_roots(void) {
    struct piece *p = mprof__load_acquire(&pieces);
    for (; p != NULL; p = p->next)
        /* void * since version 8 */
        GC_push_all((char *)p->object, (char *)(p->object + p->count));
    if (others != NULL)
        others();
}

void mprof__ecl_keep_start(void) {
    if (GC_get_push_other_roots() == push_roots)
        return;
    others = GC_get_push_other_roots();
    GC_set_push_other_roots(push_roots);
}

/* Pieces are used again and never given back: the collector may be marking
 * from them. */
static struct piece *with_room(void) {
    struct piece *p = pieces;
    while (p != NULL && p->count == PIECE)
        p = p->next;
    if (p != NULL)
        return p;
    p = mprof__map(sizeof *p);
    if (p != NULL) {
        p->next = pieces;
        mprof__store_release(&pieces, p);
    }
    return p;
}

void mprof__ecl_keep(uintptr_t object) {
    mprof__lock(&adding);
    struct piece *p = with_room();
    /* Without memory the object may be collected and its address used again:
     * a name may then be wrong, a number never. */
    if (p != NULL) {
        p->object[p->count] = object;
        mprof__store_release(&p->count, p->count + 1);
    }
    mprof__unlock(&adding);
}

void mprof__ecl_forget(void) {
    mprof__lock(&adding);
    for (struct piece *p = pieces; p != NULL; p = p->next)
        mprof__store_release(&p->count, 0);
    mprof__unlock(&adding);
}

void mprof__ecl_each_kept(void (*visit)(const uintptr_t *objects, size_t count,
                                        void *data),
                          void *data) {
    const struct piece *p = mprof__load_acquire(&pieces);
    for (; p != NULL; p = p->next)
        visit(p->object, p->count, data);
}

void mprof__ecl_keep_forked(void) {
    pthread_mutex_init(&adding, NULL);
}
