/* unwind.c - the functions with which programs look at their own stack.
 *
 * They are to see no marks.  What throws exceptions and ends threads does not
 * come by here: it finds its way by the unwind tables of the barrier.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#include "monitor/base/atomic.h"
#include "monitor/malloc/malloc_monitor.h"

/* Weak: a static libgcc may come with its own. */
#define PUBLIC __attribute__((visibility("default"), weak))

/* As in execinfo.h and unwind.h, which need not be there. */
PUBLIC int backtrace(void **addresses, int size);
PUBLIC int _Unwind_Backtrace(int (*visit)(void *context, void *data),
                             void *data);

enum { END_OF_STACK = 5 };

int backtrace(void **addresses, int size) {
    static int (*next)(void **, int); /* atomic */
    int (*function)(void **, int) = mprof__load_relaxed(&next);
    if (function == NULL) {
        *(void **)&function = dlsym(RTLD_NEXT, "backtrace");
        mprof__store_relaxed(&next, function);
    }
    mprof__before_unwinding();
    return function == NULL ? 0 : function(addresses, size);
}

int _Unwind_Backtrace(int (*visit)(void *context, void *data), void *data) {
    static int (*next)(int (*)(void *, void *), void *); /* atomic */
    int (*function)(int (*)(void *, void *), void *) =
        mprof__load_relaxed(&next);
    if (function == NULL) {
        *(void **)&function = dlsym(RTLD_NEXT, "_Unwind_Backtrace");
        mprof__store_relaxed(&next, function);
    }
    mprof__before_unwinding();
    return function == NULL ? END_OF_STACK : function(visit, data);
}
