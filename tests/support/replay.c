#include "tests/support/replay.h"

#include "tests/support/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "monitor/base/self.h"
#include "monitor/tree/c_counter.h"
#include "monitor/record/find_counter.h"
#include "monitor/record/thread.h"
#include "report/command/report.h"

/* The file that is read, and by ref in it: what its records are in the new
 * one, and the sites as the monitor has them. */
static const char *old;
static uint64_t old_used, old_peak;
static mprof_ref *fresh;
static const struct mprof__site **site_of;
static struct mprof__session *session;

static const void *old_at(mprof_ref ref) {
    return old + (size_t)ref * 8;
}

static uint32_t type_of(mprof_ref ref) {
    return ((const struct mprof_record *)old_at(ref))->type;
}

/* By address native code, by a number of its own all else. */
static uint64_t key_of(mprof_ref ref) {
    const struct mprof_function *f = old_at(ref);
    const struct mprof_module *module = old_at(f->module);
    return f->module != 0 && mprof_is_native(f->kind)
               ? f->address + module->bias
               : (uint64_t)1 << 60 | (uint64_t)ref << 4;
}

static void know_function(mprof_ref ref) {
    if (mprof__table_find(&session->names.functions, key_of(ref)) == NULL)
        mprof__table_add(&session->names.functions, key_of(ref), fresh[ref]);
    /* Names are what they were in the end. */
    mprof__table_add(&session->names.certain, fresh[ref], 0);
}

static void know_site(mprof_ref ref) {
    const struct mprof_site *s = old_at(ref);
    struct mprof__site *site = calloc(1, sizeof *site);
    site->has_rule = true;
    site->function = fresh[s->function];
    site->ref = fresh[ref];
    site_of[ref] = site;
}

/* Strings, modules, functions and sites, with refs to each other. */
static void copy_record(mprof_ref ref) {
    struct mprof__arena *arena = &session->arena;
    const struct mprof_record *from = old_at(ref);
    void *to = mprof__arena_record(arena, from->type, from->bytes);
    assert_non_null(to);
    memcpy(to, from, from->bytes);
    struct mprof_module *module = to;
    struct mprof_function *f = to;
    struct mprof_site *s = to;
    if (from->type == MPROF_MODULE)
        module->path = fresh[module->path];
    if (from->type == MPROF_FUNCTION) {
        f->module = fresh[f->module];
        f->name = fresh[f->name];
        f->symbol = fresh[f->symbol];
    }
    if (from->type == MPROF_SITE) {
        s->function = fresh[s->function];
        s->module = fresh[s->module];
    }
    fresh[ref] = mprof__arena_publish(arena, to);
}

/* Names may come later than what has them. */
static void copy_records(void) {
    for (int strings = 1; strings >= 0; strings--)
        for (uint64_t at = MPROF_HEADER_BYTES; at < old_used;) {
            const struct mprof_record *record = (const void *)(old + at);
            mprof_ref ref = (mprof_ref)(at / 8);
            uint32_t type = record->type;
            at += record->bytes;
            if (strings ? type == MPROF_STRING
                        : type == MPROF_MODULE || type == MPROF_FUNCTION ||
                              type == MPROF_SITE)
                copy_record(ref);
            if (strings)
                continue;
            if (type == MPROF_FUNCTION)
                know_function(ref);
            if (type == MPROF_SITE)
                know_site(ref);
        }
}

/* One thread of the old file. */
struct player {
    struct mprof__thread *thread;
    struct mprof__frame *frames;
    size_t room;
    mprof_ref ref;
    enum mprof_heap heap;
};

static void set_frame(struct mprof__frame *frame, mprof_ref call) {
    static const struct mprof__site none;
    memset(frame, 0, sizeof *frame);
    frame->site = &none;
    if (type_of(call) == MPROF_SITE)
        frame->site = site_of[call];
    else
        frame->object = key_of(call);
}

/* The chain of NODE, which calls the allocator at SITE or 0. */
static void set_chain(struct player *p, const struct mprof_node *node,
                      mprof_ref site) {
    struct mprof__chain *chain = &p->thread->chain;
    size_t depth = 0, reused = 0;
    for (const struct mprof_node *n = node; n->parent != 0;
         n = old_at(n->parent))
        depth++;
    if (depth > p->room) {
        p->frames = realloc(p->frames, 2 * depth * sizeof *p->frames);
        p->room = 2 * depth;
    }
    size_t before = chain->count, at = depth;
    chain->frames = p->frames;
    for (const struct mprof_node *n = node; n->parent != 0;
         n = old_at(n->parent)) {
        mprof_ref call = site != 0 && n == node ? site : n->call;
        struct mprof__frame frame;
        set_frame(&frame, call);
        struct mprof__frame *f = &p->frames[--at];
        if (at < before && f->site == frame.site && f->object == frame.object)
            continue;
        *f = frame;
        reused = at + 1;
    }
    /* All outside of the outermost frame that differs. */
    for (reused = 0;
         reused < depth && reused < before && p->frames[reused].node != 0;)
        reused++;
    chain->count = depth;
    chain->innermost = depth == 0 ? NULL : &p->frames[depth - 1];
    chain->reused = reused;
}

static uint32_t fresh_key(uint32_t key) {
    return mprof_key_has_type(key)
               ? fresh[mprof_key_bin(key)] | (key & MPROF_STORAGE)
               : key;
}

static void add(struct mprof_count *sum, struct mprof_count n) {
    sum->allocs += n.allocs;
    sum->bytes += n.bytes;
}

/* Let OWN have NUMBER. */
static void set_c(struct mprof_c_counter *own,
                  const struct mprof_c_numbers *number) {
    if (!mprof_is_narrow(number->spilled) ||
        !mprof_is_narrow(number->allocated))
        assert_true(mprof__c_counter_widen(&session->arena, own));
    mprof__c_counter_set(session->arena.base, own, number);
}

/* N more in TO, of the C heap, which is in the spill or the counter at OWNER;
 * in the end also what became of all that C_COUNTER has. */
static void play_c(struct player *p, struct mprof_counter *to, mprof_ref owner,
                   struct mprof_count n,
                   const struct mprof_c_counter *c_counter, bool last) {
    struct mprof_c_counter *own = mprof__arena_at(&session->arena, owner);
    struct mprof_c_numbers number =
        mprof__c_counter_read(session->arena.base, own);
    const struct mprof_c_numbers from = mprof__c_counter_read(old, c_counter);
    if (&own->counter == to) {
        add(&number.allocated, n);
    } else {
        assert_true(mprof__counter_add(&p->thread->trees, to, true, n));
        add(&number.spilled, n);
    }
    if (last) {
        struct mprof_count then = from.at_peak;
        if (from.stamp != old_peak)
            then =
                (struct mprof_count){from.allocated.allocs - from.freed.allocs,
                                     from.allocated.bytes - from.freed.bytes};
        add(&number.freed, from.freed);
        add(&number.at_peak, then);
        number.stamp = p->thread->record->peak = old_peak;
    }
    set_c(own, &number);
}

/* In two parts, which other chains come between. */
static void play_counter(struct player *p, const struct mprof_node *node,
                         const struct mprof_counter *counter, bool second) {
    const struct mprof_c_counter *c = (const void *)counter;
    bool is_c = p->heap == MPROF_C_HEAP;
    const struct mprof_thread *of = old_at(p->ref);
    struct mprof_count n =
        mprof__counter_read(old, counter, p->heap,
                            mprof_knows_lives(of->heap, of->flags))
            .allocated;
    struct mprof_count half = {n.allocs / 2, n.bytes / 2};
    set_chain(p, node, is_c ? c->site : 0);
    if (second)
        half =
            (struct mprof_count){n.allocs - half.allocs, n.bytes - half.bytes};
    if (half.allocs == 0 && half.bytes == 0)
        return;
    mprof_ref place = mprof__trees_node(&p->thread->trees);
    struct mprof_counter *to =
        mprof__counter(&p->thread->trees, place, fresh_key(counter->key),
                       (struct mprof_count){1, half.bytes});
    mprof_ref owner = p->thread->trees.owner[mprof__key_slot(counter->key)];
    bool in_spill = mprof__arena_at(&session->arena, owner) != to;
    if (mprof__has_losses(&p->thread->trees))
        p->thread->record->folded_allocs += half.allocs;
    if (is_c)
        play_c(p, to, owner, half, c, second);
    else
        assert_true(mprof__counter_add(&p->thread->trees, to, in_spill, half));
}

static void play_block(struct player *p, const struct mprof_block *block,
                       bool second) {
    const struct mprof_node *node = (const void *)(block + 1);
    for (uint32_t i = 0; i < block->count; i++)
        for (mprof_ref ref = node[i].counter; ref != 0;) {
            const struct mprof_counter *counter = old_at(ref);
            play_counter(p, &node[i], counter, second);
            ref = counter->next;
        }
}

/* The bins of the player's thread, empty: counters lead there. */
static void copy_bins(const struct player *p) {
    struct mprof__arena *arena = &session->arena;
    for (uint64_t at = MPROF_HEADER_BYTES; at < old_used;) {
        const struct mprof_bin *from = (const void *)(old + at);
        mprof_ref ref = (mprof_ref)(at / 8);
        at += from->head.bytes;
        if (from->head.type != MPROF_BIN || from->thread != p->ref)
            continue;
        struct mprof_bin *to =
            mprof__arena_record(arena, MPROF_BIN, sizeof *to);
        assert_non_null(to);
        to->thread = p->thread->ref;
        to->type = fresh[from->type];
        to->name = fresh[from->name];
        to->class_ = from->class_;
        fresh[ref] = mprof__arena_publish(arena, to);
    }
}

static void *play(void *player) {
    struct player *p = player;
    assert_non_null(mprof__enter());
    p->thread = mprof__thread_self(session, p->heap);
    assert_non_null(p->thread);
    copy_bins(p);
    for (int second = 0; second < 2; second++)
        for (uint64_t at = MPROF_HEADER_BYTES; at < old_used;) {
            const struct mprof_record *record = (const void *)(old + at);
            const struct mprof_block *block = (const void *)record;
            at += record->bytes;
            if (record->type == MPROF_NODES && block->thread == p->ref)
                play_block(p, block, second);
        }
    memset(&p->thread->chain, 0, sizeof p->thread->chain);
    mprof__tree_check(&p->thread->trees);
    mprof__thread_retire(p->thread, p->heap);
    mprof__leave(mprof__self);
    free(p->frames);
    return NULL;
}

/* Frees by other threads are those of who allocated. */
static void play_all(void) {
    for (uint64_t at = MPROF_HEADER_BYTES; at < old_used;) {
        const struct mprof_thread *thread = (const void *)(old + at);
        struct player p = {.ref = (mprof_ref)(at / 8), .heap = thread->heap};
        pthread_t id;
        at += thread->head.bytes;
        if (thread->head.type != MPROF_THREAD)
            continue;
        assert_int_equal(pthread_create(&id, NULL, play, &p), 0);
        assert_int_equal(pthread_join(id, NULL), 0);
    }
}

static void find_old_peak(void) {
    old_peak = 0;
    for (uint64_t at = MPROF_HEADER_BYTES; at < old_used;) {
        const struct mprof_thread *thread = (const void *)(old + at);
        at += thread->head.bytes;
        if (thread->head.type == MPROF_THREAD && thread->peak > old_peak)
            old_peak = thread->peak;
    }
}

static void open_old(const char *file, struct stat *st) {
    int fd = open(file, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, st), 0);
    old = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(old != MAP_FAILED);
    close(fd);
    const struct mprof_header *header = (const void *)old;
    assert_int_equal(header->version, MPROF_VERSION);
    assert_int_equal(header->emptied, 0);
    old_used = header->used;
    find_old_peak();
}

uint64_t replay(const char *from, const char *to, uint64_t limit) {
    struct stat st;
    int error;
    open_old(from, &st);
    fresh = calloc(old_used / 8, sizeof *fresh);
    site_of = calloc(old_used / 8, sizeof *site_of);
    mprof__threads_initialize();
    session = mprof__session_new(
        to, limit, ((const struct mprof_header *)(const void *)old)->heaps,
        &error);
    assert_non_null(session);
    copy_records();
    struct mprof_header *header = mprof__arena_header(&session->arena);
    const struct mprof_header *before = (const void *)old;
    header->program = fresh[before->program];
    header->runtime = fresh[before->runtime];
    play_all();
    uint64_t emptied = header->emptied / 2;
    assert_int_equal(mprof__arena_complete(&session->arena), 0);
    mprof__session_free(session);
    munmap((void *)old, (size_t)st.st_size);
    for (uint64_t ref = 0; ref < old_used / 8; ref++)
        free((void *)site_of[ref]);
    free(fresh);
    free(site_of);
    return emptied;
}

char *replay_tables(const char *data, const char *options) {
    char arguments[4096];
    snprintf(arguments, sizeof arguments, "%s%s", options, data);
    char *text = mprof_report_string(arguments);
    assert_non_null(text);
    if (text[0] != '0')
        print_error("%s\n", text);
    assert_int_equal(text[0], '0');
    const char *tables = strstr(text, "\n\n");
    char *copy = strdup(tables == NULL ? "" : tables);
    mprof_report_free(text);
    return copy;
}
