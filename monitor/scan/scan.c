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
#include "monitor/scan/freeze.h"
#include "monitor/scan/roots.h"

enum state {
    UNSEEN,
    REACHED, /* from a root */
    LED,     /* lost; another lost one leads to it */
    FIRST    /* lost; by none that was looked through */
};

struct block {
    uintptr_t at;
    uint64_t bytes;
    mprof_ref counter;
    uint32_t state; /* enum state */
};

/* A range of the monitor's memory that contains addresses of objects. */
struct hidden {
    uintptr_t start, end;
};

/* In memory of its own, which is not scanned. */
struct scan {
    struct mprof__live *heap;
    bool late;       /* the program had allocated before the recording */
    uint32_t number; /* of the scan */
    uintptr_t stack; /* of this thread, from here on */
    struct hidden hidden[3];
    struct mprof__freezer freezer;
    struct mprof__mappings mappings;
    int pagemap;          /* a descriptor, or -1 */
    struct block *blocks; /* by address */
    size_t count, room;
    uintptr_t low, high; /* the range that has all of them */
    uint32_t *pending;   /* blocks that are to be looked through */
    size_t pending_count;
    enum state mark; /* for what is found */
    bool allocators; /* the words may be what malloc() has for itself */
    char *memory;    /* for all these */
    size_t bytes;
};

/*
 * From words to blocks
 */

/* The first block that ends behind ADDRESS, or COUNT. */
static size_t block_behind(const struct scan *s, uintptr_t address) {
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct block *b = &s->blocks[middle];
        if (b->at + (b->bytes > 0 ? b->bytes : 1) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Is WORD what glibc calls the chunk behind BLOCK?  That begins with the last
 * bytes that BLOCK may use. */
static bool is_next_chunk(const struct block *block, uintptr_t word) {
    uint64_t chunk = (block->bytes + 8 + 15) & ~(uint64_t)15;
    return word == block->at - 16 + (chunk < 32 ? 32 : chunk);
}

static void see_word(struct scan *s, uintptr_t word) {
    if (word < s->low || word >= s->high)
        return;
    size_t i = block_behind(s, word);
    if (i == s->count || s->blocks[i].at > word ||
        (s->allocators && is_next_chunk(&s->blocks[i], word)) ||
        s->blocks[i].state == REACHED || s->blocks[i].state == s->mark)
        return;
    /* Each comes here once as REACHED, or once as FIRST and once as LED. */
    bool is_new = s->blocks[i].state == UNSEEN;
    s->blocks[i].state = s->mark;
    if (is_new)
        s->pending[s->pending_count++] = (uint32_t)i;
}

static void see_words(uintptr_t start, uintptr_t end, void *data) {
    struct scan *s = data;
    start = (start + sizeof(uintptr_t) - 1) & -sizeof(uintptr_t);
    for (; start < end && end - start >= sizeof(uintptr_t);
         start += sizeof(uintptr_t))
        see_word(s, *(const volatile uintptr_t *)start);
}

/* All of [START, END) that can be read. */
static void see_range(struct scan *s, uintptr_t start, uintptr_t end) {
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

/* Follow the pending blocks, the blocks that they lead to, and so on. */
static void follow(struct scan *s) {
    while (s->pending_count > 0) {
        const struct block *b = &s->blocks[s->pending[--s->pending_count]];
        see_range(s, b->at, b->at + b->bytes);
    }
}

/*
 * Roots
 */

/* glibc's arenas but the first one are aligned to that, and no larger. */
#define ARENA ((uintptr_t)64 << 20)

/* Is BLOCK alone on its pages, as what malloc() has from mmap()? */
static bool is_alone(const struct block *block) {
    enum { LEAST = 64 << 10, PAGE = 4096 };
    uintptr_t offset = block->at % PAGE;
    return block->bytes >= LEAST && (offset == 0 || offset == 16);
}

/* Where what the allocator has around BLOCK, in MAPPING, begins and ends: there
 * old contents of what was freed lie about.  But in a late recording what was
 * allocated before it as well: then only the block itself is left out. */
static void find_heap(const struct scan *s, const struct mprof__mapping *m,
                      const struct block *block, uintptr_t *start,
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

/* The parts of [START, END), of MAPPING, that are no allocator's. */
static void see_data(struct scan *s, const struct mprof__mapping *m,
                     uintptr_t start, uintptr_t end) {
    while (start < end) {
        uintptr_t stop = end, next = end, heap, heap_end;
        size_t i = block_behind(s, start);
        if (i < s->count && s->blocks[i].at < stop) {
            find_heap(s, m, &s->blocks[i], &heap, &heap_end);
            stop = heap > start ? heap : start;
            next = heap_end < end ? heap_end : end;
        }
        for (size_t k = 0; k < sizeof s->hidden / sizeof s->hidden[0]; k++) {
            const struct hidden *h = &s->hidden[k];
            if (h->start < stop && h->end > start) {
                stop = h->start > start ? h->start : start;
                next = h->end;
            }
        }
        if (start < stop)
            mprof__present(s->pagemap, start, stop, see_words, s);
        start = next > start ? next : end;
    }
}

/* Scan the live part of the stack whose pointer is STACK. */
static void see_stack(struct scan *s, uintptr_t stack) {
    const struct mprof__mapping *m = mprof__mapping_at(&s->mappings, stack);
    size_t i = block_behind(s, stack);
    if (m == NULL)
        return;
    /* A stack may be allocated as any object. */
    if (i < s->count && s->blocks[i].at <= stack) {
        see_word(s, stack);
        return;
    }
    uintptr_t end = m->end;
    if (i < s->count && s->blocks[i].at < end)
        end = s->blocks[i].at;
    see_range(s, stack, end);
}

/* Scan the thread-local memory around the thread pointer LOCAL, except the dead
 * part of the stack. */
static void see_local(struct scan *s, uintptr_t local, uintptr_t stack) {
    enum { AROUND = 64 << 10 };
    const struct mprof__mapping *m = mprof__mapping_at(&s->mappings, local);
    size_t i = block_behind(s, local);
    if (m == NULL)
        return;
    uintptr_t start = local - m->start > AROUND ? local - AROUND : m->start;
    uintptr_t end = m->end - local > AROUND ? local + AROUND : m->end;
    if (stack > start && stack < local)
        start = stack;
    if (i < s->count && s->blocks[i].at < end)
        end = s->blocks[i].at;
    if (i > 0 && s->blocks[i - 1].at + s->blocks[i - 1].bytes > start)
        start = s->blocks[i - 1].at + s->blocks[i - 1].bytes;
    see_range(s, start, end);
}

/* Return where to begin in MAPPING: below a stack pointer all is dead. */
static uintptr_t live_start(const struct scan *s,
                            const struct mprof__mapping *m) {
    uintptr_t start = m->end, here = s->stack;
    if (!m->stack)
        return m->start;
    if (here >= m->start && here < m->end)
        start = here;
    for (uint32_t i = 0; i < s->freezer.count; i++) {
        uintptr_t stack = s->freezer.threads[i].stack;
        if (stack >= m->start && stack < start)
            start = stack;
    }
    return start < m->end ? start : m->start;
}

static void see_roots(struct scan *s) {
    for (size_t i = 0; i < s->mappings.count; i++) {
        const struct mprof__mapping *m = &s->mappings.list[i];
        bool data = !m->heap || s->late;
        s->allocators = m->libc || s->late;
        /* A mapping that is read-only now may have been writable before. */
        if (m->readable && (m->writable || m->own) && data && !m->device)
            see_data(s, m, live_start(s, m), m->end);
    }
    s->allocators = false;
    for (uint32_t i = 0; i < s->freezer.count; i++) {
        const struct mprof__frozen *t = &s->freezer.threads[i];
        see_stack(s, t->stack);
        see_local(s, t->local, t->stack);
        for (size_t k = 0; k < sizeof t->words / sizeof t->words[0]; k++)
            see_word(s, t->words[k]);
    }
    see_stack(s, s->stack);
    see_local(s, (uintptr_t)__builtin_thread_pointer(), s->stack);
}

/* Of those that are lost, which lead to others. */
static void find_first(struct scan *s) {
    for (size_t i = 0; i < s->count; i++) {
        struct block *b = &s->blocks[i];
        if (b->state != UNSEEN)
            continue;
        s->mark = LED;
        s->pending[s->pending_count++] = (uint32_t)i;
        follow(s);
        /* It may have come back to itself. */
        b->state = FIRST;
    }
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
    struct scan *s = data;
    uintptr_t at = (uintptr_t)object->at;
    if (s->count < s->room)
        s->blocks[s->count++] = (struct block){
            .at = at, .bytes = object->bytes, .counter = object->counter};
}

static bool get_memory(struct scan *s, size_t blocks, size_t mappings) {
    const struct mprof__arena *arena = s->heap->arena;
    s->bytes = blocks * (sizeof *s->blocks + sizeof *s->pending) +
               mappings * sizeof *s->mappings.list;
    s->memory = mprof__map(s->bytes);
    if (s->memory == NULL)
        return false;
    s->blocks = (struct block *)s->memory;
    s->mappings.list = (struct mprof__mapping *)(s->blocks + blocks);
    s->pending = (uint32_t *)(s->mappings.list + mappings);
    s->room = blocks;
    s->mappings.room = mappings;
    s->hidden[0] = (struct hidden){(uintptr_t)s, (uintptr_t)(s + 1)};
    s->hidden[1] =
        (struct hidden){(uintptr_t)s->memory, (uintptr_t)s->memory + s->bytes};
    s->hidden[2] = (struct hidden){(uintptr_t)arena->base,
                                   (uintptr_t)arena->base + arena->limit};
    return true;
}

/* The address of an object that the monitor has itself. */
static void forget_last(const struct mprof__live *heap) {
    struct mprof__share *share = heap->shares;
    for (; share != NULL; share = share->next)
        share->last = NULL;
}

/* With all threads as they are.  0 or an errno. */
static int look(struct scan *s) {
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
    forget_last(s->heap);
    s->mark = REACHED;
    see_roots(s);
    follow(s);
    find_first(s);
    return 0;
}

/* Stop the others, none of them inside of the hook.  False: they run. */
static bool stop_others(struct scan *s) {
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

static void record_lost(struct scan *s) {
    struct mprof__arena *arena = s->heap->arena;
    struct mprof__table known = {0};
    for (size_t i = 0; i < s->count; i++) {
        const struct block *b = &s->blocks[i];
        if (b->state == REACHED)
            continue;
        struct mprof_lost *lost =
            find_lost(arena, &known, b->counter, s->number);
        struct mprof_lost_count *sum =
            lost != NULL ? &lost->count
                         : &mprof__arena_header(arena)->lost_unplaced;
        mprof__bump(&sum->objects, 1);
        mprof__bump(&sum->bytes, b->bytes);
        mprof__bump(&sum->roots, b->state == FIRST);
    }
    mprof__table_free(&known);
}

/* Write the result to the header. */
static void conclude(struct scan *s, bool stopped, int error) {
    struct mprof_header *header = mprof__arena_header(s->heap->arena);
    memset(&header->lost_unplaced, 0, sizeof header->lost_unplaced);
    struct mprof__self *me = mprof__enter();
    if (me == NULL)
        return;
    if (mprof__guard(me)) {
        if (error == 0)
            record_lost(s);
        header->scan_flags = (s->late ? MPROF_SCAN_LATE : 0) |
                             (stopped ? 0 : MPROF_SCAN_RUNNING) |
                             (error != 0 ? MPROF_SCAN_FAILED : 0);
        mprof__store_release(&header->scan, s->number);
    }
    mprof__leave(me);
}

static void __attribute__((noinline)) scan(struct scan *s) {
    s->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    bool stopped = stop_others(s);
    int error = look(s);
    if (stopped)
        mprof__thaw(&s->freezer);
    if (s->pagemap >= 0)
        close(s->pagemap);
    conclude(s, stopped, error);
    mprof__unmap(s->memory, s->bytes);
}

/* The program's registers are put on the stack. */
void mprof__scan(struct mprof__live *heap, bool late, uint32_t number) {
    int saved = errno;
    struct scan *s = mprof__map(sizeof *s);
    if (s == NULL)
        return;
    __builtin_unwind_init();
    s->heap = heap;
    s->late = late;
    s->number = number;
    s->stack = mprof__stack();
    scan(s);
    mprof__unmap(s, sizeof *s);
    errno = saved;
}
