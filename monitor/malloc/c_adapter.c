/* c_adapter.c - the adapter for programs without another runtime than C's;
 * see adapter.h. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "monitor/include/mprof.h"
#include "monitor/malloc/autostart.h"
#include "monitor/malloc/malloc_hook.h"
#include "monitor/names/adapter.h"
#include "monitor/unwind/walk.h"

static int check(unsigned heaps) {
    return heaps & MPROF_HEAP_LISP ? MPROF_E_UNPATCHED : 0;
}

static void attach(unsigned heaps) {
    (void)heaps;
    mprof__malloc_attach();
}

static void nothing(void) {
}

static void no_rename(struct mprof__names *names) {
    (void)names;
}

static void no_text(char *text, size_t size) {
    (void)size;
    text[0] = '\0';
}

/* At most 16 bytes.  Without snprintf(), which takes a lot of stack. */
static void describe_thread(char *text, size_t size) {
    (void)size;
    text[0] = '\0';
    prctl(PR_GET_NAME, text);
}

/* Not NULL if the program is linked with ECL.  Libraries that it opens later
 * cannot be checked without a lock. */
extern char cl_boot[] __attribute__((weak));

/* Who looks at a Lisp program's C heap alone may not know that there is more.
 */
static void describe_unseen(char *text, size_t size) {
    mprof__malloc_unseen(text, size);
    size_t length = strlen(text);
    if (cl_boot != NULL)
        snprintf(text + length, size - length,
                 "%sECL in Lisp's heap, which `mprof run --lisp` records",
                 length > 0 ? "; " : "");
}

static bool interprets(uintptr_t start) {
    (void)start;
    return false;
}

static void match(struct mprof__chain *chain) {
    (void)chain;
}

static void native(uintptr_t start, struct link_map *module,
                   struct mprof__name *name) {
    (void)start, (void)module, (void)name;
}

const struct mprof__adapter mprof__adapter = {
    .heaps = MPROF_HEAP_MALLOC,
    .check = check,
    .attach = attach,
    .detach = mprof__malloc_detach,
    .forked = nothing,
    .follow = mprof__autostart_follow,
    .cloned = mprof__autostart_cloned,
    .ended = mprof__autostart_end,
    .rename = no_rename,
    .runtime = no_text,
    .unseen = describe_unseen,
    .watch = mprof__malloc_watch,
    .thread = describe_thread,
    .interprets = interprets,
    .match = match,
    .native = native,
    .forget = nothing,
};
