/* collector.c - see collector.h. */
#include "monitor/ecl/collector.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

#include "monitor/base/atomic.h"
#include "monitor/format/process.h"
#include "monitor/include/mprof.h"
#include "monitor/record/heap_events.h"

/* Of gc.h, which need not be installed; one that comes with ECL may lack them.
 */
enum { GC_EVENT_START = 0, GC_EVENT_RECLAIM_END = 4, GC_EVENT_END = 5 };
typedef void collection_event(int event);
extern void GC_set_on_collection_event(collection_event *)
    __attribute__((weak));
extern collection_event *GC_get_on_collection_event(void) __attribute__((weak));
extern size_t GC_get_heap_size(void) __attribute__((weak));
extern size_t GC_get_free_bytes(void) __attribute__((weak));
extern void *GC_base(void *) __attribute__((weak));
extern int GC_is_marked(const void *) __attribute__((weak));
extern void GC_gcollect(void) __attribute__((weak));
extern void *GC_call_with_alloc_lock(void *(*)(void *), void *)
    __attribute__((weak));

extern void GC_stop_world_external(void) __attribute__((weak));
extern void GC_start_world_external(void) __attribute__((weak));
extern void
GC_enumerate_reachable_objects_inner(void (*)(void *, size_t, void *), void *)
    __attribute__((weak));
extern int GC_get_kind_and_size(const void *, size_t *) __attribute__((weak));

static collection_event *theirs; /* who watched before, or NULL */
static uint64_t highest;         /* atomic */
static uint64_t began, before;   /* of a collection; the collector's lock */

/* Without a lock: the number may be from between two changes. */
static uint64_t in_use(void) {
    if (GC_get_heap_size == NULL || GC_get_free_bytes == NULL)
        return 0;
    uint64_t heap = GC_get_heap_size(), unused = GC_get_free_bytes();
    uint64_t bytes = heap > unused ? heap - unused : 0;
    uint64_t most = mprof__load_relaxed(&highest);
    while (bytes > most && !mprof__replace(&highest, &most, bytes))
        ;
    return bytes;
}

/* Return true if an object of GC_malloc() and the like is marked.  Blocks
 * without a marked object may be free by now, but are not in use again. */
static bool is_alive(const void *address) {
    return address != NULL && GC_base((void *)address) == address &&
           GC_is_marked(address);
}

static void on_event(int event) {
    if (theirs != NULL)
        theirs(event);
    if (event == GC_EVENT_START) {
        before = in_use();
        began = mprof__clock(CLOCK_MONOTONIC);
    } else if (event == GC_EVENT_RECLAIM_END) {
        /* After finalizers: objects that they need are marked as well. */
        if (GC_base != NULL && GC_is_marked != NULL)
            mprof__lisp_collected(is_alive);
    } else if (event == GC_EVENT_END && began != 0) {
        uint64_t ns = mprof__clock(CLOCK_MONOTONIC) - began;
        began = 0;
        mprof__collected(ns, before, in_use());
    }
}

static void watch(void) {
    if (GC_set_on_collection_event == NULL ||
        GC_get_on_collection_event == NULL)
        return;
    theirs = GC_get_on_collection_event();
    GC_set_on_collection_event(on_event);
}

void mprof__collector_watch(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}

bool mprof__collector_reports_live(void) {
    return GC_set_on_collection_event != NULL &&
           GC_get_on_collection_event != NULL && GC_base != NULL &&
           GC_is_marked != NULL && GC_gcollect != NULL &&
           GC_call_with_alloc_lock != NULL;
}

void mprof__collector_collect(void) {
    GC_gcollect();
}

void mprof__collector_exclude(void *(*function)(void *data), void *data) {
    GC_call_with_alloc_lock(function, data);
}

bool mprof__collector_stop_world(void) {
    if (GC_stop_world_external == NULL || GC_start_world_external == NULL ||
        GC_enumerate_reachable_objects_inner == NULL || GC_base == NULL ||
        GC_get_kind_and_size == NULL || GC_gcollect == NULL)
        return false;
    GC_stop_world_external();
    return true;
}

void mprof__collector_start_world(void) {
    GC_start_world_external();
}

void mprof__collector_each(void (*visit)(void *object, size_t bytes,
                                         void *data),
                           void *data) {
    GC_enumerate_reachable_objects_inner(visit, data);
}

void *mprof__collector_base(uintptr_t address) {
    return GC_base((void *)address);
}

/* Kinds that a program makes for itself have pointers. */
enum mprof__collected mprof__collector_kind(const void *object) {
    size_t bytes;
    int kind = GC_get_kind_and_size(object, &bytes);
    return kind >= 0 && kind <= MPROF__UNCOLLECTED_NO_POINTERS
               ? (enum mprof__collected)kind
               : MPROF__POINTERS;
}

uintptr_t mprof__collector_code(void) {
    return (uintptr_t)GC_gcollect;
}

uint64_t mprof_lisp_heap_current(void) {
    mprof__collector_watch();
    return in_use();
}

uint64_t mprof_lisp_heap_peak(void) {
    mprof__collector_watch();
    in_use();
    return mprof__load_relaxed(&highest);
}
