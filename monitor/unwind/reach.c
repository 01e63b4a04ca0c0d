/* reach.c - see reach.h. */
#define _GNU_SOURCE
#include "monitor/unwind/reach.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, FAR = 64 * PAGE };

/* The kernel reads a set of signals from there, and then finds that it is told
 * to do nothing that it knows.  Where that is forbidden, the tables are
 * trusted. */
static bool is_readable(uintptr_t page) {
    enum { NOTHING = -1, SET_BYTES = 8 };
    int saved = errno;
    bool readable = syscall(SYS_rt_sigprocmask, NOTHING, (void *)page, NULL,
                            SET_BYTES) == 0 ||
                    errno != EFAULT;
    errno = saved;
    return readable;
}

/* Up or down to PAGE_START, page by page. */
static bool stretch(struct mprof__reach *reach, uintptr_t page_start) {
    while (reach->high <= page_start) {
        if (!is_readable(reach->high))
            return false;
        reach->high += PAGE;
    }
    while (reach->low > page_start) {
        if (!is_readable(reach->low - PAGE))
            return false;
        reach->low -= PAGE;
    }
    return true;
}

bool mprof__reach_further(struct mprof__reach *reach, uintptr_t address) {
    uintptr_t page = address & ~(uintptr_t)(PAGE - 1);
    bool is_near = page < reach->high + FAR && page + FAR >= reach->low;
    if (is_near && reach->high != 0 && stretch(reach, page))
        return true;
    if (!is_readable(page))
        return false;
    *reach = (struct mprof__reach){page, page + PAGE};
    return true;
}
