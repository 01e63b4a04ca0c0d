/* reach.c - see reach.h. */
#define _GNU_SOURCE
#include "monitor/unwind/reach.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, FAR = 64 * PAGE };

static uintptr_t page_of(uintptr_t address) {
    return address & ~(uintptr_t)(PAGE - 1);
}

/* The kernel reads the number that is there, to find that it is another, or
 * that no time is left to wait for it.  Where that is forbidden, the tables are
 * trusted. */
static bool is_readable(uintptr_t address) {
    const struct timespec not_at_all = {0, 0};
    int saved = errno;
    bool readable = syscall(SYS_futex, address, FUTEX_WAIT_PRIVATE, 0,
                            &not_at_all, NULL, 0) == 0 ||
                    errno != EFAULT;
    errno = saved;
    return readable;
}

/* The kernel adds nothing to the number that is there, as one who writes.
 * Where that is forbidden, it is not to be written. */
static bool can_be_added_to(uintptr_t address) {
    enum { ADD = 1 << 28, EQUAL = 0 };
    uint32_t nobody_waits = 0;
    return syscall(SYS_futex, &nobody_waits, FUTEX_WAKE_OP_PRIVATE, 0, NULL,
                   address, ADD | EQUAL) >= 0;
}

/* Linux 5.14 and later answer for a page without reading the word.  That
 * matters under valgrind, which reports reads of a frame that has returned. */
static bool is_writable(uintptr_t address) {
    uintptr_t page = page_of(address);
    int saved = errno;
    bool writable =
        syscall(SYS_madvise, page, PAGE, MADV_POPULATE_WRITE) == 0 ||
        (errno == EINVAL && can_be_added_to(address));
    errno = saved;
    return writable;
}

bool mprof__reaches_to_write(struct mprof__reach *asked, uintptr_t address) {
    uintptr_t page = page_of(address);
    if (address % sizeof address != 0)
        return false;
    if (address >= asked->low && address < asked->high)
        return true;
    if (!is_writable(address))
        return false;
    *asked = (struct mprof__reach){page, page + PAGE};
    return true;
}

bool mprof__reach_further(struct mprof__reach *reach, uintptr_t address) {
    uintptr_t page = page_of(address);
    if (!is_readable(address))
        return false;
    /* Pages between two pages of a stack, in a large frame, belong to it. */
    if (page < reach->high + FAR && page + FAR >= reach->low) {
        if (page < reach->low)
            reach->low = page;
        if (page >= reach->high)
            reach->high = page + PAGE;
    } else {
        *reach = (struct mprof__reach){page, page + PAGE};
    }
    return true;
}
