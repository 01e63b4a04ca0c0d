/* ecl_count.c - see ecl_count.h. */
#include "monitor/ecl/ecl_count.h"

#include <pthread.h>
#include <stddef.h>

#include <ecl/ecl.h>

#include "monitor/base/table.h"
#include "monitor/ecl/collector.h"
#include "monitor/ecl/ecl_thread.h"
#include "monitor/include/mprof.h"
#include "monitor/record/heap_events.h"
#include "monitor/record/thread.h"

extern const struct ecl_monitor *ecl_set_monitor(const struct ecl_monitor *)
    __attribute__((weak));

enum { DEEPEST = 64 };

MPROF__FAST_TLS struct mprof__ecl_counted mprof__ecl_counted;
uint64_t mprof__ecl_counting;

/* This thread's numbers when it began to count, and the last result.  Mapped,
 * because a library that is loaded late has little space for thread-local
 * variables; until the thread ends. */
struct own {
    struct mprof__ecl_counted begun[DEEPEST], result;
    unsigned depth;
};
static MPROF__FAST_TLS struct own *own;
static pthread_key_t at_thread_end;

static void forget(void *mapped) {
    own = NULL;
    mprof__unmap(mapped, sizeof *own);
}

static void make_key(void) {
    pthread_key_create(&at_thread_end, forget);
}

static struct own *find_own(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (own == NULL) {
        pthread_once(&once, make_key);
        own = mprof__map(sizeof *own);
        if (own != NULL)
            pthread_setspecific(at_thread_end, own);
    }
    return own;
}

void mprof__ecl_ignore(cl_type type, int storage, cl_index bytes,
                       cl_object clas, void *block) {
    (void)type, (void)storage, (void)clas, (void)block;
    mprof__ecl_note_thread();
    mprof__ecl_count(bytes);
}

void mprof__ecl_ignore_free(void *block) {
    (void)block;
}

void mprof__ecl_ignore_name(cl_object name, cl_object function) {
    (void)name, (void)function;
}

void mprof__ecl_ignore_library(cl_object block, int opened) {
    (void)block, (void)opened;
}

/* While something is counted, and nothing is recorded. */
static const struct ecl_monitor counter = {.allocated = mprof__ecl_ignore,
                                           .freed = mprof__ecl_ignore_free,
                                           .named = mprof__ecl_ignore_name,
                                           .loaded = mprof__ecl_ignore_library};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct ecl_monitor *recorder; /* or NULL; with the lock */
static uint64_t counting;                  /* threads that count; the same */

/* With the lock. */
static void choose(void) {
    mprof__store_relaxed(&mprof__ecl_counting, counting);
    if (ecl_set_monitor != NULL)
        ecl_set_monitor(recorder != NULL ? recorder
                        : counting > 0   ? &counter
                                         : NULL);
}

void mprof__ecl_watch(const struct ecl_monitor *monitor) {
    pthread_mutex_lock(&lock);
    recorder = monitor;
    choose();
    pthread_mutex_unlock(&lock);
}

static void change(uint64_t by) {
    pthread_mutex_lock(&lock);
    counting += by;
    choose();
    pthread_mutex_unlock(&lock);
}

int mprof_count_begin(void) {
    if (ecl_set_monitor == NULL)
        return MPROF_E_UNPATCHED;
    struct own *mine = find_own();
    if (mine == NULL)
        return MPROF_E_MEMORY;
    if (mine->depth == DEEPEST)
        return MPROF_E_ARGUMENT;
    change(1);
    mine->begun[mine->depth++] = mprof__ecl_counted;
    return 0;
}

int mprof_count_end(void) {
    struct mprof__ecl_counted now = mprof__ecl_counted;
    if (own == NULL || own->depth == 0)
        return MPROF_E_ARGUMENT;
    const struct mprof__ecl_counted *begun = &own->begun[--own->depth];
    own->result = (struct mprof__ecl_counted){now.allocs - begun->allocs,
                                              now.bytes - begun->bytes};
    change((uint64_t)-1);
    return 0;
}

void mprof_counted(uint64_t *allocs, uint64_t *bytes) {
    *allocs = own == NULL ? 0 : own->result.allocs;
    *bytes = own == NULL ? 0 : own->result.bytes;
}

/* Without a recording there is nothing to be silent about, nor a thread. */
void mprof_silence(int begins) {
    if (mprof__current() != NULL || !begins)
        mprof__thread_silence(begins != 0);
}
