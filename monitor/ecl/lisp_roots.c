/* lisp_roots.c - see lisp_roots.h. */
#define _GNU_SOURCE
#include "monitor/ecl/lisp_roots.h"

#include <link.h>
#include <string.h>

#include "monitor/base/table.h"
#include "monitor/ecl/collector.h"
#include "monitor/ecl/ecl_adapter.h"
#include "monitor/ecl/ecl_version.h"
#include "monitor/scan/roots.h"

void mprof__lisp_roots_add(struct mprof__lisp_roots *roots,
                           struct mprof__lisp_root root) {
    void *list = mprof__with_room(roots->list, roots->count, &roots->room,
                                  sizeof *roots->list);
    if (list == NULL) {
        roots->failed = true;
        return;
    }
    roots->list = list;
    roots->list[roots->count++] = root;
}

static void add(struct mprof__lisp_roots *roots, enum mprof__root kind,
                uintptr_t what, const void *start, const void *end) {
    if (start != NULL && start < end)
        mprof__lisp_roots_add(
            roots, (struct mprof__lisp_root){kind, what, start, end, 0});
}

/*
 * Data of C
 */

static bool has_segment(const struct dl_phdr_info *file, uintptr_t address) {
    for (unsigned i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &file->dlpi_phdr[i];
        uintptr_t start = file->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && address >= start &&
            address - start < segment->p_memsz)
            return true;
    }
    return false;
}

/* Add the data from START to END without the symbols of ECL. */
static void add_data(struct mprof__lisp_roots *roots, const char *name,
                     uintptr_t start, uintptr_t end) {
    uintptr_t symbols = (uintptr_t)cl_symbols,
              symbols_end = (uintptr_t)(cl_symbols + cl_num_symbols_in_core);
    start = (start + sizeof(uintptr_t) - 1) & -sizeof(uintptr_t);
    end &= -sizeof(uintptr_t);
    if (symbols >= start && symbols_end <= end) {
        add(roots, MPROF__DATA, (uintptr_t)name, (void *)start,
            (void *)symbols);
        start = symbols_end;
    }
    add(roots, MPROF__DATA, (uintptr_t)name, (void *)start, (void *)end);
}

/* Neither the collector nor the monitor keep anything by their data. */
static int add_file(struct dl_phdr_info *file, size_t size, void *data) {
    (void)size;
    if (has_segment(file, mprof__collector_code()) ||
        has_segment(file, (uintptr_t)&mprof__mapped))
        return 0;
    for (unsigned i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &file->dlpi_phdr[i];
        uintptr_t start = file->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W))
            add_data(data, file->dlpi_name, start, start + segment->p_memsz);
    }
    return 0;
}

/*
 * Threads
 */

/* The words of ENV, of which the values of the last call are like a stack. */
static void add_env(struct mprof__lisp_roots *roots, cl_object process,
                    cl_env_ptr env) {
    uintptr_t what = (uintptr_t)process;
    add(roots, MPROF__THREAD, what, &env->nvalues, env->values);
    enum mprof__root stack =
        process == OBJNULL ? MPROF__OWN_STACK : MPROF__STACK;
    add(roots, stack, what, env->values,
        env->values + ECL_MULTIPLE_VALUES_LIMIT);
    add(roots, MPROF__THREAD, what, env->values + ECL_MULTIPLE_VALUES_LIMIT,
        (const uintptr_t *)(void *)env + sizeof *env / sizeof(uintptr_t));
    add(roots, stack, what, MPROF__ECL_ARGUMENTS(env),
        MPROF__ECL_ARGUMENTS_TOP(env));
    add(roots, stack, what, MPROF__ECL_FRAMES(env),
        MPROF__ECL_FRAMES_TOP(env) + 1);
}

static void add_bindings(struct mprof__lisp_roots *roots, cl_object process,
                         cl_env_ptr env) {
    struct ecl_bds_frame *frame = MPROF__ECL_OUTER(env);
    for (; frame != NULL && frame <= MPROF__ECL_OUTER_TOP(env); frame++)
        add(roots, MPROF__OUTER_VALUE, (uintptr_t)frame->symbol, &frame->value,
            &frame->value + 1);
#ifdef ECL_THREADS
    const cl_object *own = MPROF__ECL_BINDINGS(env);
    for (cl_index i = 0; own != NULL && i < MPROF__ECL_BINDINGS_SIZE(env); i++)
        mprof__lisp_roots_add(
            roots, (struct mprof__lisp_root){
                       MPROF__OWN_VALUE, i, (const uintptr_t *)(own + i),
                       (const uintptr_t *)(own + i + 1), (uintptr_t)process});
#else
    (void)process;
#endif
}

/* The C stack that begins at ORIGIN, as far as FRAME if that is on it. */
static void add_stack(struct mprof__lisp_roots *roots, cl_object process,
                      const struct mprof__mappings *mappings, uintptr_t origin,
                      uintptr_t frame) {
    const struct mprof__mapping *m = mprof__mapping_at(mappings, origin - 1);
    if (m == NULL || !m->readable)
        return;
    bool is_here = frame >= m->start && frame < m->end;
    add(roots, process == OBJNULL ? MPROF__OWN_STACK : MPROF__STACK,
        (uintptr_t)process,
        (void *)(is_here ? frame & -sizeof(uintptr_t) : m->start),
        (void *)m->end);
}

static void add_thread(struct mprof__lisp_roots *roots, cl_object process,
                       cl_env_ptr env, const struct mprof__mappings *mappings,
                       uintptr_t frame) {
    add_env(roots, process, env);
    add_bindings(roots, process, env);
    add_stack(roots, process, mappings, (uintptr_t)MPROF__ECL_STACK(env),
              frame);
}

static int count_line(char *line, void *data) {
    size_t *count = data;
    (void)line;
    ++*count;
    return 0;
}

static void add_threads(struct mprof__lisp_roots *roots, uintptr_t frame) {
    enum { MORE = 64 };
    struct mprof__mappings mappings = {.room = MORE};
    mprof__mappings_lines(count_line, &mappings.room);
    size_t bytes = mappings.room * sizeof *mappings.list;
    mappings.list = mprof__map(bytes);
    if (mappings.list == NULL || mprof__mappings_read(&mappings) != 0)
        roots->failed = true;
    cl_env_ptr here = ecl_process_env_unsafe();
    if (!roots->failed && here != NULL)
        add_thread(roots, OBJNULL, here, &mappings, frame);
#ifdef ECL_THREADS
    cl_object all = MPROF__ECL_PROCESSES;
    for (cl_index i = 0; !roots->failed && i < all->vector.dim; i++) {
        cl_object process = all->vector.self.t[i];
        if (mprof__is_a(process, t_process) && process->process.env != NULL &&
            process->process.env != here)
            add_thread(roots, process, process->process.env, &mappings, frame);
    }
#endif
    mprof__unmap(mappings.list, bytes);
}

static void add_kept(const uintptr_t *start, size_t count, void *roots) {
    add(roots, MPROF__NAMES, 0, start, start + count);
}

void mprof__lisp_roots_begin(struct mprof__lisp_roots *roots) {
    memset(roots, 0, sizeof *roots);
    dl_iterate_phdr(add_file, roots);
}

void mprof__lisp_roots_of_threads(struct mprof__lisp_roots *roots,
                                  uintptr_t frame) {
    add_threads(roots, frame);
    mprof__ecl_each_kept(add_kept, roots);
}

void mprof__lisp_roots_sort(struct mprof__lisp_roots *roots) {
    size_t next[MPROF__ROOT_KINDS + 1] = {0}, bytes;
    bytes = roots->room * sizeof *roots->list;
    struct mprof__lisp_root *sorted = mprof__map(bytes);
    if (sorted == NULL) {
        roots->failed = true;
        return;
    }
    for (size_t i = 0; i < roots->count; i++)
        next[roots->list[i].kind + 1]++;
    for (int kind = 0; kind < MPROF__ROOT_KINDS; kind++)
        next[kind + 1] += next[kind];
    roots->certain = next[MPROF__FIRST_UNCERTAIN];
    for (size_t i = 0; i < roots->count; i++)
        sorted[next[roots->list[i].kind]++] = roots->list[i];
    mprof__unmap(roots->list, bytes);
    roots->list = sorted;
}

void mprof__lisp_roots_end(struct mprof__lisp_roots *roots) {
    mprof__unmap(roots->list, roots->room * sizeof *roots->list);
    memset(roots, 0, sizeof *roots);
}
