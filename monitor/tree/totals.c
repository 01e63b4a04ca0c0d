/* totals.c - see totals.h. */
#include "monitor/tree/totals.h"

#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/tree/trees.h"

enum { FIRST_ROOM = 256, MOST_DEPTH = UINT16_MAX };

/* Room for another of SIZE bytes behind COUNT of them. */
static bool make_room(void **list, uint32_t count, uint32_t *room,
                      size_t size) {
    if (count < *room)
        return true;
    uint32_t larger = *room == 0 ? FIRST_ROOM : 2 * *room;
    void *fresh = mprof__map(larger * size);
    if (fresh == NULL)
        return false;
    if (count > 0)
        memcpy(fresh, *list, count * size);
    /* Should a jump leave this in the middle, there is less room. */
    void *old = *list;
    uint32_t old_room = *room;
    *list = fresh;
    mprof__order_for_handlers();
    *room = larger;
    mprof__order_for_handlers();
    mprof__unmap(old, old_room * size);
    return true;
}

/* Note a failure, which stays, and return MPROF__NOTHING. */
static uint32_t fail(struct mprof__adding *a) {
    a->failed = true;
    return MPROF__NOTHING;
}

uint32_t mprof__totals_function(struct mprof__adding *a, mprof_ref function) {
    struct mprof__totals *t = a->totals;
    const struct mprof__slot *slot =
        mprof__table_find(&t->numbers, (uint64_t)function << 1);
    if (slot != NULL)
        return (uint32_t)slot->value;
    uint32_t number = t->function_count;
    if (!make_room((void **)&t->functions, number, &t->function_room,
                   sizeof *t->functions))
        return fail(a);
    t->functions[number] =
        (struct mprof__function_totals){.function = function};
    /* Should a jump leave this in the middle, nothing has this number. */
    t->function_count++;
    mprof__order_for_handlers();
    if (!mprof__table_add(&t->numbers, (uint64_t)function << 1, number))
        return fail(a);
    mprof__table_trim(&t->numbers);
    return number;
}

uint32_t mprof__totals_arc(struct mprof__adding *a, uint32_t caller,
                           uint32_t function) {
    struct mprof__totals *t = a->totals;
    uint64_t key = ((uint64_t)(caller + 1) << 32 | function) + 2;
    const struct mprof__slot *slot = mprof__table_find(&t->arcs, key);
    if (slot != NULL)
        return (uint32_t)slot->value;
    uint32_t number = t->arc_count;
    if (!make_room((void **)&t->arc, number, &t->arc_room, sizeof *t->arc))
        return fail(a);
    t->arc[number] = (struct mprof__arc_totals){
        .caller = caller == MPROF__NOTHING ? 0 : t->functions[caller].function,
        .function = t->functions[function].function};
    t->arc_count++;
    mprof__order_for_handlers();
    if (!mprof__table_add(&t->arcs, key, number))
        return fail(a);
    mprof__table_trim(&t->arcs);
    return number;
}

/* The TOTAL that *REF leads to, made as LIKE it is. */
static struct mprof_total *get_total(struct mprof__adding *a, mprof_ref *ref,
                                     const struct mprof_total *like) {
    const struct mprof__arena *arena = a->trees->arena;
    struct mprof__blocks *blocks = &a->totals->blocks;
    if (*ref != 0)
        return mprof__arena_at(arena, *ref);
    struct mprof__totals *t = a->totals;
    struct mprof_total *total = NULL;
    if (make_room((void **)&t->block, t->block_count, &t->block_room,
                  sizeof *t->block))
        total = mprof__block_next(blocks, MPROF__FOR_COUNTERS);
    if (total == NULL) {
        a->failed = true;
        return NULL;
    }
    if (t->block_count == 0 || t->block[t->block_count - 1] != blocks->last)
        t->block[t->block_count++] = blocks->last;
    *total = *like;
    *ref = mprof__block_publish(blocks, total);
    return total;
}

static struct mprof_total *add(struct mprof__adding *a, mprof_ref *ref,
                               struct mprof_total like,
                               const struct mprof_count *count) {
    if (count->allocs == 0 && count->bytes == 0)
        return NULL;
    struct mprof_total *total = get_total(a, ref, &like);
    if (total != NULL) {
        mprof__bump(&total->counts[a->valid].allocs, count->allocs);
        mprof__bump(&total->counts[a->valid].bytes, count->bytes);
    }
    return total;
}

static uint8_t views_of(enum mprof__views way) {
    static const uint8_t views[MPROF__WAYS] = {
        [MPROF__SHOWN] = MPROF_SHOWN_FRAMES,
        [MPROF__ALL] = MPROF_ALL_FRAMES,
        [MPROF__BOTH] = MPROF_SHOWN_FRAMES | MPROF_ALL_FRAMES};
    return views[way];
}

/* Add COUNT to the TOTAL that TABLE has for NAME, made as LIKE it is. */
static void add_named(struct mprof__adding *a, struct mprof__table *table,
                      uint64_t name, struct mprof_total like,
                      const struct mprof_count *count) {
    const struct mprof__slot *slot = mprof__table_find(table, name);
    mprof_ref ref = slot == NULL ? 0 : (mprof_ref)slot->value;
    add(a, &ref, like, count);
    if (slot != NULL || ref == 0)
        return;
    if (!mprof__table_add(table, name, ref))
        a->failed = true;
    mprof__table_trim(table);
}

void mprof__totals_self(struct mprof__adding *a, uint32_t number,
                        enum mprof__views way, uint32_t key,
                        const struct mprof_count *count) {
    struct mprof__function_totals *f = &a->totals->functions[number];
    enum mprof_class class_ = mprof__key_class(a->trees->arena, key);
    struct mprof_total like = {.caller = mprof_key_has_type(key) ? key : 0,
                               .function = f->function,
                               .kind = MPROF_SELF,
                               .views = views_of(way),
                               .class_ = (uint8_t)class_};
    uint64_t name = ((uint64_t)number * MPROF__WAYS + way + 1) << 32 | key;
    add_named(a, &a->totals->selfs, name, like, count);
    like.caller = 0;
    like.kind = MPROF_TWICE;
    for (unsigned view = 0; view < MPROF_VIEWS; view++) {
        like.views = views_of(view);
        if (f->on_path[view] > 1 && (way == MPROF__BOTH || way == view))
            add(a, &f->twice[view][class_], like, count);
    }
}

static void note_depth(struct mprof_total *total, unsigned view,
                       uint32_t depth) {
    if (total != NULL && depth < total->depth[view])
        mprof__store_relaxed(&total->depth[view], (uint16_t)depth);
}

void mprof__totals_below(struct mprof__adding *a, uint32_t number,
                         enum mprof__views way, const struct mprof_count *sum,
                         const uint32_t *depth) {
    struct mprof__function_totals *f = &a->totals->functions[number];
    for (unsigned c = 0; c < MPROF_CLASSES; c++) {
        struct mprof_total *total =
            add(a, &f->below[way][c],
                (struct mprof_total){.function = f->function,
                                     .kind = MPROF_BELOW,
                                     .views = views_of(way),
                                     .class_ = (uint8_t)c,
                                     .depth = {MOST_DEPTH, MOST_DEPTH}},
                &sum[c]);
        for (unsigned view = 0; view < MPROF_VIEWS; view++)
            if (way == MPROF__BOTH || way == view)
                note_depth(total, view, depth[view]);
    }
}

void mprof__totals_through(struct mprof__adding *a, uint32_t number,
                           enum mprof__views way,
                           const struct mprof_count *sum) {
    struct mprof__arc_totals *arc = &a->totals->arc[number];
    for (unsigned c = 0; c < MPROF_CLASSES; c++)
        add(a, &arc->through[way][c],
            (struct mprof_total){.caller = arc->caller,
                                 .function = arc->function,
                                 .kind = MPROF_ARC,
                                 .views = views_of(way),
                                 .class_ = (uint8_t)c},
            &sum[c]);
}

void mprof__totals_calls(struct mprof__adding *a, uint32_t number,
                         enum mprof__views way,
                         const struct mprof_count *calls) {
    if (calls->allocs == 0 && calls->bytes == 0)
        return;
    struct mprof__function_totals *f = &a->totals->functions[number];
    add(a, &f->calls[way][0],
        (struct mprof_total){.function = f->function,
                             .kind = MPROF_CALLS,
                             .views = views_of(way)},
        calls);
}

void mprof__totals_short(struct mprof__adding *a,
                         const struct mprof_spill_counter *from) {
    const struct mprof__arena *arena = a->trees->arena;
    if (from->short_ == 0)
        return;
    enum mprof_class class_ = mprof__key_class(arena, from->counter.key);
    add_named(a, &a->totals->shorts, from->short_,
              (struct mprof_total){.function = from->short_,
                                   .kind = MPROF_SHORT,
                                   .views = views_of(MPROF__BOTH),
                                   .class_ = (uint8_t)class_},
              &from->allocated);
}

/* Another thread may be copying the data file. */
static void set_count(struct mprof_count *to, const struct mprof_count *from) {
    mprof__store_relaxed(&to->allocs, from->allocs);
    mprof__store_relaxed(&to->bytes, from->bytes);
}

/* Let the counts that will be true be those that are, and nothing be on the
 * path, where a jump may have left some. */
void mprof__totals_begin(struct mprof__adding *a, struct mprof__trees *trees) {
    *a = (struct mprof__adding){.trees = trees,
                                .totals = &trees->spill.totals,
                                .valid = (trees->record->emptied + 1) & 1};
    struct mprof__totals *t = a->totals;
    t->blocks.arena = trees->arena;
    t->blocks.thread = trees->ref;
    t->blocks.type = MPROF_TOTALS;
    t->blocks.bytes = sizeof(struct mprof_total);
    for (uint32_t n = 0; n < a->totals->block_count; n++) {
        struct mprof_block *block = a->totals->block[n];
        struct mprof_total *total = (void *)(block + 1);
        for (uint32_t i = 0; i < block->count; i++)
            set_count(&total[i].counts[a->valid], &total[i].counts[!a->valid]);
    }
    for (uint32_t i = 0; i < t->function_count; i++)
        memset(t->functions[i].on_path, 0, sizeof t->functions[i].on_path);
    for (uint32_t i = 0; i < t->arc_count; i++)
        memset(t->arc[i].on_path, 0, sizeof t->arc[i].on_path);
}

/* Should a jump leave this in the middle, it is lost, and not given twice. */
void mprof__totals_give(void **memory, size_t bytes) {
    void *old = *memory;
    *memory = NULL;
    mprof__order_for_handlers();
    mprof__unmap(old, bytes);
}

void mprof__totals_forget(struct mprof__totals *totals) {
    mprof__totals_give(&totals->links, totals->links_bytes);
    mprof__totals_give(&totals->path, totals->path_bytes);
}

void mprof__totals_free(struct mprof__totals *totals) {
    mprof__table_free(&totals->numbers);
    mprof__table_free(&totals->arcs);
    mprof__table_free(&totals->shorts);
    mprof__table_free(&totals->selfs);
    mprof__unmap(totals->functions,
                 totals->function_room * sizeof *totals->functions);
    mprof__unmap(totals->arc, totals->arc_room * sizeof *totals->arc);
    mprof__unmap(totals->block, totals->block_room * sizeof *totals->block);
    mprof__totals_forget(totals);
    *totals = (struct mprof__totals){.links = NULL};
}
