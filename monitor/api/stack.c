/* stack.c - how much stack a thread uses: it is painted, and later the lowest
 * place is looked for where the paint is gone.  The method is older than all
 * its descriptions.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include "monitor/include/mprof.h"

static const uint64_t PAINT = 0x6d70726f66217321; /* an unlikely number */

enum {
    NEAR = 512,         /* below this place functions work that paint */
    SPARE = 64 * 1024,  /* is left alone at the far end of the stack */
    MOST = 64 << 20,    /* painted */
    LEAST = 128 * 1024, /* painted where the size of the stack is not known */
};

/* The start of this thread's painted bytes; 0: there are none. */
static __thread uintptr_t painted __attribute__((tls_model("initial-exec")));

/* Text of a file, byte by byte. */
struct text {
    int fd;
    ssize_t count, at;
    char bytes[1024];
};

static int next(struct text *t) {
    if (t->at == t->count) {
        t->count = read(t->fd, t->bytes, sizeof t->bytes);
        t->at = 0;
    }
    return t->count > 0 ? t->bytes[t->at++] : -1;
}

/* Read a hexadecimal number, and the character behind it. */
static uintptr_t read_address(struct text *t, int *behind) {
    uintptr_t n = 0;
    for (;;) {
        int c = next(t);
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 16;
        *behind = c;
        if (digit == 16)
            return n;
        n = n * 16 + digit;
    }
}

/* Where the mapping begins and ends that has PLACE, and where the one below it
 * ends.  False: there is no /proc. */
static bool find_mapping(uintptr_t place, uintptr_t *low, uintptr_t *high,
                         uintptr_t *below) {
    struct text t = {open("/proc/self/maps", O_RDONLY | O_CLOEXEC), 0, 0, ""};
    int c = 0;
    bool found = false;
    *below = 0;
    while (t.fd >= 0 && !found && c != -1) {
        *low = read_address(&t, &c);
        *high = read_address(&t, &c);
        found = place >= *low && place < *high;
        if (!found && c != -1)
            *below = *high;
        while (!found && c != '\n' && c != -1)
            c = next(&t);
    }
    if (t.fd >= 0)
        close(t.fd);
    return found;
}

/* The lowest place at which this thread may use its stack, from HERE on. */
static uintptr_t lowest(uintptr_t here) {
    struct rlimit most;
    uintptr_t low, high, below;
    if (!find_mapping(here, &low, &high, &below))
        return here - LEAST;
    /* The first thread's grows as it is used. */
    if (gettid() == getpid() && getrlimit(RLIMIT_STACK, &most) == 0) {
        uintptr_t size = most.rlim_cur < MOST ? most.rlim_cur : MOST;
        uintptr_t gap = 1 << 20; /* the kernel's, and more */
        low = high - size > below + gap ? high - size : low;
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
