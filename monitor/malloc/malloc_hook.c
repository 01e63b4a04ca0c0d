/* malloc_hook.c - the monitor of malloc(); see malloc_monitor.h.
 *
 * A library that has no malloc.c finds another library's by a weak reference:
 * libmprof_malloc's, when it was preloaded.
 */
#include "monitor/malloc/malloc_hook.h"

#include <errno.h>
#include <sched.h>

#include "monitor/base/atomic.h"
#include "monitor/api/functions.h"
#include "monitor/malloc/malloc_monitor.h"
#include "monitor/names/adapter.h"
#include "monitor/record/current.h"
#include "monitor/record/heap_events.h"
#include "monitor/record/recording.h"
#include "monitor/record/session.h"
#include "monitor/record/thread.h"
#include "monitor/unwind/generation.h"

#pragma weak mprof_set_malloc_monitor
#pragma weak mprof_malloc_unseen

static int defer(void) {
    return mprof__adapter.defer == NULL ? 0 : mprof__adapter.defer();
}

static void undefer(int deferred) {
    if (mprof__adapter.undefer != NULL)
        mprof__adapter.undefer(deferred);
}

/* The program's function that watches the heap */

static void (*watch)(void *cookie, uint64_t current); /* atomic */
static void *watch_cookie; /* written while `watch` is NULL */
static __thread bool watching __attribute__((tls_model("initial-exec")));

/* Call it.  Its own allocations change the heap, too, but are not reported to
 * it. */
static void call_watcher(void) {
    void (*function)(void *, uint64_t) = mprof__load_acquire(&watch);
    if (watching || function == NULL)
        return;
    int saved = errno;
    watching = true;
    function(watch_cookie, mprof__live_current());
    watching = false;
    errno = saved;
}

static bool timed; /* atomic: events go the way of those */

static void allocated(const void *object, size_t bytes, const void *frame) {
    int saved = errno, deferred = defer();
    if (mprof__load_relaxed(&timed))
        mprof__c_allocated_timed(object, bytes, 0, frame);
    else
        mprof__c_allocated(object, bytes, frame);
    undefer(deferred);
    errno = saved;
    call_watcher();
}

static void released(const void *object) {
    int saved = errno, deferred = defer();
    if (mprof__load_relaxed(&timed))
        mprof__c_release_timed(object);
    else
        mprof__c_release(object);
    undefer(deferred);
    errno = saved;
    call_watcher();
}

static bool take(const void *object, struct mprof__object *what) {
    int deferred = defer();
    bool taken = mprof__c_take(object, what);
    undefer(deferred);
    return taken;
}

static void freed(const struct mprof__object *what) {
    int deferred = defer();
    mprof__c_freed(what);
    undefer(deferred);
}

static bool interrupts(const void *frame, uintptr_t stack) {
    int saved = errno, deferred = defer();
    bool found = mprof__c_interrupts(frame, stack);
    undefer(deferred);
    errno = saved;
    return found;
}

static bool interrupts_nothing(const void *frame, uintptr_t stack) {
    (void)frame, (void)stack;
    return false;
}

static void ignore_allocated(const void *object, size_t bytes,
                             const void *frame) {
    (void)object, (void)bytes, (void)frame;
}

/* Complete the recording: another monitor has taken over. */
static void replaced(void) {
    mprof__own_functions.stop();
}

static void ignore(void) {
}

static bool resizing_timed(const void *old, struct mprof__object *what,
                           const void *frame);

/* All of our monitors have these. */
#define ALWAYS                                                                 \
    .freed = freed, .untake = mprof__c_untake, .moved = mprof__c_moved,        \
    .resizing = resizing_timed, .closing = mprof__modules_close,               \
    .closed = mprof__modules_closed, .unwinding = mprof__thread_unwinding,     \
    .replaced = replaced

static struct mprof__malloc_monitor recording = {
    .allocated = mprof__c_allocated,
    .failed = mprof__c_failed,
    .release = mprof__c_release,
    .interrupts = interrupts,
    .take = take,
    ALWAYS,
};

/* While the recording is stopped. */
static struct mprof__malloc_monitor following = {
    .allocated = ignore_allocated,
    .failed = ignore,
    .release = mprof__c_release,
    .interrupts = interrupts_nothing,
    .take = take,
    ALWAYS,
};

bool mprof__malloc_is_there(void) {
    return mprof_set_malloc_monitor != NULL;
}

void mprof__malloc_unseen(char *text, size_t size) {
    text[0] = '\0';
    if (mprof_malloc_unseen != NULL)
        mprof_malloc_unseen(text, size);
}

static void cleared_timed(const void *object, size_t bytes, size_t count,
                          const void *frame) {
    int saved = errno, deferred = defer();
    mprof__c_allocated_timed(object, bytes, count, frame);
    undefer(deferred);
    errno = saved;
    call_watcher();
}

static bool resizing_timed(const void *old, struct mprof__object *what,
                           const void *frame) {
    int deferred = defer();
    bool taken = mprof__c_resizing_timed(old, what, frame);
    undefer(deferred);
    return taken;
}

static void resized_timed(const struct mprof__resized *r, const void *frame) {
    int deferred = defer();
    mprof__c_resized_timed(r, frame);
    undefer(deferred);
    call_watcher();
}

/* By the shortest way, unless the runtime has to be held off. */
static void choose_ways(void) {
    mprof__store_release(&timed, mprof__timed());
    bool longer = mprof__adapter.defer != NULL || timed ||
                  mprof__load_acquire(&watch) != NULL;
    mprof__store_release(&recording.allocated,
                         longer ? allocated : mprof__c_allocated);
    mprof__store_release(&recording.cleared, timed ? cleared_timed : NULL);
    mprof__store_release(&recording.resized, timed ? resized_timed : NULL);
    mprof__store_release(&following.resized, timed ? resized_timed : NULL);
    void (*release)(const void *) = longer ? released : mprof__c_release;
    mprof__store_release(&recording.release, release);
    mprof__store_release(&following.release, release);
    mprof__set_direct(!longer && mprof__load_relaxed(&mprof__autosave) == 0);
}

void mprof__malloc_watch(void (*function)(void *cookie, uint64_t current),
                         void *cookie) {
    mprof__store_release(&watch, NULL);
    watch_cookie = cookie;
    mprof__store_release(&watch, function);
    choose_ways();
}

void mprof__malloc_attach(void) {
    choose_ways();
    mprof_set_malloc_monitor(NULL, &recording);
}

void mprof__malloc_detach(void) {
    if (mprof__malloc_is_there())
        mprof_set_malloc_monitor(&recording, &following);
}

/* Waiting for the first allocation */

enum { IDLE, STARTING, STARTED };
static int state;           /* atomic */
static bool (*start)(void); /* set by a constructor */
static __thread bool starting __attribute__((tls_model("initial-exec")));

static const struct mprof__malloc_monitor waiting;

/* Once; other threads wait until it is done. */
bool mprof__malloc_begin(void) {
    int saved = errno, idle = IDLE;
    if (starting)
        return false;
    if (mprof__replace(&state, &idle, STARTING)) {
        starting = true;
        bool done = start();
        starting = false;
        if (done && mprof__current() == NULL)
            mprof_set_malloc_monitor(&waiting, NULL); /* nothing came of it */
        mprof__store_release(&state, done ? STARTED : IDLE);
    }
    while (mprof__load_acquire(&state) == STARTING)
        sched_yield();
    errno = saved;
    return true;
}

static void await_allocated(const void *object, size_t bytes,
                            const void *frame) {
    if (mprof__malloc_begin())
        recording.allocated(object, bytes, frame);
}

static void await_released(const void *object) {
    if (mprof__malloc_begin())
        recording.release(object);
}

static bool await_taken(const void *object, struct mprof__object *what) {
    return mprof__malloc_begin() && take(object, what);
}

static const struct mprof__malloc_monitor waiting = {
    .allocated = await_allocated,
    .failed = ignore,
    .release = await_released,
    .interrupts = interrupts_nothing,
    .take = await_taken,
    ALWAYS,
};

void mprof__malloc_await(bool (*starter)(void)) {
    start = starter;
    state = IDLE;
    mprof_set_malloc_monitor(NULL, &waiting);
}
