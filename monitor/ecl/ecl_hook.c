/* ecl_hook.c - the adapter for ECL; see adapter.h and runtime-patch/README.
 *
 * The patched runtime calls our functions while the recording runs.  In one
 * without the patch the weak reference to ecl_set_monitor is NULL.
 */
#define _GNU_SOURCE
#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/ecl/ecl_adapter.h"

#include <stdio.h>

#include <ecl/internal.h>

#include "monitor/api/functions.h"
#include "monitor/ecl/collector.h"
#include "monitor/ecl/ecl_count.h"
#include "monitor/ecl/ecl_thread.h"
#include "monitor/ecl/ecl_version.h"
#include "monitor/ecl/lisp_kept.h"
#include "monitor/format/format.h"
#include "monitor/include/mprof.h"
#include "monitor/malloc/malloc_hook.h"
#include "monitor/heap/alive.h"
#include "monitor/record/find_counter.h"
#include "monitor/heap/sampling.h"

extern const struct ecl_monitor *ecl_set_monitor(const struct ecl_monitor *)
    __attribute__((weak));

/* Written once, when the library is loaded or ECL has started. */
static uintptr_t interpreter;   /* start of ecl_interpret() */
static cl_object toplevel_name; /* of bytecodes: SI::BYTECODES, static */

/* MPROF_OTHER where nothing is said. */
static const uint8_t classes[MPROF__TYPES] = {
#define CLASS(class_) (MPROF_OTHER ^ (class_))
    [t_list] = CLASS(MPROF_CONS),          [t_singlefloat] = CLASS(MPROF_FLOAT),
    [t_doublefloat] = CLASS(MPROF_FLOAT),  [t_longfloat] = CLASS(MPROF_FLOAT),
#ifdef ECL_COMPLEX_FLOAT
    [t_csfloat] = CLASS(MPROF_FLOAT),      [t_cdfloat] = CLASS(MPROF_FLOAT),
    [t_clfloat] = CLASS(MPROF_FLOAT),
#endif
    [t_array] = CLASS(MPROF_STRUCT),       [t_vector] = CLASS(MPROF_STRUCT),
#ifdef ECL_UNICODE
    [t_string] = CLASS(MPROF_STRUCT),
#endif
    [t_base_string] = CLASS(MPROF_STRUCT), [t_bitvector] = CLASS(MPROF_STRUCT),
    [t_instance] = CLASS(MPROF_STRUCT),
};

static inline enum mprof_class class_of(cl_type type) {
    return MPROF_OTHER ^ classes[(unsigned)type % MPROF__TYPES];
}

static inline struct mprof__event event_of(cl_type type, int storage,
                                           struct mprof_count count,
                                           cl_object clas, const void *block) {
    return (struct mprof__event){.count = count,
                                 .class_ = (uint8_t)class_of(type),
                                 .type = (uint8_t)type,
                                 .storage = storage != 0,
                                 .object = (uintptr_t)clas,
                                 .block = block};
}

/* From the hook's FRAME; ME is inside already, or is NULL and is to enter at
 * STACK. */
static void __attribute__((noinline))
allocated_slowly(struct mprof__self *me, cl_type type, int storage,
                 struct mprof_count count, cl_object clas, const void *block,
                 const void *frame, uintptr_t stack) {
    struct mprof__event event = event_of(type, storage, count, clas, block);
    if (me == NULL)
        me = mprof__enter_slowly(stack);
    mprof__allocated_inside(me, &event, frame, false);
}

/* BLOCK of BYTES, counted at REF, lives; ME leaves here. */
static void __attribute__((noinline))
begin_life(struct mprof__self *me, const void *block, mprof_ref ref,
           uint64_t bytes) {
    struct mprof__thread *thread = me->heap[MPROF_LISP_HEAP].thread;
    mprof__alive_begin(&thread->session->alive, &thread->shadow, block, ref,
                       bytes);
    mprof__leave_quickly(me);
}

/* The same when it has a thread, and a walk came from FIRST as far as LAST. */
static void __attribute__((noinline))
allocated_elsewhere(struct mprof__self *me, cl_type type, int storage,
                    cl_index bytes, cl_object clas, const void *block,
                    const void *frame, struct mprof__cell *first,
                    struct mprof__cell *last) {
    struct mprof__thread *thread = me->heap[MPROF_LISP_HEAP].thread;
    struct mprof_bin *bin =
        mprof__bin_of(thread, (unsigned)type % MPROF__TYPES, (uintptr_t)clas);
    const struct mprof_count count = {1, bytes};
    struct mprof_counter *counter = NULL;
    if (bin != NULL)
        counter = mprof__counter_guarded(
            me, thread, frame, (struct mprof__trail){first, last},
            mprof__bin_key(thread->memo.base, bin, storage != 0));
    if (counter == NULL ||
        !mprof__count_lisp(thread, counter, bin, storage != 0, count)) {
        struct mprof__event event = event_of(type, storage, count, clas, block);
        mprof__allocated_inside(me, &event, frame,
                                bin != NULL && counter == NULL);
    } else if (__builtin_expect(thread->trees.lives, 0)) {
        begin_life(me, block, mprof__ref_from(thread->memo.base, counter),
                   bytes);
    } else {
        mprof__leave_quickly(me);
    }
}

/* Its frame is where the walk begins, so it must not be inlined, nor be gone
 * when it calls.  Mostly it calls nothing, and no register has to be saved. */
static void __attribute__((noinline, optimize("no-omit-frame-pointer",
                                              "no-optimize-sibling-calls")))
allocated(cl_type type, int storage, cl_index bytes, cl_object clas,
          void *block) {
    const void *frame = MPROF__FRAME();
    uintptr_t stack = mprof__stack();
    const struct mprof_count count = {1, bytes};
    mprof__ecl_note_thread();
    mprof__ecl_count(bytes);
    struct mprof__self *me = mprof__enter_quickly(stack);
    struct mprof__thread *thread =
        me == NULL ? NULL : me->heap[MPROF_LISP_HEAP].thread;
    if (__builtin_expect(thread == NULL || me->heap[MPROF_LISP_HEAP].id !=
                                               mprof__recording_id(),
                         0)) {
        allocated_slowly(me, type, storage, count, clas, block, frame, stack);
        return;
    }
    struct mprof__trail trail;
    const struct mprof__cell *cell = mprof__cell_quickly(thread, frame, &trail);
    if (__builtin_expect(cell == NULL, 0)) {
        allocated_elsewhere(me, type, storage, bytes, clas, block, frame,
                            trail.first, trail.last);
        return;
    }
    struct mprof_bin *bin =
        mprof__bin_of(thread, (unsigned)type % MPROF__TYPES, (uintptr_t)clas);
    struct mprof_counter *counter =
        bin == NULL ? NULL
                    : mprof__cell_counter(
                          &thread->memo, cell,
                          mprof__bin_key(thread->memo.base, bin, storage != 0));
    if (__builtin_expect(
            counter == NULL ||
                !mprof__count_lisp(thread, counter, bin, storage != 0, count),
            0)) {
        allocated_elsewhere(me, type, storage, bytes, clas, block, frame, NULL,
                            NULL);
        return;
    }
    if (__builtin_expect(thread->trees.lives, 0)) {
        mprof_ref ref = mprof__ref_from(thread->memo.base, counter);
        if (!mprof__alive_begin_quickly(&thread->session->alive,
                                        &thread->shadow, block, ref, bytes)) {
            begin_life(me, block, ref, bytes);
            return;
        }
    }
    mprof__leave_quickly(me);
}

/* The same where only some are recorded. */
static void __attribute__((noinline, optimize("no-omit-frame-pointer",
                                              "no-optimize-sibling-calls")))
sampled(cl_type type, int storage, cl_index bytes, cl_object clas,
        void *block) {
    struct mprof_count stands_for;
    mprof__ecl_note_thread();
    mprof__ecl_count(bytes);
    if (!mprof__sampled(bytes) || !mprof__sample(bytes, &stands_for))
        return;
    uintptr_t stack = mprof__stack();
    allocated_slowly(mprof__enter_quickly(stack), type, storage, stands_for,
                     clas, block, MPROF__FRAME(), stack);
}

/* A Lisp interrupt might leave the hook by a jump, with locks taken: it waits,
 * as it does during an allocation, where the runtime sees to that. */
static void named(cl_object name, cl_object function) {
    mprof__ecl_note_thread();
    cl_env_ptr env = mprof__ecl_env();
    struct mprof__self *me = env == NULL ? NULL : mprof__enter();
    if (me == NULL)
        return;
    int disabled = env->disable_interrupts;
    if (!disabled)
        ecl_disable_interrupts_env(env);
    if (mprof__current() != NULL)
        mprof__ecl_registry_name(name, function);
    mprof__leave(me);
    if (!disabled)
        ecl_enable_interrupts_env(env);
}

static void loaded(cl_object block, int opened) {
    mprof__ecl_note_thread();
    struct mprof__self *me = mprof__enter();
    if (me == NULL)
        return;
    if (mprof__current() != NULL)
        mprof__ecl_registry_library(block, opened != 0);
    mprof__leave(me);
}

/* Report a free, before the collector gets the block back. */
static void freed(void *block) {
    const struct mprof__session *session = mprof__tracked();
    mprof__ecl_note_thread();
    if (session == NULL || session->alive.mode == MPROF_LIVE_OFF ||
        block == NULL)
        return;
    struct mprof__self *me = mprof__enter();
    if (me == NULL)
        return;
    mprof__collector_exclude(mprof__lisp_freed, block);
    mprof__leave(me);
}

static const struct ecl_monitor monitor = {
    .allocated = allocated, .freed = freed, .named = named, .loaded = loaded};

static const struct ecl_monitor samples = {
    .allocated = sampled, .freed = freed, .named = named, .loaded = loaded};

static const struct ecl_monitor names_only = {.allocated = mprof__ecl_ignore,
                                              .freed = mprof__ecl_ignore_free,
                                              .named = named,
                                              .loaded = loaded};

/* After a recording of what is alive, which may go on. */
static const struct ecl_monitor frees_only = {.allocated = mprof__ecl_ignore,
                                              .freed = freed,
                                              .named = mprof__ecl_ignore_name,
                                              .loaded =
                                                  mprof__ecl_ignore_library};

/* A symbol of the runtime itself; interning it by name would cons. */
static cl_object find_core_symbol(const char *name, cl_object package) {
    for (cl_index i = 0; i < cl_num_symbols_in_core; i++) {
        cl_object symbol = (cl_object)(cl_symbols + i);
        if (symbol->symbol.hpack == package &&
            mprof__string_is(symbol->symbol.name, name))
            return symbol;
    }
    return OBJNULL;
}

static int check(unsigned heaps) {
    if ((heaps & MPROF_HEAP_LISP) && ecl_set_monitor == NULL)
        return MPROF_E_UNPATCHED;
    if (ecl_get_option(ECL_OPT_BOOTED) <= 0)
        return MPROF_E_NOT_BOOTED;
    if ((heaps & MPROF_HEAP_MALLOC) && !mprof__malloc_is_there())
        return MPROF_E_MALLOC;
    return 0;
}

static void attach(unsigned heaps) {
    struct mprof__unwind unwind;
    mprof__cfi_find((uintptr_t)ecl_interpret, &unwind);
    interpreter = unwind.function;
    toplevel_name = find_core_symbol("BYTECODES", cl_core.system_package);
    mprof__ecl_keep_start();
    mprof__ecl_find_thread();
    struct mprof__self *me = mprof__enter();
    if (me != NULL) {
        /* Names may have changed since a stop. */
        mprof__ecl_registry_clear();
        mprof__ecl_registry_fill();
        mprof__leave(me);
    }
    /* Without the Lisp heap, names and libraries are of interest still. */
    mprof__ecl_watch(!(heaps & MPROF_HEAP_LISP)              ? &names_only
                     : mprof__tracked()->alive.sampling != 0 ? &samples
                                                             : &monitor);
    if (heaps & MPROF_HEAP_LISP)
        mprof__collector_watch();
    if (heaps & MPROF_HEAP_MALLOC)
        mprof__malloc_attach();
}

static void rename_late(struct mprof__names *names) {
    /* After cl_shutdown() ECL cannot be asked. */
    if (ecl_get_option(ECL_OPT_BOOTED) > 0)
        mprof__ecl_rename_methods(names);
}

static void detach(void) {
    const struct mprof__session *session = mprof__tracked();
    bool lives = session != NULL && session->alive.mode != MPROF_LIVE_OFF;
    mprof__ecl_watch(lives ? &frees_only : NULL);
    mprof__malloc_detach();
}

/* A Lisp interrupt might leave the hook by a jump.  Returns whether interrupts
 * were enabled. */
static int defer(void) {
    cl_env_ptr env = mprof__ecl_env();
    if (env == NULL || env->disable_interrupts)
        return 0;
    ecl_disable_interrupts_env(env);
    return 1;
}

static void undefer(int deferred) {
    if (deferred)
        ecl_enable_interrupts_env(ecl_process_env_unsafe());
}

static void forked(void) {
    mprof__ecl_registry_forked();
    mprof__ecl_keep_forked();
}

static void forget(void) {
    mprof__ecl_watch(NULL);
    mprof__ecl_registry_clear();
    mprof__ecl_forget();
}

/* In the library that replaces the patch; see monitor/unpatched/unpatched.h. */
extern bool mprof_unpatched(void) __attribute__((weak));

static void describe_runtime(char *text, size_t size) {
    int version = ECL_VERSION_NUMBER;
    bool unpatched = mprof_unpatched != NULL && mprof_unpatched();
    snprintf(text, size, "ECL %d.%d.%d%s", version / 10000, version / 100 % 100,
             version % 100, unpatched ? ", unpatched" : "");
}

/* The process of Lisp that this thread is; OBJNULL: none. */
static cl_object own_process(void) {
#ifdef ECL_THREADS
    cl_env_ptr env = ecl_process_env_unsafe();
    if (env != NULL && mprof__is_a(env->own_process, t_process))
        return env->own_process;
#endif
    return OBJNULL;
}

static uintptr_t thread_itself(void) {
    cl_object process = own_process();
    if (process == OBJNULL)
        return 0;
    mprof__ecl_keep((uintptr_t)process);
    return (uintptr_t)process;
}

/* Who joins it goes on while it is exiting; then it runs nothing of Lisp. */
static bool thread_has_ended(uintptr_t self) {
#ifdef ECL_THREADS
    const volatile struct ecl_process *process = &((cl_object)self)->process;
    return process->phase == ECL_PROCESS_INACTIVE ||
           process->phase == ECL_PROCESS_EXITING;
#else
    (void)self;
    return false;
#endif
}

static void describe_thread(char *buffer, size_t size) {
    struct mprof__text text;
    mprof__text_begin(&text, buffer, size);
#ifdef ECL_THREADS
    cl_object process = own_process();
    cl_object name = process == OBJNULL ? OBJNULL : process->process.name;
    if (name == OBJNULL)
        return;
    if (!ECL_IMMEDIATE(name) && name->d.t != t_symbol)
        mprof__text_string(&text, name);
    else
        mprof__text_object(&text, name);
#endif
}

static bool interprets(uintptr_t start) {
    return start == interpreter;
}

/* Return the chain's object for a frame that runs FUNCTION; 0: the interpreter
 * itself. */
static uintptr_t what_runs(cl_object function) {
    if (!mprof__is_a(function, t_bytecodes))
        return 0;
    /* Forms that EVAL or LOAD compiled, to be run once: see asm_end(). */
    if (function->bytecodes.name == toplevel_name)
        return MPROF__TOPLEVEL_OBJECT;
    return (uintptr_t)function;
}

/* The interpreter records the function that it runs in its own C frame.  Return
 * the record in the frame [LOW, HIGH), of those from IHS outwards, or NULL. */
static struct ecl_ihs_frame *record_in(struct ecl_ihs_frame *ihs, uintptr_t low,
                                       uintptr_t high) {
    while (ihs != NULL && !((uintptr_t)ihs >= low && (uintptr_t)ihs < high))
        ihs = ihs->next;
    return ihs;
}

static void match(struct mprof__chain *chain) {
    cl_env_ptr env = mprof__ecl_env();
    if (env == NULL)
        return;
    struct ecl_ihs_frame *next = MPROF__ECL_HISTORY(env);
    for (size_t i = chain->count; i-- > chain->unreturned;) {
        struct mprof__frame *f = &chain->frames[i];
        if (!f->interprets)
            continue;
        struct ecl_ihs_frame *ihs = record_in(next, f->low, f->high);
        uintptr_t object = 0;
        if (ihs != NULL) {
            next = ihs->next;
            object = what_runs(ihs->function);
        }
        /* The same frame of the interpreter may run another function now. */
        if (f->object != object && i < chain->reused)
            chain->reused = i;
        f->object = object;
    }
}

static const uintptr_t *runs(uintptr_t low, uintptr_t high) {
    cl_env_ptr env = mprof__ecl_env();
    struct ecl_ihs_frame *ihs =
        env == NULL ? NULL : record_in(MPROF__ECL_HISTORY(env), low, high);
    return ihs == NULL ? NULL : (const uintptr_t *)&ihs->function;
}

static uintptr_t object_of(uintptr_t word) {
    return what_runs((cl_object)word);
}

#pragma weak mprof_set_functions

/* With a libmprof_malloc in front of this library, programs call that one. */
static void __attribute__((constructor)) take_the_lead(void) {
    if (mprof_set_functions != NULL)
        mprof_set_functions(&mprof__own_functions);
}

const struct mprof__adapter mprof__adapter = {
    .heaps = MPROF_HEAP_LISP,
    .check = check,
    .attach = attach,
    .detach = detach,
    .defer = defer,
    .undefer = undefer,
    .forked = forked,
    .rename = rename_late,
    .self = thread_itself,
    .has_ended = thread_has_ended,
    .runtime = describe_runtime,
    .unseen = mprof__malloc_unseen,
    .watch = mprof__malloc_watch,
    .thread = describe_thread,
    .interprets = interprets,
    .match = match,
    .runs = runs,
    .object = object_of,
    .native = mprof__ecl_native,
    .interpreted = mprof__ecl_interpreted,
    .type = mprof__type_name,
    .reports_live = mprof__collector_reports_live,
    .collect = mprof__collector_collect,
    .keepers = mprof__lisp_keepers,
    .keep = mprof__ecl_keep,
    .forget = forget,
};
