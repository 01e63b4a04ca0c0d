/* keepers.c - see keepers.h. */
#include "monitor/graph/keepers.h"

#include <string.h>

enum { MOST = 1 << 20 };

/* LIST with room for one more than COUNT; NULL: there is none. */
static void *with_room(struct mprof__keepers *s, void *list, size_t count,
                       size_t *room, size_t size) {
    void *larger = mprof__with_room(list, count, room, size);
    s->failed |= larger == NULL;
    return larger;
}

void mprof__keepers_begin(struct mprof__keepers *s) {
    memset(s, 0, sizeof *s);
    s->list = with_room(s, NULL, 0, &s->room, sizeof *s->list);
    s->texts = with_room(s, NULL, 0, &s->text_room, 1);
    s->count = s->length = 1;
}

void mprof__keepers_end(struct mprof__keepers *s) {
    mprof__unmap(s->list, s->room * sizeof *s->list);
    mprof__unmap(s->texts, s->text_room);
    mprof__unmap(s->kept, s->kept_room * sizeof *s->kept);
    mprof__table_free(&s->known);
    mprof__table_free(&s->known_kept);
    memset(s, 0, sizeof *s);
}

/* That two have the same does not happen. */
static uint64_t key_of(uint32_t outer, uint64_t id) {
    uint64_t words[2] = {outer, id};
    return mprof__hash_text((const char *)words, sizeof words);
}

uint32_t mprof__keepers_find(const struct mprof__keepers *s, uint32_t outer,
                             uint64_t id) {
    for (uint32_t keeper = outer; keeper != 0; keeper = s->list[keeper].outer)
        if (s->list[keeper].id == id)
            return keeper;
    const struct mprof__slot *slot =
        mprof__table_find(&s->known, key_of(outer, id));
    return slot == NULL ? 0 : (uint32_t)slot->value;
}

static bool grow_list(struct mprof__keepers *s) {
    void *list = with_room(s, s->list, s->count, &s->room, sizeof *s->list);
    if (list != NULL)
        s->list = list;
    return list != NULL;
}

static uint32_t add_text(struct mprof__keepers *s, const char *text) {
    size_t length = text == NULL ? 0 : strlen(text), at = s->length;
    while (at + length + 1 > s->text_room) {
        void *texts = with_room(s, s->texts, s->text_room, &s->text_room, 1);
        if (texts == NULL)
            return 0;
        s->texts = texts;
    }
    if (length > 0)
        memcpy(s->texts + at, text, length);
    s->length += length + 1;
    return (uint32_t)at;
}

uint32_t mprof__keepers_add(struct mprof__keepers *s, uint32_t outer,
                            uint64_t id, enum mprof_keeper_kind kind,
                            const char *text, mprof_ref maker) {
    unsigned depth = outer == 0 ? 1 : s->list[outer].depth + 1u;
    uint32_t found = mprof__keepers_find(s, outer, id);
    if (found != 0)
        return found;
    if (s->failed || s->count == MOST || depth > MPROF_MOST_KEEPERS ||
        !grow_list(s) ||
        !mprof__table_add(&s->known, key_of(outer, id), s->count))
        return outer;
    s->list[s->count] = (struct mprof__keeper){.outer = outer,
                                               .text = add_text(s, text),
                                               .id = id,
                                               .maker = maker,
                                               .depth = (uint16_t)depth,
                                               .kind = (uint16_t)kind};
    return (uint32_t)s->count++;
}

static void add(struct mprof_count *sum, struct mprof_count count) {
    sum->allocs += count.allocs;
    sum->bytes += count.bytes;
}

static void count_kept(struct mprof__keepers *s, uint32_t keeper,
                       mprof_ref counter, struct mprof_count count) {
    uint64_t key = key_of(keeper, counter);
    const struct mprof__slot *slot = mprof__table_find(&s->known_kept, key);
    if (slot != NULL) {
        add(&s->kept[slot->value].count, count);
        return;
    }
    void *list =
        with_room(s, s->kept, s->kept_count, &s->kept_room, sizeof *s->kept);
    if (list != NULL)
        s->kept = list;
    if (list != NULL && mprof__table_add(&s->known_kept, key, s->kept_count))
        s->kept[s->kept_count++] = (struct mprof__kept){keeper, counter, count};
    else
        s->failed = true;
}

/* KEEPER gets objects of EACH bytes. */
static void take_size(struct mprof__keeper *keeper, uint64_t each) {
    if (keeper->own.allocs == 0)
        keeper->each = each;
    else if (keeper->each != each)
        keeper->each = MPROF__MIXED;
}

void mprof__keepers_count(struct mprof__keepers *s, uint32_t keeper,
                          mprof_ref counter, uint64_t bytes) {
    struct mprof_count one = {1, bytes};
    if (s->failed)
        return;
    take_size(&s->list[keeper], bytes);
    add(&s->list[keeper].own, one);
    if (counter == 0)
        add(&s->list[keeper].strange, one);
    else
        count_kept(s, keeper, counter, one);
}

/* All that KEEPER has alone is OUTER's. */
static void move(struct mprof__keepers *s, uint32_t keeper, uint32_t outer) {
    struct mprof__keeper *from = &s->list[keeper], *to = &s->list[outer];
    if (from->own.allocs > 0)
        take_size(to, from->each);
    add(&to->own, from->own);
    add(&to->strange, from->strange);
    if (from->outer == 0)
        add(&to->all, from->all);
    from->own = from->strange = from->all = (struct mprof_count){0, 0};
    from->outer = outer;
}

/* Keepers come behind those further out, so what was left out last is found
 * first.  `outer` of what is left out is where its numbers are. */
static void leave_out(struct mprof__keepers *s, uint64_t least,
                      const char *other_stacks) {
    size_t last = s->count;
    for (size_t i = last; i-- > 1;) {
        struct mprof__keeper *keeper = &s->list[i];
        uint32_t into = keeper->outer;
        if (keeper->all.bytes >= least)
            continue;
        if (into == 0) {
            enum mprof_keeper_kind kind = keeper->kind;
            const char *rest = kind == MPROF_KEEPER_SHARED
                                   ? "several others together"
                               : kind == MPROF_KEEPER_UNCERTAIN ? other_stacks
                                                                : "others";
            into = mprof__keepers_add(s, 0, UINT64_MAX - kind, kind, rest, 0);
            if (into == 0)
                continue;
        }
        move(s, (uint32_t)i, into);
    }
}

void mprof__keepers_finish(struct mprof__keepers *s, uint64_t one_in,
                           const char *other_stacks) {
    uint64_t total = 0;
    if (s->failed)
        return;
    for (size_t i = s->count; i-- > 1;) {
        struct mprof__keeper *keeper = &s->list[i];
        add(&keeper->all, keeper->own);
        if (keeper->outer != 0)
            add(&s->list[keeper->outer].all, keeper->all);
        else
            total += keeper->all.bytes;
    }
    leave_out(s, total / one_in, other_stacks);
    for (size_t i = 0; i < s->kept_count; i++) {
        struct mprof__kept *kept = &s->kept[i];
        while (s->list[kept->keeper].own.allocs == 0)
            kept->keeper = s->list[kept->keeper].outer;
    }
}
