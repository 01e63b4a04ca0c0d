/* boot.c - a recording of an unpatched ECL begins when that has booted; see
 * unpatched.h.
 *
 * `mprof run --lisp` sets the environment: MPROF_LISP is 1, the others are as
 * for the C heap (monitor/malloc/autostart.h).
 */
#define _GNU_SOURCE
#include "monitor/unpatched/unpatched.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "monitor/format/bytes.h"
#include "monitor/format/paths.h"
#include "monitor/include/mprof.h"
#include "monitor/malloc/environment.h"

#undef dlopen /* the collector's, for programs that are linked with it */

typedef const struct ecl_monitor *setter(const struct ecl_monitor *);

/* Return the setter of a patched ECL, which does not need us. */
static setter *patched(void) {
    return (setter *)mprof__behind("ecl_set_monitor");
}

MPROF__STANDS_BEFORE const struct ecl_monitor *
ecl_set_monitor(const struct ecl_monitor *monitor) {
    setter *own = patched();
    if (own != NULL)
        return own(monitor);
    const struct ecl_monitor *before = mprof__unpatched_monitor;
    mprof__store_release(&mprof__unpatched_monitor, monitor);
    return before;
}

bool mprof_unpatched(void) {
    return mprof__libecl.end != 0;
}

uintptr_t mprof_unpatched_entry(uintptr_t entry) {
    static const struct {
        void *ours;
        const char *name;
    } lisp[] = {{(void *)si_make_structure, "si_make_structure"},
                {(void *)si_fset, "si_fset"}};
    for (size_t i = 0; i < sizeof lisp / sizeof *lisp; i++)
        if (entry == (uintptr_t)lisp[i].ours)
            return (uintptr_t)mprof__behind(lisp[i].name);
    return entry;
}

static void complain(const char *what, const char *why) {
    char line[PATH_MAX + 300];
    int n = snprintf(line, sizeof line, "mprof: %s: %s; Lisp is not recorded\n",
                     what, why);
    if (n > 0 &&
        write(STDERR_FILENO, line,
              (size_t)n < sizeof line ? (size_t)n : sizeof line - 1) < 0)
        return; /* nothing is watching */
}

/* Copy the string STRING, as much as fits. */
static void text_of(cl_object string, char *text, size_t size) {
    cl_index length = 0;
    if (!ECL_IMMEDIATE(string) && string->d.t == t_base_string)
        for (; length < string->base_string.fillp && length + 1 < size;
             length++)
            text[length] = (char)string->base_string.self[length];
#ifdef ECL_UNICODE
    else if (!ECL_IMMEDIATE(string) && string->d.t == t_string)
        for (; length < string->string.fillp && length + 1 < size; length++)
            text[length] = (char)string->string.self[length];
#endif
    text[length] = '\0';
}

/* Return true if ECL's stacks are as expected: a snapshot has the number of the
 * version before it, and may have the stacks of the next one. */
static bool has_our_stacks(void) {
#ifdef HAVE_STRUCT_CL_ENV_STRUCT_IHS_STACK
    return mprof__behind("ecl_data_stack_grow") != NULL;
#else
    return mprof__behind("ecl_data_stack_grow") == NULL;
#endif
}

/* The version that objects and functions here are as in: else nothing of it can
 * be looked at. */
static bool is_our_version(bool loud) {
    char ours[40], theirs[sizeof ours];
    cl_object text = MPROF__BEHIND(cl_lisp_implementation_version)();
    text_of(text, theirs, sizeof theirs);
    snprintf(ours, sizeof ours, "%d.%d.%d", ECL_VERSION_NUMBER / 10000,
             ECL_VERSION_NUMBER / 100 % 100, ECL_VERSION_NUMBER % 100);
    if (strcmp(ours, theirs) == 0 && has_our_stacks())
        return true;
    if (!loud)
        return false;
    char why[120];
    snprintf(why, sizeof why, "this mprof was built with ECL %s", ours);
    snprintf(ours, sizeof ours, "ECL %.20s", theirs);
    complain(ours, why);
    return false;
}

/* Load the monitor, beside this library.  It has its own public functions; the
 * program may see another library's. */
static void *load_monitor(void) {
    char path[PATH_MAX];
    Dl_info us;
    if (dladdr((void *)mprof_unpatched_entry, &us) == 0)
        return NULL;
    int folder = (int)(mprof__base_name(us.dli_fname) - us.dli_fname);
    int n =
        snprintf(path, sizeof path, "%.*slibmprof.so.1", folder, us.dli_fname);
    if (n < 0 || (size_t)n >= sizeof path)
        return NULL;
    void *monitor = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (monitor == NULL)
        complain(path, dlerror());
    return monitor;
}

static bool is_first(void) {
    pid_t first = getpid();
    uint64_t since;
    const char *run = getenv("MPROF_RUN");
    if (run != NULL)
        mprof__read_run(run, &first, &since);
    return first == getpid();
}

/* Choose NAME, of SIZE bytes: only the first process gets the plain name. */
static bool choose_name(char *name, size_t size) {
    char base[PATH_MAX];
    bool by_pid = false;
    const char *wanted = getenv("MPROF_DATA");
    if (wanted == NULL || *wanted == '\0')
        wanted = "mprof.data";
    if (!mprof__expand(wanted, base, sizeof base, &by_pid))
        return false;
    int n = by_pid || is_first()
                ? snprintf(name, size, "%s", base)
                : snprintf(name, size, "%s.%ld", base, (long)getpid());
    return n > 0 && (size_t)n < size;
}

static int (*stop)(void);

static void stop_at_exit(void) {
    if (stop != NULL)
        stop();
}

#define OF_MONITOR(name) ((__typeof__(&name))dlsym(monitor, #name))

static void start(void *monitor) {
    char name[PATH_MAX];
    uint64_t limit;
    __typeof__(&mprof_start) begin = OF_MONITOR(mprof_start);
    __typeof__(&mprof_set_limit) set_limit = OF_MONITOR(mprof_set_limit);
    __typeof__(&mprof_set_warnings) warn = OF_MONITOR(mprof_set_warnings);
    __typeof__(&mprof_set_live) set_live = OF_MONITOR(mprof_set_live);
    __typeof__(&mprof_set_sampling) sample = OF_MONITOR(mprof_set_sampling);
    __typeof__(&mprof_strerror) explain = OF_MONITOR(mprof_strerror);
    const char *live = getenv("MPROF_LIVE");
    uint32_t part = live == NULL ? 0 : mprof__read_sampling(live);
    bool all = live != NULL && strcmp(live, "1") == 0;
    const char *bytes = getenv("MPROF_LIMIT");
    if (begin == NULL || set_limit == NULL || warn == NULL ||
        set_live == NULL || sample == NULL || explain == NULL)
        return;
    if (live != NULL && *live != '\0' && !all && part == 0) {
        complain("MPROF_LIVE", "it is neither 1 nor a part such as 1/512");
        return;
    }
    if (!choose_name(name, sizeof name)) {
        complain("MPROF_DATA", strerrordesc_np(ENAMETOOLONG));
        return;
    }
    if (bytes != NULL && mprof__read_bytes(bytes, &limit))
        set_limit(limit);
    warn(1);
    int error = 0;
    if (part != 0 || all)
        error = set_live(MPROF_LIVE_ON);
    if (part != 0 && error == 0)
        error = sample(part);
    if (error == 0)
        error = begin(name);
    if (error != 0) {
        complain(name, explain(error));
        return;
    }
    stop = OF_MONITOR(mprof_stop);
    atexit(stop_at_exit);
}

/* Whoever sets a monitor from now on sees all requests.  False: there are none
 * that we can see. */
static bool prepare(bool loud) {
    if (patched() != NULL)
        return true;
    if (!is_our_version(loud) || !mprof__find_libecl())
        return false;
    mprof__owners_find();
    return true;
}

static bool is_wanted(void) {
    const char *lisp = getenv("MPROF_LISP");
    return lisp != NULL && strcmp(lisp, "1") == 0 && getauxval(AT_SECURE) == 0;
}

MPROF__STANDS_BEFORE int cl_boot(int argc, char **argv) {
    static bool begun;
    int result = MPROF__BEHIND(cl_boot)(argc, argv);
    bool wanted = is_wanted();
    if (begun || !prepare(wanted))
        return result;
    begun = true;
    void *monitor = wanted ? load_monitor() : NULL;
    if (monitor != NULL)
        start(monitor);
    return result;
}

/* At its end nothing of ECL can be asked any more. */
MPROF__STANDS_BEFORE void cl_shutdown(void) {
    stop_at_exit();
    MPROF__BEHIND(cl_shutdown)();
}
