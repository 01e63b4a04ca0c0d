#include "tests/support/fake.h"

#include <stdio.h>
#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/format/format.h"
#include "monitor/include/mprof.h"
#include "monitor/names/adapter.h"
#include "monitor/record/heap_events.h"
#include "monitor/unwind/walk.h"

uintptr_t fake_interpreter, fake_object, fake_kept;
void (*fake_inside)(void);
int fake_check;
static int attached;

static int check(unsigned heaps) {
    (void)heaps;
    return fake_check;
}

static void attach(unsigned heaps) {
    (void)heaps;
    mprof__store_release(&attached, 1);
}

static void detach(void) {
    mprof__store_release(&attached, 0);
}

static void nothing(void) {
}

static void rename_functions(struct mprof__names *names) {
    (void)names;
}

static void runtime(char *text, size_t size) {
    snprintf(text, size, "fake");
}

static void thread(char *text, size_t size) {
    snprintf(text, size, "worker");
}

static bool interprets(uintptr_t start) {
    return start == fake_interpreter;
}

static void match(struct mprof__chain *chain) {
    for (size_t i = 0; i < chain->count; i++) {
        struct mprof__frame *f = &chain->frames[i];
        if (f->site->interpreter && f->object != fake_object) {
            f->object = fake_object;
            if (i < chain->reused)
                chain->reused = i;
        }
    }
}

static void native(uintptr_t start, struct link_map *module,
                   struct mprof__name *name) {
    (void)module;
    if (fake_inside != NULL)
        fake_inside();
    snprintf(name->text, sizeof name->text, "F%lx", (unsigned long)start);
}

static void interpreted(const struct mprof__frame *frames, size_t index,
                        struct mprof__name *name) {
    snprintf(name->text, sizeof name->text, "I%lx",
             (unsigned long)frames[index].object);
}

static const char *type(unsigned type_, uintptr_t object, char *name,
                        size_t size) {
    (void)type_;
    if (object != 0)
        snprintf(name, size, "CLASS-%lu", (unsigned long)object);
    return "thing";
}

static void keep(uintptr_t object) {
    fake_kept = object;
}

static int defer(void) {
    return 0;
}

static void undefer(int deferred) {
    (void)deferred;
}

const struct mprof__adapter mprof__adapter = {
    .heaps = MPROF_HEAP_LISP,
    .check = check,
    .attach = attach,
    .detach = detach,
    .defer = defer,
    .undefer = undefer,
    .forked = nothing,
    .rename = rename_functions,
    .runtime = runtime,
    .thread = thread,
    .interprets = interprets,
    .match = match,
    .native = native,
    .interpreted = interpreted,
    .type = type,
    .keep = keep,
    .forget = nothing,
};

void __attribute__((noinline, optimize("no-omit-frame-pointer")))
fake_alloc(uint64_t bytes, int class_) {
    if (!mprof__load_acquire(&attached))
        return;
    struct mprof__event event = {.count = {1, bytes},
                                 .class_ = (uint8_t)class_,
                                 .type = (uint8_t)class_};
    mprof__allocated_inside(mprof__enter(), &event, MPROF__FRAME(), false);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

void __attribute__((noinline, optimize("no-omit-frame-pointer")))
fake_alloc_of(uint64_t bytes, uintptr_t object) {
    struct mprof__event event = {.count = {1, bytes}, .object = object};
    mprof__allocated_inside(mprof__enter(), &event, MPROF__FRAME(), false);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}
