/* unpatched.h - the replacement for the patch in an ECL that has none.
 *
 * libmprof_ecl.so is preloaded.  libecl calls its own allocators and the
 * collector by way of its table of other libraries' functions, as any program
 * does, so the functions of the same name here come first:
 *
 *     a Lisp function
 *      | ecl_alloc_object(t)     owners.c: the next request is an object of
 *      |                         type t; libecl's own function
 *      | GC_malloc(n)            requests.c: the collector's; then a report to
 *      |                         the monitor, as by the patch
 *      | allocated()             monitor/ecl/ecl_hook.c
 *
 * The patch knows the types of storage; here they are found by the function
 * that asks for it (owners.c).  events.c reports names and libraries; boot.c
 * loads libmprof.so when ECL has booted, and starts the recording.
 *
 * In a program without ECL, or with a patched one, all of it stays out of the
 * way.
 */
#ifndef MONITOR_UNPATCHED_UNPATCHED_H
#define MONITOR_UNPATCHED_UNPATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ecl/ecl.h>

#include "monitor/base/atomic.h"
#include "monitor/ecl/ecl_version.h"

#define MPROF__STANDS_BEFORE __attribute__((visibility("default")))

/* A thread-local variable in a library that is there from the start. */
#define MPROF__OWN_TLS __thread __attribute__((tls_model("initial-exec")))

/* The monitor, or NULL; see the patch's ecl_set_monitor().  boot.c */
extern const struct ecl_monitor *mprof__unpatched_monitor;

static inline const struct ecl_monitor *mprof__watching(void) {
    return mprof__load_acquire(&mprof__unpatched_monitor);
}

/* The function NAME that comes after ours, or NULL. */
void *mprof__behind(const char *name);

/* Call the next definition of NAME, behind ours. */
#define MPROF__BEHIND(name)                                                    \
    ({                                                                         \
        static __typeof__(&name) behind;                                       \
        __typeof__(&name) found = mprof__load_acquire(&behind);                \
        if (__builtin_expect(found == NULL, 0)) {                              \
            found = (__typeof__(&name))mprof__behind(#name);                   \
            mprof__store_release(&behind, found);                              \
        }                                                                      \
        found;                                                                 \
    })

/* Code of a function, or of a library. */
struct mprof__code {
    uintptr_t start, end;
};

static inline bool mprof__is_in(const struct mprof__code *code,
                                uintptr_t address) {
    return address - code->start < code->end - code->start;
}

/* The code of libecl; empty where there is none, or it is patched. */
extern struct mprof__code mprof__libecl;
/* Find it; false: there is none. */
bool mprof__find_libecl(void);

/* Return the code of the function NAME behind ours; empty if there is none. */
struct mprof__code mprof__code_of(const char *name);

/* The purpose of a block that libecl asks the collector for. */
struct mprof__owner {
    cl_type type; /* of the object, or of that which owns the storage; t_start:
                   * nobody knows */
    bool storage;
    cl_object clas; /* of an instance or structure, or OBJNULL */
};

/* Find the functions that show owners; once, before a monitor is set. */
void mprof__owners_find(void);

/* Return the purpose of the present request of CALLER, an address in libecl. */
struct mprof__owner mprof__owner_of(uintptr_t caller);

/* Called by jump_x86_64.S before two functions of ECL; each returns the address
 * to go on with. */
void *mprof__making_structure(cl_narg count, cl_object type);
void *mprof__setting_function(cl_narg count, cl_object name,
                              cl_object function);

/* As the patch has it. */
const struct ecl_monitor *ecl_set_monitor(const struct ecl_monitor *monitor);

/* For libmprof: is it here that ECL's requests are seen? */
bool mprof_unpatched(void) __attribute__((visibility("default")));

/* Return the entry of ECL's function, if ENTRY is of ours before it; else
 * ENTRY. For libmprof, which finds names by entries. */
uintptr_t mprof_unpatched_entry(uintptr_t entry)
    __attribute__((visibility("default")));

#endif
