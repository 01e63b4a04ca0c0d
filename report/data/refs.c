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
    [MPROF_C_WIDE] = "wide numbers of C"};

/* A page of the file, where there are few records of a type, has 2^PAGE_BITS
 * refs. */
enum { PAGE_BITS = 9 };

void report__page_records(struct report__reader *r) {
    r->last_page = (uint32_t)(r->used / 8 >> PAGE_BITS);
    for (uint32_t type = 1; type < MPROF_TYPES; type++) {
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

static uint32_t thing_bytes(const struct report__reader *r, uint32_t type,
                            uint32_t block) {
    const struct report__thread *thread =
        &r->profile->threads[r->thread[type][block]];
    return report__thing_bytes(r, type,
                               mprof_knows_lives(thread->heap, thread->flags));
}

static struct mprof_block block_at(const struct report__reader *r,
                                   uint32_t type, uint32_t block) {
    struct mprof_block head;
    memcpy(&head, r->data + (uint64_t)r->refs[type][block] * 8, sizeof head);
    /* What is in a spill that totals have counts no more. */
    if ((type == MPROF_SPILL_NODES || type == MPROF_SPILL_COUNTERS) &&
        !r->profile->threads[r->thread[type][block]].has_spill)
        head.count = 0;
    return head;
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
    struct mprof_block head = block_at(r, type, block);
    uint64_t within = ((uint64_t)ref - r->refs[type][block]) * 8;
    uint32_t bytes = thing_bytes(r, type, block);
    if (within < sizeof head || within >= head.head.bytes ||
        (within - sizeof head) % bytes != 0)
        return leads_elsewhere(r, owner + field, ref, type);
    within = (within - sizeof head) / bytes;
    if (within < head.count)
        *index = r->before[type][block] + (uint32_t)within;
    return within < head.count || r->profile->open
               ? true
               : report__damaged(r, owner + field,
                                 "a ref leads to what is not there");
}

uint32_t report__thing_thread(struct report__reader *r, uint32_t type,
                              mprof_ref ref) {
    return r->thread[type][find(r, type, ref)];
}

bool report__count_things(struct report__reader *r, uint32_t type) {
    uint32_t blocks = r->count[type];
    uint64_t sum = 0;

    r->thread[type] = report__alloc(r->pool, blocks, sizeof(uint32_t));
    r->before[type] = report__alloc(r->pool, blocks, sizeof(uint32_t));
    for (uint32_t b = 0; b < blocks; b++) {
        uint64_t at = (uint64_t)r->refs[type][b] * 8;
        struct mprof_block head;
        memcpy(&head, r->data + at, sizeof head);
        if (!report__follow(r, at, MPROF_FIELD(block, thread), head.thread,
                            MPROF_THREAD, 0, &r->thread[type][b]))
            return false;
        head = block_at(r, type, b);
        if (head.count >
            (head.head.bytes - sizeof head) / thing_bytes(r, type, b))
            return report__damaged(r, at + MPROF_FIELD(block, count),
                                   "there is no room for so many");
        r->before[type][b] = (uint32_t)sum;
        sum += head.count;
    }
    /* Below 2^32: each has 16 bytes at least, and refs count 8. */
    r->things[type] = (uint32_t)sum;
    return true;
}

bool report__each_thing(struct report__reader *r, uint32_t type,
                        bool (*read)(struct report__reader *, uint64_t,
                                     uint32_t, uint32_t)) {
    for (uint32_t b = 0; b < r->count[type]; b++) {
        struct mprof_block head = block_at(r, type, b);
        uint64_t at = (uint64_t)r->refs[type][b] * 8 + sizeof head;
        uint32_t bytes = thing_bytes(r, type, b);
        for (uint32_t i = 0; i < head.count; i++)
            if (!read(r, at + (uint64_t)i * bytes, r->before[type][b] + i,
                      r->thread[type][b]))
                return false;
    }
    return true;
}
