/* scan.c - see scan.h. */
#define _GNU_SOURCE
#include "monitor/scan/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/objects.h"
#include "monitor/base/self.h"
#include "monitor/base/table.h"
#include "monitor/scan/scanning.h"

/*
 * From words to blocks
 */

/* Is WORD what glibc calls the chunk behind BLOCK?  That begins with the last
 * bytes that BLOCK may use. */
static bool is_next_chunk(const struct mprof__block *block, uintptr_t word) {
    uint64_t chunk = (block->bytes + 8 + 15) & ~(uint64_t)15;
    return word == block->at - 16 + (chunk < 32 ? 32 : chunk);
}

/* The node that is looked at leads to what WORD points to. */
static void see_word(struct mprof__scan *s, uintptr_t word) {
    if (word < s->low || word >= s->high)
        return;
    size_t i = mprof__block_behind(s, word);
    if (i == s->count || s->blocks[i].at > word ||
        (s->allocators && is_next_chunk(&s->blocks[i], word)))
        return;
    mprof__graph_add(&s->graph,
                     mprof__graph_first_object(&s->graph) + (uint32_t)i);
}

static void see_words(uintptr_t start, uintptr_t end, void *data) {
    struct mprof__scan *s = data;
    start = (start + sizeof(uintptr_t) - 1) & -sizeof(uintptr_t);
    for (; start < end && end - start >= sizeof(uintptr_t);
         start += sizeof(uintptr_t))
        see_word(s, *(const volatile uintptr_t *)start);
}

/* All of [START, END) that can be read. */
static void see_range(struct mprof__scan *s, uintptr_t start, uintptr_t end) {
    while (start < end) {
        const struct mprof__mapping *m = mprof__mapping_at(&s->mappings, start);
        if (m == NULL)
            return;
        uintptr_t stop = end < m->end ? end : m->end;
        if (m->readable && !m->device)
            mprof__present(s->pagemap, start, stop, see_words, s);
        start = stop;
    }
}

static void make_graph(struct mprof__scan *s) {
    struct mprof__graph *g = &s->graph;
    if (s->failed ||
        !mprof__graph_begin(g, (uint32_t)s->certain, (uint32_t)s->area_count,
                            (uint32_t)s->count)) {
        s->failed = true;
        return;
    }
    for (size_t i = 0; i < s->area_count; i++) {
        const struct mprof__area *area = &s->areas[i];
        s->allocators = area->allocators;
        mprof__present(s->pagemap, area->start, area->end, see_words, s);
        mprof__graph_next(g);
    }
    s->allocators = false;
    for (size_t i = 0; i < s->count; i++) {
        const struct mprof__block *b = &s->blocks[i];
        g->bytes[g->added] = b->bytes + 1; /* blocks of 0 bytes are some */
        see_range(s, b->at, b->at + b->bytes);
        mprof__graph_next(g);
    }
    s->failed |= !mprof__graph_analyse(g, s->names);
}

/*
 * The scan
 */

static void count_block(const struct mprof__object *object, void *data) {
    size_t *count = data;
    (void)object;
    ++*count;
}

static int count_mapping(char *line, void *data) {
    size_t *count = data;
    (void)line;
    ++*count;
    return 0;
}

static void add_block(const struct mprof__object *object, void *data) {
    struct mprof__scan *s = data;
    uintptr_t at = (uintptr_t)object->at;
    if (s->count < s->room)
        s->blocks[s->count++] = (struct mprof__block){
            .at = at, .bytes = object->bytes, .counter = object->counter};
}

static bool get_memory(struct mprof__scan *s, size_t blocks, size_t mappings) {
    s->bytes = blocks * sizeof *s->blocks + mappings * sizeof *s->mappings.list;
    s->memory = mprof__map(s->bytes);
    if (s->memory == NULL)
        return false;
    s->blocks = (struct mprof__block *)s->memory;
    s->mappings.list = (struct mprof__mapping *)(s->blocks + blocks);
    s->room = blocks;
    s->mappings.room = mappings;
    return true;
}

/* Memory that we map from here on is in no mapping that is scanned. */
static void read_variables(struct mprof__scan *s) {
    const uint32_t count = s->freezer.count;
    size_t bytes = (count + 1) * sizeof(uintptr_t);
    uintptr_t *local = mprof__map(bytes);
    for (uint32_t i = 0; i < count && local != NULL; i++)
        local[i] = s->freezer.threads[i].local;
    if (local != NULL) {
        local[count] = (uintptr_t)__builtin_thread_pointer();
        mprof__variables_begin(&s->variables, &s->mappings, local, count + 1);
    }
    mprof__unmap(local, bytes);
}

/* With all threads as they are.  0 or an errno. */
static int look(struct mprof__scan *s) {
    /* So many may come until it is known how many there are. */
    enum { MORE = 1024 };
    size_t blocks = 0, mappings = 0;
    mprof__objects_each(count_block, &blocks);
    if (mprof__mappings_lines(count_mapping, &mappings) != 0 || mappings == 0)
        return EACCES; /* the system does not list them */
    if (blocks >= UINT32_MAX || !get_memory(s, blocks + 1, mappings + MORE))
        return ENOMEM;
    mprof__objects_each(add_block, s);
    int error = mprof__mappings_read(&s->mappings);
    if (error != 0 || s->count == 0)
        return error;
    s->low = s->blocks[0].at;
    s->high = s->blocks[s->count - 1].at + s->blocks[s->count - 1].bytes + 1;
    if (s->names)
        read_variables(s);
    mprof__scan_areas(s);
    make_graph(s);
    return s->failed ? ENOMEM : 0;
}

/* Stop the others, none of them inside of the hook.  False: they run. */
static bool stop_others(struct mprof__scan *s) {
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        struct timespec pause = {0, 1000000};
        int error = mprof__freeze(&s->freezer);
        if (error == 0 && !mprof__thread_is_busy(0))
            return true;
        if (error == 0)
            mprof__thaw(&s->freezer);
        else if (error != EAGAIN)
            return false;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* The LOST of COUNTER; NULL: no room. */
static struct mprof_lost *find_lost(struct mprof__arena *arena,
                                    struct mprof__table *known,
                                    mprof_ref counter, uint32_t number) {
    const struct mprof__slot *slot = mprof__table_find(known, counter);
    if (slot != NULL)
        return (struct mprof_lost *)(uintptr_t)slot->value;
    struct mprof_lost *lost = NULL;
    mprof__lock(&arena->lock);
    if (mprof__arena_has_room(arena, MPROF__FOR_COUNTERS))
        lost = mprof__arena_record(arena, MPROF_LOST, sizeof *lost);
    if (lost != NULL) {
        lost->counter = counter;
        lost->scan = number;
        mprof__arena_publish(arena, lost);
    }
    mprof__unlock(&arena->lock);
    if (lost != NULL)
        mprof__table_add(known, counter, (uintptr_t)lost);
    return lost;
}

/* By node: is it lost, that is, does only the last node lead to it? */
static bool *find_lost_nodes(const struct mprof__graph *g, bool names) {
    const uint32_t *outer = names ? g->dominator : g->via;
    bool *is_lost = mprof__map(g->count);
    for (uint32_t i = 1; i < g->count && is_lost != NULL; i++) {
        uint32_t node = g->order[i];
        is_lost[node] = node == mprof__graph_unknown(g) || is_lost[outer[node]];
    }
    return is_lost;
}

static bool record_lost(struct mprof__scan *s) {
    struct mprof__arena *arena = s->heap->arena;
    const struct mprof__graph *g = &s->graph;
    struct mprof__table known = {0};
    bool *is_lost = find_lost_nodes(g, s->names);
    for (size_t i = 0; i < s->count && is_lost != NULL; i++) {
        const struct mprof__block *b = &s->blocks[i];
        uint32_t node = mprof__graph_first_object(g) + (uint32_t)i;
        if (!is_lost[node])
            continue;
        struct mprof_lost *lost =
            find_lost(arena, &known, b->counter, s->number);
        struct mprof_lost_count *sum =
            lost != NULL ? &lost->count
                         : &mprof__arena_header(arena)->lost_unplaced;
        mprof__bump(&sum->objects, 1);
        mprof__bump(&sum->bytes, b->bytes);
        mprof__bump(&sum->roots, g->via[node] == mprof__graph_unknown(g));
    }
    mprof__table_free(&known);
    mprof__unmap(is_lost, g->count);
    return is_lost != NULL || s->count == 0;
}

/* Write the result to the header. */
static void conclude(struct mprof__scan *s, bool stopped, int error) {
    struct mprof_header *header = mprof__arena_header(s->heap->arena);
    memset(&header->lost_unplaced, 0, sizeof header->lost_unplaced);
    struct mprof__self *me = mprof__enter();
    if (me == NULL)
        return;
    if (mprof__guard(me)) {
        if (error == 0 && s->count > 0 && !record_lost(s))
            error = ENOMEM;
        header->scan_flags = (s->late ? MPROF_SCAN_LATE : 0) |
                             (stopped ? 0 : MPROF_SCAN_RUNNING) |
                             (error != 0 ? MPROF_SCAN_FAILED : 0);
        mprof__store_release(&header->scan, s->number);
    }
    mprof__leave(me);
}

static void __attribute__((noinline))
scan(struct mprof__scan *s, struct mprof__keepers *keepers) {
    s->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    bool stopped = stop_others(s);
    int error = look(s);
    if (error == 0 && keepers != NULL && s->count > 0)
        mprof__scan_keepers(s, keepers);
    if (stopped)
        mprof__thaw(&s->freezer);
    if (s->pagemap >= 0)
        close(s->pagemap);
    conclude(s, stopped, error);
    mprof__graph_end(&s->graph);
    mprof__variables_end(&s->variables);
    mprof__unmap(s->areas, s->area_room * sizeof *s->areas);
    mprof__unmap(s->threads, s->thread_count * sizeof *s->threads);
    mprof__unmap(s->memory, s->bytes);
}

/* The program's registers are put on the stack. */
void mprof__scan(struct mprof__live *heap, bool late, uint32_t number,
                 struct mprof__keepers *keepers) {
    int saved = errno;
    struct mprof__scan *s = mprof__map(sizeof *s);
    if (s == NULL)
        return;
    __builtin_unwind_init();
    s->heap = heap;
    s->late = late;
    s->names = keepers != NULL;
    s->number = number;
    s->stack = mprof__stack();
    scan(s, keepers);
    mprof__unmap(s, sizeof *s);
    errno = saved;
}
