/* areas.c - where the program may have addresses of blocks. */
#include <unistd.h>

#include "monitor/scan/scanning.h"

#include "monitor/base/table.h"

/* glibc's arenas but the first one are aligned to that, and no larger. */
#define ARENA ((uintptr_t)64 << 20)

/* Is BLOCK alone on its pages, as what malloc() has from mmap()? */
static bool is_alone(const struct mprof__block *block) {
    enum { LEAST = 64 << 10, PAGE = 4096 };
    uintptr_t offset = block->at % PAGE;
    return block->bytes >= LEAST && (offset == 0 || offset == 16);
}

/* Where what the allocator has around BLOCK, in MAPPING, begins and ends: there
 * old contents of what was freed lie about.  But in a late recording what was
 * allocated before it as well: then only the block itself is left out. */
static void find_heap(const struct mprof__scan *s,
                      const struct mprof__mapping *m,
                      const struct mprof__block *block, uintptr_t *start,
                      uintptr_t *end) {
    uintptr_t arena = block->at & -ARENA;
    *start = arena > m->start ? arena : m->start;
    *end = m->end;
    if (s->late || is_alone(block)) {
        *start = block->at;
        *end = block->at + (block->bytes > 0 ? block->bytes : 1);
    } else if (arena >= m->start && arena + ARENA < m->end) {
        *end = arena + ARENA;
    }
}

static bool points(const struct mprof__scan *s, uintptr_t start,
                   uintptr_t end) {
    for (; start < end && end - start >= sizeof(uintptr_t);
         start += sizeof(uintptr_t)) {
        uintptr_t word = *(const volatile uintptr_t *)start;
        if (word >= s->low && word < s->high)
            return true;
    }
    return false;
}

static void add(struct mprof__scan *s, struct mprof__area area) {
    void *areas = mprof__with_room(s->areas, s->area_count, &s->area_room,
                                   sizeof *s->areas);
    if (areas == NULL) {
        s->failed = true;
        return;
    }
    s->areas = areas;
    area.allocators = s->allocators;
    s->areas[s->area_count++] = area;
}

/* AREA, which can be read, in parts that are variables; those without any
 * address are left out. */
static void add_parts(struct mprof__scan *s, struct mprof__area area) {
    uintptr_t start = area.start, end = area.end;
    if (!s->names || area.is_stack) {
        add(s, area);
        return;
    }
    start = (start + sizeof(uintptr_t) - 1) & -sizeof(uintptr_t);
    while (start < end) {
        uintptr_t until = end;
        area.variable = mprof__variable_at(&s->variables, start, &until);
        area.start = start;
        area.end = until;
        if (area.variable == NULL || points(s, start, until))
            add(s, area);
        start = (until + sizeof(uintptr_t) - 1) & -sizeof(uintptr_t);
    }
}

/* All of AREA that can be read. */
static void add_readable(struct mprof__scan *s, struct mprof__area area) {
    uintptr_t start = area.start, end = area.end;
    while (start < end) {
        const struct mprof__mapping *m = mprof__mapping_at(&s->mappings, start);
        if (m == NULL)
            return;
        area.start = start;
        area.end = end < m->end ? end : m->end;
        if (m->readable && !m->device)
            add_parts(s, area);
        start = area.end;
    }
}

/*
 * Threads
 */

/* Where the variables of the thread with the thread pointer LOCAL begin, as far
 * as they are known; else so much before it. */
static uintptr_t first_local(const struct mprof__scan *s, uintptr_t local) {
    enum { BEFORE = 64 << 10 };
    uintptr_t least = local - BEFORE, first = local;
    for (size_t i = 0; i < s->variables.count; i++) {
        const struct mprof__variable *v = &s->variables.list[i];
        if (v->is_local && v->start >= least && v->start < first)
            first = v->start;
    }
    return first < local ? first : least;
}

/* The thread-local memory around its thread pointer, without its stack and
 * without blocks. */
static struct mprof__range local_of(const struct mprof__scan *s,
                                    const struct mprof__thread_areas *thread) {
    enum { BEHIND = 64 << 10 };
    uintptr_t local = thread->pointer;
    const struct mprof__mapping *m = mprof__mapping_at(&s->mappings, local);
    size_t i = mprof__block_behind(s, local);
    if (m == NULL)
        return (struct mprof__range){0, 0};
    uintptr_t start = first_local(s, local);
    uintptr_t end = m->end - local > BEHIND ? local + BEHIND : m->end;
    if (start < m->start)
        start = m->start;
    if (thread->stack_pointer > start && thread->stack_pointer < local)
        start = thread->stack_pointer;
    if (i < s->count && s->blocks[i].at < end)
        end = s->blocks[i].at;
    if (i > 0 && s->blocks[i - 1].at + s->blocks[i - 1].bytes > start)
        start = s->blocks[i - 1].at + s->blocks[i - 1].bytes;
    return (struct mprof__range){start, end};
}

/* The live part of its stack.  None where that is allocated as any object. */
static struct mprof__range stack_of(const struct mprof__scan *s,
                                    const struct mprof__thread_areas *thread) {
    uintptr_t stack = thread->stack_pointer;
    const struct mprof__mapping *m = mprof__mapping_at(&s->mappings, stack);
    size_t i = mprof__block_behind(s, stack);
    struct mprof__range local = thread->local;
    if (m == NULL || (i < s->count && s->blocks[i].at <= stack))
        return (struct mprof__range){0, 0};
    uintptr_t end = m->end;
    if (i < s->count && s->blocks[i].at < end)
        end = s->blocks[i].at;
    if (local.start >= stack && local.start < end)
        end = local.start;
    return (struct mprof__range){stack, end};
}

static struct mprof__thread_areas areas_of(const struct mprof__scan *s,
                                           pid_t tid, uintptr_t stack,
                                           uintptr_t local) {
    struct mprof__thread_areas thread = {
        .tid = tid, .stack_pointer = stack, .pointer = local};
    thread.local = local_of(s, &thread);
    thread.stack = stack_of(s, &thread);
    return thread;
}

static void find_threads(struct mprof__scan *s) {
    const struct mprof__freezer *f = &s->freezer;
    s->threads = mprof__map((f->count + 1) * sizeof *s->threads);
    if (s->threads == NULL) {
        s->failed = true;
        return;
    }
    for (; s->thread_count < f->count; s->thread_count++) {
        const struct mprof__frozen *t = &f->threads[s->thread_count];
        s->threads[s->thread_count] = areas_of(s, t->tid, t->stack, t->local);
    }
    s->threads[s->thread_count++] =
        areas_of(s, getpid(), s->stack, (uintptr_t)__builtin_thread_pointer());
}

/*
 * Data
 */

/* Let *HOLE be RANGE if that begins before it, and ends behind START. */
static void consider(struct mprof__range *hole, uintptr_t start,
                     struct mprof__range range) {
    if (range.end > start && range.start < hole->start)
        *hole = range;
}

/* Find memory that is no data and ends behind START, which begins first: the
 * monitor's memory, which has addresses of blocks, and what threads have. */
static struct mprof__range find_hole(const struct mprof__scan *s,
                                     uintptr_t start) {
    const struct mprof__arena *arena = s->heap->arena;
    uintptr_t base = (uintptr_t)arena->base;
    struct mprof__range hole = {UINTPTR_MAX, UINTPTR_MAX}, ours;
    if (mprof__mapped_behind(start, &ours.start, &ours.end))
        consider(&hole, start, ours);
    consider(&hole, start, (struct mprof__range){base, base + arena->limit});
    for (size_t i = 0; i < s->thread_count; i++) {
        consider(&hole, start, s->threads[i].local);
        consider(&hole, start, s->threads[i].stack);
    }
    return hole;
}

/* The parts of [START, END), of MAPPING, that are no allocator's. */
static void add_data(struct mprof__scan *s, const struct mprof__mapping *m,
                     uintptr_t start, uintptr_t end) {
    while (start < end) {
        uintptr_t stop = end, next = end, heap, heap_end;
        size_t i = mprof__block_behind(s, start);
        if (i < s->count && s->blocks[i].at < stop) {
            find_heap(s, m, &s->blocks[i], &heap, &heap_end);
            stop = heap > start ? heap : start;
            next = heap_end < end ? heap_end : end;
        }
        struct mprof__range hole = find_hole(s, start);
        if (hole.start < stop) {
            stop = hole.start > start ? hole.start : start;
            next = hole.end;
        }
        if (start < stop)
            add_parts(s, (struct mprof__area){.start = start, .end = stop});
        start = next > start ? next : end;
    }
}

/* Where to begin in MAPPING: below a stack pointer all is dead. */
static uintptr_t live_start(const struct mprof__scan *s,
                            const struct mprof__mapping *m) {
    uintptr_t start = m->end;
    if (!m->stack)
        return m->start;
    for (size_t i = 0; i < s->thread_count; i++) {
        uintptr_t stack = s->threads[i].stack_pointer;
        if (stack >= m->start && stack < start)
            start = stack;
    }
    return start < m->end ? start : m->start;
}

static void add_mappings(struct mprof__scan *s) {
    for (size_t i = 0; i < s->mappings.count; i++) {
        const struct mprof__mapping *m = &s->mappings.list[i];
        bool data = !m->heap || s->late;
        s->allocators = m->libc || s->late;
        /* A mapping that is read-only now may have been writable before. */
        if (m->readable && (m->writable || m->own) && data && !m->device)
            add_data(s, m, live_start(s, m), m->end);
    }
    s->allocators = false;
}

static void add_words(struct mprof__scan *s, pid_t tid, const uintptr_t *words,
                      size_t count) {
    add(s, (struct mprof__area){.start = (uintptr_t)words,
                                .end = (uintptr_t)(words + count),
                                .tid = tid,
                                .is_stack = true});
}

/* A stack that is a block is reached by its pointer. */
static void add_stacks(struct mprof__scan *s) {
    for (size_t i = 0; i < s->thread_count; i++)
        add_readable(s, (struct mprof__area){.start = s->threads[i].stack.start,
                                             .end = s->threads[i].stack.end,
                                             .tid = s->threads[i].tid,
                                             .is_stack = true});
    add_words(s, getpid(), &s->stack, 1);
    for (uint32_t i = 0; i < s->freezer.count; i++) {
        const struct mprof__frozen *t = &s->freezer.threads[i];
        add_words(s, t->tid, &t->stack, 1);
        add_words(s, t->tid, t->words, sizeof t->words / sizeof t->words[0]);
    }
}

void mprof__scan_areas(struct mprof__scan *s) {
    find_threads(s);
    add_mappings(s);
    for (size_t i = 0; i < s->thread_count; i++)
        add_readable(s, (struct mprof__area){.start = s->threads[i].local.start,
                                             .end = s->threads[i].local.end,
                                             .tid = s->threads[i].tid});
    s->certain = s->area_count;
    add_stacks(s);
}
