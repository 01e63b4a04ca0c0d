/* backtrace.c - the functions with which programs look at their own stack.
 *
 * They must see neither marks nor the functions here.  Code that throws
 * exceptions and ends threads does not come by here: it unwinds by the
 * barrier's tables.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/malloc/definitions.h"
#include "monitor/malloc/malloc_monitor.h"

/* Weak: a static libgcc may come with its own. */
#define PUBLIC __attribute__((visibility("default"), weak))

/* As in execinfo.h and unwind.h, which need not be there. */
typedef int visitor(void *context, void *data);
PUBLIC int backtrace(void **addresses, int size);
PUBLIC int _Unwind_Backtrace(visitor *visit, void *data);
extern uintptr_t _Unwind_GetIP(void *context);
extern uintptr_t _Unwind_GetCFA(void *context);

enum { GO_ON = 0, END_OF_STACK = 5 };

static int (*next)(visitor *visit, void *data);

/* Before there is a second thread. */
static void __attribute__((constructor)) find_next(void) {
    *(void **)&next = mprof__next_definition("_Unwind_Backtrace").function;
}

/* A visit of all frames but the innermost, which is one of ours. */
struct visit {
    visitor *function;
    void *data;
    bool begun;
};

static int visit_others(void *context, void *data) {
    struct visit *visit = data;
    if (visit->begun)
        return visit->function(context, visit->data);
    visit->begun = true;
    return GO_ON;
}

/* VISIT may allocate, throw, or jump out of it. */
int _Unwind_Backtrace(visitor *function, void *data) {
    struct visit visit = {.function = function, .data = data};
    if (next == NULL)
        return END_OF_STACK;
    mprof__unwinding((uintptr_t)__builtin_frame_address(0));
    int reason = next(visit_others, &visit);
    mprof__unwinding(0);
    return reason;
}

/* The addresses that backtrace() has found. */
struct list {
    void **addresses;
    int size, count; /* -1: nothing, not even its own frame */
    uintptr_t cfa;   /* the last one's */
};

static int add(void *context, void *data) {
    struct list *list = data;
    if (list->count >= 0) {
        uintptr_t address = _Unwind_GetIP(context);
        uintptr_t cfa = _Unwind_GetCFA(context);
        bool repeats = list->count > 0 && cfa == list->cfa &&
                       address == (uintptr_t)list->addresses[list->count - 1];
        list->addresses[list->count] = (void *)address;
        list->cfa = cfa;
        if (repeats)
            return END_OF_STACK;
    }
    return ++list->count == list->size ? END_OF_STACK : GO_ON;
}

/* As the C library's, which loads its unwinder first and so allocates. */
int backtrace(void **addresses, int size) {
    struct list list = {.addresses = addresses, .size = size, .count = -1};
    if (next == NULL || size <= 0)
        return 0;
    mprof__unwinding((uintptr_t)__builtin_frame_address(0));
    next(add, &list);
    mprof__unwinding(0);
    /* Some unwinders find a frame without a caller outside of the first. */
    if (list.count > 1 && addresses[list.count - 1] == NULL)
        list.count--;
    return list.count < 0 ? 0 : list.count;
}
