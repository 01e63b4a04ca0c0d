/* refs.c - where the refs of a data file lead. */
#include "report/data/reader.h"

#include <string.h>

static const char *const type_names[MPROF_TYPES] = {
    [MPROF_STRING] = "a string",
    [MPROF_MODULE] = "a module",
    [MPROF_FUNCTION] = "a function",
    [MPROF_THREAD] = "a thread",
    [MPROF_NODES] = "nodes",
    [MPROF_BIN] = "a bin",
    [MPROF_EDGES] = "edges",
    [MPROF_COUNTERS] = "counters",
    [MPROF_SIZE] = "a size",
    [MPROF_SITE] = "a site",
    [MPROF_FREED] = "frees",
    [MPROF_SPILL_NODES] = "spilled nodes",
    [MPROF_TOTALS] = "totals",
    [MPROF_SPILL_COUNTERS] = "spilled counters",
    [MPROF_CURVE] = "a curve",
    [MPROF_COLLECTIONS] = "collections",
    [MPROF_MARK] = "a mark",
    [MPROF_LOST] = "what is lost",
    [MPROF_SOURCE] = "a source",
    [MPROF_WIDE] = "wide numbers",
    [MPROF_C_WIDE] = "wide numbers of C",
    [MPROF_KEEPER] = "a keeper",
    [MPROF_KEPT] = "what is kept",
    [MPROF_EQUAL] = "equal contents"};

/* A page of the file, where there are few records of a type, has 2^PAGE_BITS
 * refs. */
enum { PAGE_BITS = 9 };

/* The size of a block's head. */
enum { HEAD_UNITS = sizeof(struct mprof_block) / 8 };

void report__page_records(struct report__reader *r) {
    r->last_page = (uint32_t)(r->used / 8 >> PAGE_BITS);
    for (uint32_t type = 0; type < MPROF_TYPES; type++) {
        uint32_t record = 0, count = r->count[type];
        if (count == 0)
            continue;
        uint32_t *paged =
            report__alloc(r->pool, r->last_page + 2, sizeof *paged);
        for (uint32_t page = 0; page < r->last_page + 2; page++) {
            while (record < count && r->refs[type][record] >> PAGE_BITS < page)
                record++;
            paged[page] = record;
        }
        r->paged[type] = paged;
    }
}

/* The last record of TYPE that begins at REF or before it; MPROF_NONE: none. */
static uint32_t find(const struct report__reader *r, uint32_t type,
                     mprof_ref ref) {
    const mprof_ref *refs = r->refs[type];
    uint32_t page = ref >> PAGE_BITS;
    if (r->count[type] == 0)
        return MPROF_NONE;
    if (page > r->last_page)
        page = r->last_page;
    uint32_t low = r->paged[type][page], high = r->paged[type][page + 1];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (refs[middle] <= ref)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? MPROF_NONE : low - 1;
}

/* The run of kept bytes where byte AT of the file is, or would be. */
static void find_run(struct report__reader *r, uint64_t at) {
    uint32_t blocks = r->count[MPROF_LEFT_OUT];
    uint64_t ref = at / 8 < UINT32_MAX ? at / 8 : UINT32_MAX;
    uint32_t next = find(r, MPROF_LEFT_OUT, (mprof_ref)ref) + 1;
    /* The head of a block that begins before AT is still in the run before. */
    if (next > 0 && at - (uint64_t)r->refs[MPROF_LEFT_OUT][next - 1] * 8 <
                        sizeof(struct mprof_block))
        next--;
    r->run.left_out = r->left_out[next];
    r->run.from = 0;
    if (next > 0)
        r->run.from = (uint64_t)r->refs[MPROF_LEFT_OUT][next - 1] * 8 +
                      sizeof(struct mprof_block) + r->left_out[next] -
                      r->left_out[next - 1];
    r->run.to = r->kept_bytes + r->run.left_out;
    if (next < blocks)
        r->run.to = (uint64_t)r->refs[MPROF_LEFT_OUT][next] * 8 +
                    sizeof(struct mprof_block);
}

unsigned char *report__kept_at(struct report__reader *r, uint64_t at,
                               size_t bytes) {
    if (at < r->run.from || at >= r->run.to)
        find_run(r, at);
    if (at < r->run.from || at >= r->run.to || bytes > r->run.to - at)
        return NULL;
    return r->kept + (at - r->run.left_out);
}

/* The number of the record of TYPE at REF; MPROF_NONE: there is none. */
static uint32_t record_at(struct report__reader *r, uint32_t type,
                          mprof_ref ref) {
    uint32_t at = find(r, type, ref);
    return at != MPROF_NONE && r->refs[type][at] == ref ? at : MPROF_NONE;
}

bool report__is_record(struct report__reader *r, uint32_t type, mprof_ref ref) {
    return record_at(r, type, ref) != MPROF_NONE;
}

/* REF leads to nothing of TYPE. */
static bool leads_elsewhere(struct report__reader *r, uint64_t at,
                            mprof_ref ref, uint32_t type) {
    for (uint32_t other = 1; other < MPROF_TYPES; other++)
        if (report__is_record(r, other, ref))
            return report__damaged(
                r, at,
                report__format(r->pool, "a ref leads to %s, not to %s",
                               type_names[other], type_names[type]));
    return report__damaged(r, at, "a ref leads to no record");
}

/* The program went on writing while the file was read. */
static bool is_later(const struct report__reader *r, mprof_ref ref) {
    return r->header.state == MPROF_OPEN && (uint64_t)ref * 8 >= r->used;
}

bool report__follow(struct report__reader *r, uint64_t owner, unsigned field,
                    mprof_ref ref, uint32_t type, int flags, uint32_t *index) {
    *index = MPROF_NONE;
    if (ref == 0)
        return flags & MPROF_OPTIONAL
                   ? true
                   : report__damaged(r, owner + field, "a ref is missing");
    if ((flags & MPROF_LATER) && is_later(r, ref))
        return true;
    *index = record_at(r, type, ref);
    if (*index == MPROF_NONE)
        return leads_elsewhere(r, owner + field, ref, type);
    if (!(flags & MPROF_LATER) && (uint64_t)ref * 8 >= owner)
        return report__damaged(r, owner + field, "a ref leads forwards");
    return true;
}

static uint32_t units_of(const struct report__reader *r, uint32_t type,
                         uint32_t thread) {
    const struct report__thread *of = &r->profile->threads[thread];
    bool lives = mprof_knows_lives(of->heap, of->flags);
    return report__thing_bytes(r, type, lives) / 8;
}

static uint32_t things_in(const struct report__block *block) {
    return block[1].before - block->before;
}

/* REF leads to the record BLOCK of TYPE, or behind it, and to no thing that is
 * there; in an open file there may be one by now. */
static bool leads_to_none(struct report__reader *r, uint64_t at, mprof_ref ref,
                          uint32_t type, uint32_t block) {
    uint64_t within = ((uint64_t)ref - r->refs[type][block]) * 8;
    uint64_t bytes = (uint64_t)r->blocks[type][block].units * 8;
    struct mprof_block head;
    report__take(r, (uint64_t)r->refs[type][block] * 8, &head, sizeof head);
    if (within < sizeof head || within >= head.head.bytes ||
        (within - sizeof head) % bytes != 0)
        return leads_elsewhere(r, at, ref, type);
    return r->profile->open ||
           report__damaged(r, at, "a ref leads to what is not there");
}

bool report__follow_thing(struct report__reader *r, uint64_t owner,
                          unsigned field, mprof_ref ref, uint32_t type,
                          int flags, uint32_t *index) {
    *index = MPROF_NONE;
    if (ref == 0)
        return flags & MPROF_OPTIONAL
                   ? true
                   : report__damaged(r, owner + field, "a ref is missing");
    if (is_later(r, ref))
        return true;
    uint32_t block = find(r, type, ref);
    if (block == MPROF_NONE)
        return leads_elsewhere(r, owner + field, ref, type);
    const struct report__block *of = &r->blocks[type][block];
    uint32_t within = ref - r->refs[type][block], number;
    within -= HEAD_UNITS; /* before the first one: more than there are */
    number = within / of->units;
    if (number < things_in(of) && number * of->units == within) {
        *index = of->before + number;
        r->found = of->thread;
        return true;
    }
    return leads_to_none(r, owner + field, ref, type, block);
}

bool report__count_things(struct report__reader *r, uint32_t type) {
    uint32_t count = r->count[type];
    struct report__block *blocks =
        report__alloc(r->pool, (size_t)count + 1, sizeof *blocks);
    uint64_t sum = 0;

    r->blocks[type] = blocks;
    for (uint32_t b = 0; b < count; b++) {
        uint64_t at = (uint64_t)r->refs[type][b] * 8;
        struct mprof_block head;
        report__take(r, at, &head, sizeof head);
        if (!report__follow(r, at, MPROF_FIELD(block, thread), head.thread,
                            MPROF_THREAD, 0, &blocks[b].thread))
            return false;
        /* The totals have this spill's counts already. */
        if ((type == MPROF_SPILL_NODES || type == MPROF_SPILL_COUNTERS) &&
            !r->profile->threads[blocks[b].thread].has_spill)
            head.count = 0;
        blocks[b].units = units_of(r, type, blocks[b].thread);
        if (head.count >
            (head.head.bytes - sizeof head) / (8 * blocks[b].units))
            return report__damaged(r, at + MPROF_FIELD(block, count),
                                   "there is no room for so many");
        blocks[b].before = (uint32_t)sum;
        sum += head.count;
    }
    /* Below 2^32: each has 16 bytes at least, and refs count 8. */
    blocks[count].before = r->things[type] = (uint32_t)sum;
    return true;
}

bool report__each_thing(struct report__reader *r, uint32_t type,
                        bool (*read)(struct report__reader *, uint64_t,
                                     uint32_t, uint32_t)) {
    for (uint32_t b = 0; b < r->count[type]; b++) {
        const struct report__block *block = &r->blocks[type][b];
        uint64_t at = ((uint64_t)r->refs[type][b] + HEAD_UNITS) * 8;
        for (uint32_t i = 0; i < things_in(block); i++)
            if (!read(r, at + (uint64_t)i * block->units * 8, block->before + i,
                      block->thread))
                return false;
    }
    return true;
}
