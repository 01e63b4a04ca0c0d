/* check_walk.c - in libraries for tests: take every chain once more, in another
 * way, and compare.
 *
 * Environment: MPROF_CHECK_WALK, "full" (a walk that keeps nothing of the one
 * before and knows no mark; the default) or "libunwind"; MPROF_CHECK_EVERY,
 * N to take only each Nth of the chains that cells found (default 1);
 * MPROF_CHECK_REPORT, a file that gets the first differences, and
 * at the end of the process a line
 *
 *     walks N different N unchecked N marks N cells N
 *
 * Unchecked is what libunwind could not follow; marks counts the walks that set
 * some, cells those that were by what is remembered of frames. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/base/table.h"
#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/names/names.h"
#include "monitor/record/find_counter.h"
#include "monitor/names/sites.h"

#ifdef HAVE_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

enum { MOST_TOLD = 20 };

static uint64_t walks, different, unchecked, marks, cells; /* atomic */

static MPROF__FAST_TLS struct mprof__chain full;
static MPROF__FAST_TLS struct mprof_thread dummy;

static void tell(const char *text, size_t length) {
    const char *path = getenv("MPROF_CHECK_REPORT");
    if (path == NULL)
        return;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd >= 0 && write(fd, text, length) < 0)
        abort();
    close(fd);
}

static bool by_libunwind(void) {
    static int known; /* 0: not yet; atomic */
    if (known == 0) {
        const char *how = getenv("MPROF_CHECK_WALK");
        known = how != NULL && strcmp(how, "libunwind") == 0 ? 1 : -1;
    }
    return known > 0;
}

static void differs(const struct mprof__chain *chain, const char *what,
                    size_t index, uintptr_t here, uintptr_t there) {
    char text[400];
    if (mprof__add_relaxed(&different, 1) > MOST_TOLD)
        return;
    int n =
        snprintf(text, sizeof text,
                 "process %d: %s of frame %zu of %zu (reused %zu, unreturned "
                 "%zu): %#lx, and by the other walk %#lx\n",
                 (int)getpid(), what, index, chain->count, chain->reused,
                 chain->unreturned, (unsigned long)here, (unsigned long)there);
    tell(text, (size_t)n);
}

/* The tree must lead from frame to frame. */
static bool has_place(struct mprof__thread *thread, size_t i) {
    const struct mprof__frame *f = &thread->chain.frames[i];
    const struct mprof__arena *arena = &thread->session->arena;
    mprof_ref parent = i > 0 ? f[-1].node : thread->trees.tree.root;
    if (f->folded || f->node == 0)
        return f->node != 0;
    const struct mprof_node *node = mprof__arena_at(arena, f->node);
    return node->parent == parent &&
           (f->object != 0 ||
            mprof__call_function(arena, node->call) == f->site->function);
}

static const struct mprof_string *
path_of(const struct mprof__arena *arena,
        const struct mprof_function *function) {
    const struct mprof_module *module =
        mprof__arena_at(arena, function->module);
    return mprof__arena_at(arena, module->path);
}

/* What is known of a library that is still there may be forgotten, with that of
 * one which was there before and reached into its place: then it is looked up
 * again, as the same function of the same library. */
static bool same_code(const struct mprof__arena *arena,
                      const struct mprof__site *one,
                      const struct mprof__site *other) {
    if (one == other)
        return true;
    const struct mprof_function *a = mprof__arena_at(arena, one->function);
    const struct mprof_function *b = mprof__arena_at(arena, other->function);
    if (a->address != b->address || a->module == 0 || b->module == 0)
        return false;
    const struct mprof_string *p = path_of(arena, a), *q = path_of(arena, b);
    return p->length == q->length && memcmp(p->text, q->text, p->length) == 0;
}

static void compare_full(struct mprof__thread *thread) {
    const struct mprof__chain *chain = &thread->chain;
    const struct mprof__arena *arena = &thread->session->arena;
    if (chain->count != full.count || chain->cut != full.cut) {
        differs(chain, "number", 0, chain->count, full.count);
        return;
    }
    for (size_t i = 0; i < full.count; i++) {
        const struct mprof__frame *a = &chain->frames[i], *b = &full.frames[i];
        const char *what = a->pc != b->pc     ? "place"
                           : a->low != b->low ? "stack pointer"
                           : !same_code(arena, a->site, b->site) ? "site"
                           : a->object != b->object              ? "object"
                           : !has_place(thread, i)               ? "link"
                                                                 : NULL;
        if (what != NULL) {
            differs(chain, what, i, a->pc, b->pc);
            return;
        }
    }
}

static uint32_t forks; /* from the first process to this one */

static void forked(void) {
    forks++;
}

static void __attribute__((constructor)) count_forks(void) {
    pthread_atfork(NULL, NULL, forked);
}

static void walk_in_full(struct mprof__thread *thread, const void *frame) {
    static MPROF__FAST_TLS uint64_t session;
    full.generation = 0;
    static MPROF__FAST_TLS uint32_t known_forks; /* has sessions of its own */
    if (session != thread->session->id || known_forks != forks)
        full.known.generation = 0;
    session = thread->session->id;
    known_forks = forks;
    full.marks = thread->chain.marks;
    mprof__chain_begin(&full, mprof__site_of, &thread->session->names, &dummy);
    full.refused = MPROF_MARKS_OFF + 1;
    mprof__walk(&full, frame);
    mprof__adapter.match(&full);
}

#ifdef HAVE_LIBUNWIND
/* Its search of the barrier's tables goes wrong: it is to see no marks.  What
 * was changed is changed back by show_marks(). */
static MPROF__FAST_TLS bool *hidden; /* MPROF__MOST_MARKS of them; mapped */

static void hide_marks(const struct mprof__marks *marks) {
    if (hidden == NULL)
        hidden = mprof__map(MPROF__MOST_MARKS * sizeof *hidden);
    for (uint32_t i = 0; hidden != NULL && i < marks->count; i++) {
        uintptr_t *slot = (uintptr_t *)marks->mark[i].ra_slot;
        hidden[i] = *slot == marks->mark[i].word;
        if (hidden[i])
            *slot = mprof__marked_address(*slot);
    }
}

static void show_marks(const struct mprof__marks *marks) {
    for (uint32_t i = 0; hidden != NULL && i < marks->count; i++)
        if (hidden[i])
            *(uintptr_t *)marks->mark[i].ra_slot = marks->mark[i].word;
}

/* libunwind masks all signals for every frame that it looks up, which is most
 * of the time that this takes: they are masked once, for the whole chain. */
static MPROF__FAST_TLS bool masked;

__attribute__((visibility("default"))) int
sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    if (masked)
        return 0;
    int error = pthread_sigmask(how, set, old);
    if (error != 0)
        errno = error;
    return error == 0 ? 0 : -1;
}

static void walk_by_libunwind(const struct mprof__chain *chain) {
    unw_context_t context;
    unw_cursor_t cursor;
    unw_word_t pc = 0, sp = 0;
    size_t i = chain->count;
    int result;
    unw_getcontext(&context);
    unw_init_local(&cursor, &context);
    /* Those of the monitor are further in. */
    while ((result = unw_step(&cursor)) > 0 && i > 0) {
        unw_get_reg(&cursor, UNW_REG_IP, &pc);
        unw_get_reg(&cursor, UNW_REG_SP, &sp);
        if (sp < chain->frames[chain->count - 1].low || pc == 0)
            continue;
        /* Interrupted there: its tables are the same trouble. */
        if (mprof__in_barrier(pc)) {
            result = -1;
            break;
        }
        i--;
        if (chain->frames[i].pc != pc) {
            differs(chain, "place", i, chain->frames[i].pc, pc);
            return;
        }
    }
    if (i > 0 && (result < 0 || chain->frames[i - 1].exact))
        mprof__add_relaxed(&unchecked, 1);
    else if (i > 0)
        differs(chain, "end", i, chain->frames[i - 1].pc, pc);
}

static void check_by_libunwind(const struct mprof__thread *thread,
                               const struct mprof__chain *chain) {
    struct mprof__marks *own = thread->chain.marks;
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (own != NULL)
        hide_marks(own);
    masked = true;
    walk_by_libunwind(chain);
    masked = false;
    if (own != NULL)
        show_marks(own);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}
#else
static void check_by_libunwind(const struct mprof__thread *thread,
                               const struct mprof__chain *chain) {
    (void)thread, (void)chain;
    mprof__add_relaxed(&unchecked, 1);
}
#endif

static void note_walk(const struct mprof__thread *thread) {
    static MPROF__FAST_TLS uint64_t marked;
    mprof__add_relaxed(&walks, 1);
    if (marked != thread->record->marks) {
        marked = thread->record->marks;
        mprof__add_relaxed(&marks, 1);
    }
}

/* For the report: the function REF. */
static void tell_function(const struct mprof__arena *arena, mprof_ref ref) {
    char text[300];
    if (ref == 0 || different > MOST_TOLD)
        return;
    const struct mprof_function *f = mprof__arena_at(arena, ref);
    const struct mprof_string *name =
        f->name != 0 ? mprof__arena_at(arena, f->name) : NULL;
    int n = snprintf(text, sizeof text, "  %#x: kind %u at %#lx of %#x, %.*s\n",
                     ref, f->kind, (unsigned long)f->address, f->module,
                     name != NULL ? (int)name->length : 0,
                     name != NULL ? name->text : "");
    tell(text, (size_t)n);
}

/* What was found by cells, without a chain: a walk in full must lead to the
 * same place. */
static void compare_cell(struct mprof__thread *thread,
                         const struct mprof__cell *cell) {
    const struct mprof__arena *arena = &thread->session->arena;
    const struct mprof_node *node = mprof__arena_at(arena, cell->node);
    if (full.cut) {
        differs(&full, "cut of cells", 0, 0, 0);
        return;
    }
    for (size_t i = full.count; i-- > 0;) {
        const struct mprof__frame *f = &full.frames[i];
        mprof_ref function =
            node->parent == 0 ? 0 : mprof__call_function(arena, node->call);
        mprof_ref right =
            f->object == 0
                ? f->site->function
                : mprof__function_find(&thread->session->names, f->object);
        if (function == 0 || right != function ||
            (i + 1 == full.count && f->object == 0 &&
             f->site->ref != cell->call)) {
            differs(&full, "cell", i, function, right);
            tell_function(arena, function);
            tell_function(arena, right);
            return;
        }
        node = mprof__arena_at(arena, node->parent);
    }
    if (node->parent != 0)
        differs(&full, "end of cells", 0, 0, 0);
}

/* Is this one of those to take again? */
static bool is_due(void) {
    static unsigned every; /* 0: not known yet; atomic */
    static MPROF__FAST_TLS unsigned passed;
    if (every == 0) {
        const char *value = getenv("MPROF_CHECK_EVERY");
        every = value != NULL && atoi(value) > 0 ? (unsigned)atoi(value) : 1;
    }
    return ++passed % every == 0;
}

void mprof__check_cell(struct mprof__thread *thread, const void *frame,
                       const struct mprof__cell *cell) {
    if (!is_due())
        return;
    note_walk(thread);
    mprof__add_relaxed(&cells, 1);
    walk_in_full(thread, frame);
    compare_cell(thread, cell);
    if (by_libunwind() && !full.cut)
        check_by_libunwind(thread, &full);
}

void mprof__check_walk(struct mprof__thread *thread, const void *frame) {
    note_walk(thread);
    if (by_libunwind()) {
        check_by_libunwind(thread, &thread->chain);
        return;
    }
    walk_in_full(thread, frame);
    compare_full(thread);
}

static void __attribute__((destructor)) report(void) {
    char text[200];
    if (walks == 0)
        return;
    int n = snprintf(text, sizeof text,
                     "walks %llu different %llu unchecked %llu marks %llu "
                     "cells %llu\n",
                     (unsigned long long)walks, (unsigned long long)different,
                     (unsigned long long)unchecked, (unsigned long long)marks,
                     (unsigned long long)cells);
    tell(text, (size_t)n);
}
