/* scope.c - see scope.h. */
#include "monitor/record/scope.h"

#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/base/table.h"
#include "monitor/include/mprof.h"
#include "monitor/file/arena.h"
#include "monitor/tree/c_counter.h"
#include "monitor/tree/lisp_counter.h"
#include "monitor/record/session.h"
#include "monitor/record/thread.h"

/* The counts of a thing in the data file: a BIN's objects and storage, a
 * THREAD's folded and cut allocations; else only the first. */
struct noted {
    mprof_ref ref;
    uint16_t type; /* enum mprof_record_type */
    uint8_t class_;
    bool is_c;
    bool lives; /* a counter that follows live objects */
    struct mprof_count count[2];
};

/* By rising refs, those that are not 0; mapped. */
struct notes {
    struct noted *list;
    size_t count, room;
};

struct mprof__within {
    uint64_t session, started; /* its id, and when it began, or went on */
    mprof_ref thread[MPROF_HEAPS], root[MPROF_HEAPS];
    struct mprof_count unplaced;
    struct notes notes; /* at the beginning; then, what came since */
    bool ended;
};

static void add(struct mprof_count *sum, const struct mprof_count *count) {
    sum->allocs += count->allocs;
    sum->bytes += count->bytes;
}

static void add_note(struct notes *notes, const struct noted *noted) {
    const struct mprof_count *a = &noted->count[0], *b = &noted->count[1];
    if ((a->allocs | a->bytes | b->allocs | b->bytes) == 0)
        return;
    if (notes->count < notes->room)
        notes->list[notes->count] = *noted;
    notes->count++;
}

/* The counters in BLOCK, of a thread of HEAP. */
static void note_counters(struct notes *notes, const struct mprof__arena *arena,
                          const struct mprof_block *block,
                          enum mprof_heap heap) {
    const char *thing = (const char *)(block + 1);
    const struct mprof_thread *thread = mprof__arena_at(arena, block->thread);
    bool lives = mprof_knows_lives(heap, thread->flags);
    uint32_t bytes = mprof_thing_bytes(MPROF_COUNTERS, lives);
    for (uint32_t i = 0; i < block->count; i++, thing += bytes) {
        const struct mprof_counter *counter = (const void *)thing;
        struct mprof_c_numbers n =
            mprof__counter_read(arena->base, counter, heap, lives);
        /* Of chains in the spill the tree has the innermost functions. */
        if (heap == MPROF_C_HEAP)
            add(&n.allocated, &n.spilled);
        struct noted noted = {
            .ref = mprof__arena_ref(arena, thing),
            .type = MPROF_COUNTERS,
            .class_ = (uint8_t)mprof__key_class(arena, counter->key),
            .is_c = heap == MPROF_C_HEAP,
            .lives = lives,
            .count = {n.allocated}};
        add_note(notes, &noted);
    }
}

/* Note the numbers of RECORD that belong to THREAD, in HEAP. */
static void note_record(struct notes *notes, const struct mprof__arena *arena,
                        const struct mprof_record *record, mprof_ref thread,
                        enum mprof_heap heap) {
    const struct mprof_block *block = (const void *)record;
    const struct mprof_bin *bin = (const void *)record;
    const struct mprof_size *size = (const void *)record;
    const struct mprof_thread *itself = (const void *)record;
    struct noted noted = {.ref = mprof__arena_ref(arena, record),
                          .type = (uint16_t)record->type,
                          .is_c = heap == MPROF_C_HEAP};
    if (record->type == MPROF_COUNTERS && block->thread == thread) {
        note_counters(notes, arena, block, heap);
        return;
    }
    if (record->type == MPROF_BIN && bin->thread == thread) {
        noted.class_ = (uint8_t)bin->class_;
        noted.count[0] = bin->objects;
        noted.count[1] = bin->storage;
    } else if (record->type == MPROF_SIZE && size->thread == thread) {
        noted.count[0] = size->allocated;
    } else if (record->type == MPROF_THREAD && noted.ref == thread) {
        noted.count[0] =
            (struct mprof_count){itself->folded_allocs, itself->folded_bytes};
        noted.count[1] =
            (struct mprof_count){itself->cut_allocs, itself->cut_bytes};
    }
    add_note(notes, &noted);
}

static void note_all(struct notes *notes, const struct mprof__arena *arena,
                     const struct mprof__within *within) {
    const struct mprof_record *record;
    size_t used = mprof__load_acquire(&mprof__arena_header(arena)->used);
    for (size_t at = MPROF_HEADER_BYTES; at < used;
         at += mprof__record_size(record)) {
        record = (const void *)(arena->base + at);
        for (int heap = 0; heap < MPROF_HEAPS; heap++)
            if (within->thread[heap] != 0)
                note_record(notes, arena, record, within->thread[heap], heap);
    }
}

static void forget(struct notes *notes) {
    if (notes->list != NULL)
        mprof__unmap(notes->list, notes->room * sizeof *notes->list);
    *notes = (struct notes){NULL, 0, 0};
}

/* Note all numbers; false: no memory.  This thread allocates nothing meanwhile,
 * so two passes find the same number of things. */
static bool take_notes(struct notes *notes, const struct mprof__arena *arena,
                       const struct mprof__within *within) {
    *notes = (struct notes){NULL, 0, 0};
    note_all(notes, arena, within);
    size_t room = notes->count + 1;
    notes->list = mprof__map(room * sizeof *notes->list);
    if (notes->list == NULL)
        return false;
    notes->room = room;
    notes->count = 0;
    note_all(notes, arena, within);
    return true;
}

static void subtract(struct mprof_count *count,
                     const struct mprof_count *before) {
    count->allocs -= before->allocs;
    count->bytes -= before->bytes;
}

/* Take from NOW what there was BEFORE. */
static void take_off(struct notes *now, const struct notes *before) {
    size_t at = 0, count = now->count;
    now->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct noted noted = now->list[i];
        while (at < before->count && before->list[at].ref < noted.ref)
            at++;
        if (at < before->count && before->list[at].ref == noted.ref)
            for (int k = 0; k < 2; k++)
                subtract(&noted.count[k], &before->list[at].count[k]);
        add_note(now, &noted);
    }
}

static struct mprof_count unplaced(const struct mprof__arena *arena) {
    const struct mprof_header *header = mprof__arena_header(arena);
    return (struct mprof_count){mprof__load_relaxed(&header->unplaced_allocs),
                                mprof__load_relaxed(&header->unplaced_bytes)};
}

/* Find this thread's record in each of the heaps, even if it has not allocated
 * yet: it may go on with the record of a thread that has ended. */
static bool find_threads(struct mprof__within *within,
                         struct mprof__session *session, unsigned heaps) {
    struct mprof__self *me = mprof__enter();
    bool found = me != NULL;
    for (int heap = 0; found && heap < MPROF_HEAPS; heap++) {
        if (!(heaps >> heap & 1))
            continue;
        struct mprof__thread *thread =
            mprof__thread_here(me, session, (enum mprof_heap)heap);
        found = thread != NULL;
        if (found) {
            within->thread[heap] = thread->ref;
            within->root[heap] = thread->trees.tree.root;
        }
    }
    mprof__leave(me);
    return found;
}

int mprof__scope_begin(struct mprof__session *session,
                       struct mprof_scope *scope, unsigned heaps) {
    const struct mprof__arena *arena = &session->arena;
    heaps = heaps == 0 ? session->heaps : heaps;
    if ((heaps & session->heaps) != heaps)
        return MPROF_E_STOPPED;
    if (session->alive.sampling != 0)
        return MPROF_E_SAMPLED;
    struct mprof__within *within = mprof__map(sizeof *within);
    if (within == NULL)
        return MPROF_E_MEMORY;
    within->session = session->id;
    within->started = session->arena.started;
    if (!find_threads(within, session, heaps) ||
        !take_notes(&within->notes, arena, within)) {
        mprof__unmap(within, sizeof *within);
        return MPROF_E_MEMORY;
    }
    within->unplaced = unplaced(arena);
    scope->within = within;
    return 0;
}

/* Widen counters of C whose allocated and spilled sums need more than one word.
 * False: there is no space. */
static bool widen(struct mprof__session *session, const struct notes *notes) {
    bool all = true;
    for (size_t i = 0; i < notes->count; i++) {
        const struct noted *noted = &notes->list[i];
        if (noted->type == MPROF_COUNTERS && noted->is_c &&
            !mprof_is_narrow(noted->count[0]))
            all &= mprof__c_counter_widen(
                &session->arena, mprof__arena_at(&session->arena, noted->ref));
    }
    return all;
}

int mprof__scope_end(struct mprof__session *session,
                     struct mprof_scope *scope) {
    struct mprof__within *within = scope->within;
    struct notes now;
    if (within->session != session->id ||
        within->started != session->arena.started)
        return MPROF_E_STOPPED;
    if (!take_notes(&now, &session->arena, within))
        return MPROF_E_MEMORY;
    take_off(&now, &within->notes);
    if (!widen(session, &now)) {
        forget(&now);
        return MPROF_E_MEMORY;
    }
    forget(&within->notes);
    within->notes = now;
    within->ended = true;
    struct mprof_count sum = unplaced(&session->arena);
    subtract(&sum, &within->unplaced);
    within->unplaced = sum;
    for (size_t i = 0; i < now.count; i++) {
        const struct noted *noted = &now.list[i];
        if (noted->type == MPROF_SIZE || noted->type == MPROF_BIN)
            add(&sum, &noted->count[0]);
        if (noted->type == MPROF_BIN)
            add(&sum, &noted->count[1]);
    }
    scope->allocs = sum.allocs;
    scope->bytes = sum.bytes;
    return 0;
}

int mprof__scope_check(const struct mprof__session *session,
                       const struct mprof_scope *scope) {
    const struct mprof__within *within = scope->within;
    if (within == NULL || !within->ended)
        return MPROF_E_ARGUMENT;
    return within->session == session->id ? 0 : MPROF_E_STOPPED;
}

void mprof__scope_free(struct mprof_scope *scope) {
    struct mprof__within *within = scope == NULL ? NULL : scope->within;
    if (within == NULL)
        return;
    scope->within = NULL;
    forget(&within->notes);
    mprof__unmap(within, sizeof *within);
}

/* The copy of a data file. */

static void *at(struct mprof_header *copy, mprof_ref ref) {
    return (char *)copy + (size_t)ref * 8;
}

/* Let COUNTER, of a thread of HEAP, have allocated COUNT and nothing else, in
 * the COPY. */
static void set_counter(struct mprof_header *copy, void *counter, uint32_t heap,
                        bool lives, struct mprof_count count) {
    struct mprof_alive_counter *alive = counter;
    struct mprof_c_counter *c = counter;
    const struct mprof_count none = {0, 0};
    if (heap == MPROF_C_HEAP) {
        mprof__c_counter_set((char *)copy, c,
                             &(struct mprof_c_numbers){.allocated = count});
    } else if (lives) {
        alive->allocated = count;
        alive->freed = alive->spilled = none;
        alive->ages = 0;
    } else {
        mprof__lisp_counter_set(copy, counter, count);
    }
}

/* Clear all numbers in BLOCK; the links stay. */
static void clear_block(struct mprof_header *copy, struct mprof_block *block) {
    const struct mprof_thread *thread = at(copy, block->thread);
    uint32_t type = block->head.type;
    bool lives = mprof_knows_lives(thread->heap, thread->flags);
    uint32_t bytes = mprof_thing_bytes(type, lives);
    const struct mprof_count none = {0, 0};
    char *thing = (char *)(block + 1);
    for (uint32_t i = 0; i < block->count; i++, thing += bytes) {
        struct mprof_spill_counter *spilled = (void *)thing;
        struct mprof_total *total = (void *)thing;
        if (type == MPROF_TOTALS)
            memset(total->counts, 0, sizeof total->counts);
        else if (type == MPROF_COUNTERS)
            set_counter(copy, thing, thread->heap, lives, none);
        else if (type == MPROF_SPILL_COUNTERS && lives)
            spilled->allocated = none;
        else if (type == MPROF_SPILL_COUNTERS)
            mprof__lisp_counter_set(copy, (void *)thing, none);
    }
}

static void clear_thread(struct mprof_thread *thread) {
    thread->folded_allocs = thread->folded_bytes = 0;
    thread->cut_allocs = thread->cut_bytes = 0;
    thread->peak = thread->high = thread->high_time = thread->high_clock = 0;
}

static void clear_record(struct mprof_header *copy,
                         struct mprof_record *record) {
    /* Where the numbers begin that are all to be 0. */
    static const size_t begins[] = {
        [MPROF_BIN] = offsetof(struct mprof_bin, objects),
        [MPROF_SIZE] = offsetof(struct mprof_size, allocated),
        [MPROF_FREED] = offsetof(struct mprof_freed, freed),
        [MPROF_LOST] = offsetof(struct mprof_lost, count)};
    struct mprof_curve *curve = (void *)record;
    struct mprof_collections *collections = (void *)record;
    if (record->type == MPROF_THREAD)
        clear_thread((void *)record);
    else if (mprof_thing_bytes(record->type, false) != 0)
        clear_block(copy, (void *)record);
    else if (record->type == MPROF_CURVE)
        curve->count = curve->rss_count = 0;
    else if (record->type == MPROF_COLLECTIONS)
        collections->count = 0;
    else if (record->type < sizeof begins / sizeof *begins &&
             begins[record->type] != 0)
        memset((char *)record + begins[record->type], 0,
               record->bytes - begins[record->type]);
}

static void clear_header(struct mprof_header *header) {
    header->unplaced_allocs = header->unplaced_bytes = 0;
    header->failed_allocs = header->unknown_frees = 0;
    header->unplaced_frees = header->unplaced_freed_bytes = 0;
    header->untracked_allocs = header->untracked_bytes = 0;
    header->timed = header->grouped = 0;
    header->scan = header->scan_flags = 0;
    memset(header->loads, 0, sizeof header->loads);
    memset(&header->lost_unplaced, 0, sizeof header->lost_unplaced);
}

static void put(struct mprof_header *copy, const struct noted *noted) {
    struct mprof_bin *bin = at(copy, noted->ref);
    struct mprof_size *size = at(copy, noted->ref);
    struct mprof_thread *thread = at(copy, noted->ref);
    switch (noted->type) {
    case MPROF_COUNTERS:
        set_counter(copy, bin, noted->is_c ? MPROF_C_HEAP : MPROF_LISP_HEAP,
                    noted->lives, noted->count[0]);
        break;
    case MPROF_BIN:
        bin->objects = noted->count[0];
        bin->storage = noted->count[1];
        break;
    case MPROF_SIZE:
        size->allocated = noted->count[0];
        break;
    default:
        thread->folded_allocs = noted->count[0].allocs;
        thread->folded_bytes = noted->count[0].bytes;
        thread->cut_allocs = noted->count[1].allocs;
        thread->cut_bytes = noted->count[1].bytes;
    }
}

/* COUNT in COUNTER of the root of THREAD, which has room for any. */
static void add_to(struct mprof_header *copy, const struct mprof_thread *thread,
                   struct mprof_counter *counter,
                   const struct mprof_count *count) {
    if (mprof_knows_lives(thread->heap, thread->flags)) {
        add(&((struct mprof_alive_counter *)counter)->allocated, count);
        return;
    }
    struct mprof_lisp_counter *own = (void *)counter;
    struct mprof_count sum = mprof__lisp_counter_read(copy, own);
    add(&sum, count);
    mprof__lisp_counter_set(copy, own, sum);
}

/* Lisp's chains in the spill are in no counter of the tree: the root has them,
 * so that the sums are right. */
static void put_rest(struct mprof_header *copy,
                     const struct mprof__within *within) {
    struct mprof_count rest[MPROF_CLASSES] = {{0, 0}};
    for (size_t i = 0; i < within->notes.count; i++) {
        const struct noted *noted = &within->notes.list[i];
        struct mprof_count *sum = &rest[noted->class_ % MPROF_CLASSES];
        if (noted->type == MPROF_BIN) {
            add(sum, &noted->count[0]);
            add(sum, &noted->count[1]);
        } else if (noted->type == MPROF_COUNTERS && !noted->is_c) {
            subtract(sum, &noted->count[0]);
        }
    }
    const struct mprof_node *root = at(copy, within->root[MPROF_LISP_HEAP]);
    struct mprof_thread *thread = at(copy, within->thread[MPROF_LISP_HEAP]);
    struct mprof_counter *counter;
    for (mprof_ref ref = root->counter; ref != 0; ref = counter->next) {
        counter = at(copy, ref);
        if (mprof_key_has_type(counter->key))
            continue;
        struct mprof_count *sum = &rest[counter->key];
        add_to(copy, thread, counter, sum);
        thread->folded_allocs += sum->allocs;
        thread->folded_bytes += sum->bytes;
        *sum = (struct mprof_count){0, 0};
    }
}

void mprof__scope_edit(struct mprof_header *copy, const void *data) {
    const struct mprof_scope *scope = data;
    const struct mprof__within *within = scope->within;
    struct mprof_record *record;
    clear_header(copy);
    for (size_t n = MPROF_HEADER_BYTES; n < copy->used;
         n += mprof__record_size(record)) {
        record = (void *)((char *)copy + n);
        clear_record(copy, record);
    }
    for (size_t i = 0; i < within->notes.count; i++)
        put(copy, &within->notes.list[i]);
    if (within->thread[MPROF_LISP_HEAP] != 0)
        put_rest(copy, within);
    copy->unplaced_allocs = within->unplaced.allocs;
    copy->unplaced_bytes = within->unplaced.bytes;
}
