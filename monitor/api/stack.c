/* stack.c - how much stack a thread uses: it is painted, and later the lowest
 * place is looked for where the paint is gone.  The method is older than all
 * its descriptions.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "monitor/include/mprof.h"
#include "monitor/scan/roots.h"

static const uint64_t PAINT = 0x6d70726f66217321; /* an unlikely number */

enum {
    NEAR = 512,         /* below this place functions work that paint */
    SPARE = 64 * 1024,  /* is left alone at the far end of the stack */
    MOST = 64 << 20,    /* painted */
    LEAST = 128 * 1024, /* painted where the size of the stack is not known */
};

/* The start of this thread's painted bytes; 0: there are none. */
static __thread uintptr_t painted __attribute__((tls_model("initial-exec")));

/* The mapping that has PLACE, and where the one below it ends. */
struct found {
    uintptr_t place, low, high, below;
};

static int look(char *line, void *data) {
    struct found *f = data;
    char *end;
    f->below = f->high;
    f->low = strtoull(line, &end, 16);
    f->high = strtoull(end + 1, NULL, 16);
    return f->place >= f->low && f->place < f->high ? EEXIST : 0;
}

/* The lowest place at which this thread may use its stack, from HERE on. */
static uintptr_t lowest(uintptr_t here) {
    struct rlimit most;
    struct found f = {.place = here};
    /* Else there is no /proc. */
    if (mprof__mappings_lines(look, &f) != EEXIST)
        return here - LEAST;
    uintptr_t low = f.low;
    /* The first thread's grows as it is used. */
    if (gettid() == getpid() && getrlimit(RLIMIT_STACK, &most) == 0) {
        uintptr_t size = most.rlim_cur < MOST ? most.rlim_cur : MOST;
        uintptr_t gap = 1 << 20; /* the kernel's, and more */
        low = f.high - size > f.below + gap ? f.high - size : low;
    }
    low += SPARE;
    return here - low < MOST || low > here ? low : here - MOST;
}

void *__attribute__((noinline, no_sanitize("address", "undefined")))
mprof_stack_clear(void) {
    int state;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    uintptr_t low = (lowest(here) + 7) & ~(uintptr_t)7;
    pthread_setcancelstate(state, NULL);
    /* From above, as the first thread's stack must grow.  A handler that
     * interrupts this has returned when it goes on. */
    for (uintptr_t at = (here - NEAR) & ~(uintptr_t)7; at >= low; at -= 8)
        *(volatile uint64_t *)at = PAINT;
    painted = low < here ? low : 0;
    return (void *)here;
}

uint64_t __attribute__((noinline, no_sanitize("address", "undefined")))
mprof_stack_used(const void *base) {
    uintptr_t from = (uintptr_t)base, at = painted;
    if (at == 0 || at >= from)
        return 0;
    while (at < from && *(volatile const uint64_t *)at == PAINT)
        at += 8;
    return from - at;
}
