/* lisp_heap.c - see lisp_heap.h. */
#include "monitor/ecl/lisp_heap.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "monitor/base/table.h"
#include "monitor/ecl/ecl_version.h"
#include "monitor/format/process.h"
#include "monitor/include/mprof.h"

/*
 * From words to objects
 */

static size_t slot_of(const struct mprof__lisp_heap *heap, uintptr_t at) {
    return (at >> 4) * 0x9e3779b97f4a7c15u >> 20 & (heap->slots - 1);
}

/* The number of the object at AT; heap->count: there is none. */
static size_t number_at(const struct mprof__lisp_heap *heap, uintptr_t at) {
    if (at < heap->low || at >= heap->high)
        return heap->count;
    for (size_t i = slot_of(heap, at);; i = (i + 1) & (heap->slots - 1)) {
        uint32_t number = heap->index[i];
        if (number == 0)
            return heap->count;
        if (heap->objects[number - 1].at == at)
            return number - 1;
    }
}

/* Conses have a tag, and are at multiples of sixteen; so are all others, but
 * without one. */
static size_t pointed(const struct mprof__lisp_heap *heap, uintptr_t word) {
    return word & 14 ? heap->count : number_at(heap, word & ~(uintptr_t)1);
}

uint32_t mprof__lisp_node(const struct mprof__lisp_heap *heap, uintptr_t word) {
    size_t number = pointed(heap, word);
    return number == heap->count ? 0 : heap->graph.roots + 1 + (uint32_t)number;
}

static void see_object(void *object, size_t bytes, void *data) {
    struct mprof__lisp_heap *heap = data;
    if (heap->failed || heap->count == UINT32_MAX - 1)
        return;
    void *list = mprof__with_room(heap->objects, heap->count, &heap->room,
                                  sizeof *heap->objects);
    heap->failed = list == NULL;
    if (heap->failed)
        return;
    heap->objects = list;
    heap->objects[heap->count++] = (struct mprof__lisp_object){
        .at = (uintptr_t)object, .bytes = bytes & 0xffffffffffff};
}

static void make_index(struct mprof__lisp_heap *heap) {
    size_t slots = 1024;
    while (slots < heap->count * 3 / 2)
        slots *= 2;
    heap->index = mprof__map(slots * sizeof *heap->index);
    if (heap->index == NULL) {
        heap->failed = true;
        return;
    }
    heap->slots = slots;
    heap->low = UINTPTR_MAX;
    for (size_t n = 0; n < heap->count; n++) {
        const struct mprof__lisp_object *o = &heap->objects[n];
        size_t i = slot_of(heap, o->at);
        while (heap->index[i] != 0)
            i = (i + 1) & (slots - 1);
        heap->index[i] = (uint32_t)n + 1;
        if (o->at < heap->low)
            heap->low = o->at;
        if (o->at + o->bytes > heap->high)
            heap->high = o->at + o->bytes;
    }
}

/*
 * Types
 */

static void find_types(struct mprof__lisp_heap *heap) {
    for (size_t n = 0; n < heap->count; n++) {
        struct mprof__lisp_object *o = &heap->objects[n];
        o->kind = mprof__collector_kind((void *)o->at) & 0xff;
        o->type = mprof__lisp_type(o) & 0xff;
    }
    for (size_t n = 0; n < heap->count; n++) {
        uintptr_t owned[MPROF__MOST_OWNED];
        size_t count = mprof__lisp_owned(&heap->objects[n], owned);
        for (size_t i = 0; i < count; i++) {
            size_t other = number_at(heap, owned[i]);
            if (other != heap->count && other != n)
                heap->objects[other].type = MPROF__STORAGE;
        }
    }
}

static void add_slot(struct mprof__lisp_heap *heap, enum mprof__root kind,
                     cl_object symbol, const cl_object *slot) {
    if (*slot != symbol && pointed(heap, (uintptr_t)*slot) != heap->count)
        mprof__lisp_roots_add(
            &heap->roots,
            (struct mprof__lisp_root){.kind = kind,
                                      .what = (uintptr_t)symbol,
                                      .start = (const void *)slot,
                                      .end = (const void *)(slot + 1)});
}

/* SYMBOL may have values of its own in threads: its number among these. */
static void add_symbol(struct mprof__lisp_heap *heap, cl_object symbol,
                       struct mprof__table *bound) {
#ifdef ECL_THREADS
    if (symbol->symbol.binding != ECL_MISSING_SPECIAL_BINDING)
        mprof__table_add(bound, symbol->symbol.binding + 1, (uintptr_t)symbol);
#endif
    add_slot(heap, MPROF__VALUE, symbol, &symbol->symbol.value);
    add_slot(heap, MPROF__FUNCTION, symbol, &symbol->symbol.gfdef);
    add_slot(heap, MPROF__PLIST, symbol, &symbol->symbol.plist);
#ifdef HAVE_STRUCT_ECL_SYMBOL_SFDEF
    add_slot(heap, MPROF__FUNCTION, symbol, &symbol->symbol.macfun);
    add_slot(heap, MPROF__FUNCTION, symbol, &symbol->symbol.sfdef);
#endif
}

/* The slots of a symbol of a package are roots with its name. */
static bool is_named(const struct mprof__lisp_object *o) {
    return o->type == t_symbol && ((cl_object)o->at)->symbol.hpack != ECL_NIL &&
           ((cl_object)o->at)->symbol.hpack != OBJNULL;
}

/* Words that are roots are no object's. */
static void leave_out_roots(struct mprof__lisp_heap *heap) {
    for (size_t i = 0; i < heap->roots.count; i++) {
        uintptr_t start = (uintptr_t)heap->roots.list[i].start;
        void *base = mprof__collector_base(start);
        size_t number =
            base == NULL ? heap->count : number_at(heap, (uintptr_t)base);
        if (number != heap->count)
            heap->objects[number].type = MPROF__ROOTS;
    }
}

static void find_roots(struct mprof__lisp_heap *heap) {
    struct mprof__table bound = {0};
    size_t given = heap->roots.count;
    leave_out_roots(heap);
    for (cl_index i = 0; i < cl_num_symbols_in_core; i++) {
        cl_object symbol = (cl_object)(cl_symbols + i);
        add_symbol(heap, symbol, &bound);
        mprof__lisp_roots_add(&heap->roots,
                              (struct mprof__lisp_root){
                                  .kind = MPROF__NAME,
                                  .start = (const void *)&symbol->symbol.name,
                                  .end = (const void *)(symbol + 1)});
    }
    for (size_t n = 0; n < heap->count; n++) {
        const struct mprof__lisp_object *o = &heap->objects[n];
        if (is_named(o))
            add_symbol(heap, (cl_object)o->at, &bound);
        else if (o->kind >= MPROF__UNCOLLECTED)
            mprof__lisp_roots_add(
                &heap->roots, (struct mprof__lisp_root){.kind = MPROF__FOREVER,
                                                        .what = o->at,
                                                        .start = &o->at,
                                                        .end = &o->at + 1});
    }
    for (size_t i = 0; i < given; i++) {
        struct mprof__lisp_root *root = &heap->roots.list[i];
        const struct mprof__slot *slot =
            mprof__table_find(&bound, root->what + 1);
        if (root->kind == MPROF__OWN_VALUE)
            root->what = slot == NULL ? 0 : (uintptr_t)slot->value;
    }
    mprof__table_free(&bound);
    mprof__lisp_roots_sort(&heap->roots);
    heap->failed |= heap->roots.failed;
}

/*
 * Edges
 */

/* On a stack also the inside of an object is known. */
static void add_root_edges(struct mprof__lisp_heap *heap,
                           const struct mprof__lisp_root *root) {
    for (const uintptr_t *word = root->start; word < root->end; word++) {
        uintptr_t at = *(const volatile uintptr_t *)word;
        uint32_t node = mprof__lisp_node(heap, at);
        if (node == 0 && root->kind >= MPROF__FIRST_UNCERTAIN &&
            at >= heap->low && at < heap->high)
            node = mprof__lisp_node(heap, (uintptr_t)mprof__collector_base(at));
        if (node != 0)
            mprof__graph_add(&heap->graph, node);
    }
}

static void add_words(struct mprof__lisp_heap *heap, const void *start,
                      const void *end) {
    const uintptr_t *word = start, *stop = end;
    for (; word < stop; word++) {
        uint32_t node =
            mprof__lisp_node(heap, *(const volatile uintptr_t *)word);
        if (node != 0)
            mprof__graph_add(&heap->graph, node);
    }
}

static void add_object_edges(struct mprof__lisp_heap *heap,
                             const struct mprof__lisp_object *o) {
    const struct ecl_symbol *symbol = (const void *)o->at;
    const char *end = (const char *)o->at + o->bytes;
    if (o->type == MPROF__ROOTS || !mprof__lisp_points(o))
        return;
    if (is_named(o))
        add_words(heap, &symbol->name, end);
    else
        add_words(heap, (const void *)o->at, end);
}

static void make_graph(struct mprof__lisp_heap *heap) {
    struct mprof__graph *g = &heap->graph;
    const struct mprof__lisp_roots *roots = &heap->roots;
    if (heap->failed || roots->count > UINT32_MAX ||
        !mprof__graph_begin(g, (uint32_t)roots->certain, (uint32_t)roots->count,
                            (uint32_t)heap->count)) {
        heap->failed = true;
        return;
    }
    for (size_t i = 0; i < roots->count; i++) {
        add_root_edges(heap, &roots->list[i]);
        mprof__graph_next(g);
    }
    for (size_t n = 0; n < heap->count; n++) {
        const struct mprof__lisp_object *o = &heap->objects[n];
        g->bytes[g->added] = o->bytes;
        add_object_edges(heap, o);
        mprof__graph_next(g);
    }
    mprof__lisp_heap_says(heap, "finding what keeps them");
    heap->failed = !mprof__graph_analyse(g, true);
}

/*
 * All of it
 */

struct look {
    unsigned what;   /* enum mprof__lisp_look */
    uintptr_t frame; /* of this thread, from which its stack counts */
    void (*see)(struct mprof__lisp_heap *heap, void *data);
    void *data;
};

/* In place on a terminal, else as a line. */
static void say(const char *text) {
    const char *form = isatty(STDERR_FILENO) ? "\r%s\033[K" : "%s\n";
    char line[128];
    int length = snprintf(line, sizeof line, form, text);
    ssize_t written = write(STDERR_FILENO, line, (size_t)length);
    (void)written; /* no harm if that fails */
}

/* Seconds. */
#ifdef MPROF_CHECKS
static const unsigned patience = 0;
#else
static const unsigned patience = 5;
#endif

void mprof__lisp_heap_says(struct mprof__lisp_heap *heap, const char *what) {
    char text[100];
    uint64_t seconds =
        (mprof__clock(CLOCK_MONOTONIC) - heap->begun) / 1000000000;
    if (heap->begun == 0 || seconds < patience)
        return;
    snprintf(text, sizeof text, "mprof: %zu objects, %llu s: %s", heap->count,
             (unsigned long long)seconds, what);
    say(text);
    heap->has_said = true;
}

static int look_at(struct mprof__lisp_heap *heap, const struct look *look) {
    mprof__lisp_roots_of_threads(&heap->roots, look->frame);
    mprof__collector_each(see_object, heap);
    mprof__lisp_heap_says(heap, "finding their types");
    make_index(heap);
    if (!heap->failed) {
        find_types(heap);
        find_roots(heap);
    }
    if (look->what & MPROF__GRAPH) {
        mprof__lisp_heap_says(heap, "finding what they lead to");
        make_graph(heap);
    }
    errno = ENOMEM;
    if (heap->failed)
        return MPROF_E_MEMORY;
    look->see(heap, look->data);
    return 0;
}

/* A piece of memory may only look like an object, and lead to no memory.
 * Other threads are stopped, so one thread at a time has these. */
static struct {
    pthread_t thread;
    sigjmp_buf place;
    struct sigaction segv, bus;
} fault;

static void on_fault(int signal) {
    if (pthread_equal(fault.thread, pthread_self()))
        siglongjmp(fault.place, 1);
    /* The program caused it: its own handler gets it when it comes again. */
    sigaction(signal, signal == SIGBUS ? &fault.bus : &fault.segv, NULL);
}

static int look_safely(struct mprof__lisp_heap *heap, const struct look *look) {
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    int error = MPROF_E_MEMORY;
    sigemptyset(&action.sa_mask);
    fault.thread = pthread_self();
    sigaction(SIGSEGV, &action, &fault.segv);
    sigaction(SIGBUS, &action, &fault.bus);
    if (sigsetjmp(fault.place, 1) == 0)
        error = look_at(heap, look);
    else
        errno = EFAULT;
    sigaction(SIGSEGV, &fault.segv, NULL);
    sigaction(SIGBUS, &fault.bus, NULL);
    return error;
}

static void end(struct mprof__lisp_heap *heap) {
    if (heap->stopped)
        mprof__collector_start_world();
    if (heap->has_said && isatty(STDERR_FILENO))
        say("");
    mprof__graph_end(&heap->graph);
    mprof__lisp_roots_end(&heap->roots);
    mprof__unmap(heap->objects, heap->room * sizeof *heap->objects);
    mprof__unmap(heap->index, heap->slots * sizeof *heap->index);
}

int mprof__lisp_heap_look(unsigned what,
                          void (*see)(struct mprof__lisp_heap *heap,
                                      void *data),
                          void *data) {
    struct mprof__lisp_heap heap = {.begun = 0};
    int error = MPROF_E_ALIVE;
    if (!mprof__collector_reports_live())
        return error;
    __builtin_unwind_init();
    if (what & MPROF__AT_PROMPT)
        heap.begun = mprof__clock(CLOCK_MONOTONIC);
    mprof__lisp_roots_begin(&heap.roots);
    mprof__collector_collect();
    heap.stopped = mprof__collector_stop_world();
    if (heap.stopped)
        error = look_safely(
            &heap, &(struct look){what, (uintptr_t)__builtin_frame_address(0),
                                  see, data});
    int saved = errno;
    end(&heap);
    errno = saved;
    return error;
}
