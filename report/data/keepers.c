/* keepers.c - what keeps objects alive, and which contents are equal. */
#include "report/data/reader.h"
#include "report/data/trees.h"

/* Earlier looks at the heap are of no interest. */
static bool is_last(const struct report__reader *r, uint32_t heap,
                    uint32_t look) {
    return look != 0 && look == r->header.look[heap];
}

static uint32_t index_of(const struct report__profile *p,
                         const struct report__counter *counter) {
    return counter == NULL ? MPROF_NONE : (uint32_t)(counter - p->counters);
}

/* INDEX: by record, its number in the profile; MPROF_NONE: it is of an earlier
 * look. */
static bool read_keeper(struct report__reader *r, uint32_t record,
                        uint32_t *index, uint8_t *depth) {
    const uint64_t at = (uint64_t)r->refs[MPROF_KEEPER][record] * 8;
    struct report__profile *p = r->profile;
    struct report__counter *counter = NULL;
    struct mprof_keeper in;
    struct report__keeper out;
    uint32_t outer;

    report__take(r, at, &in, sizeof in);
    index[record] = MPROF_NONE;
    if (in.kind > MPROF_KEEPER_OBJECT || in.heap >= MPROF_HEAPS)
        return report__damaged(r, AT(kind), "no such keeper");
    if (!report__follow(r, REF(outer), MPROF_KEEPER, MPROF_OPTIONAL, &outer) ||
        !report__read_string(r, REF(label), MPROF_OPTIONAL, &out.label) ||
        (in.counter != 0 && !report__follow_counter(r, REF(counter), &counter)))
        return false;
    depth[record] = outer == MPROF_NONE ? 1 : depth[outer] + 1;
    if (depth[record] > MPROF_MOST_KEEPERS)
        return report__damaged(r, AT(outer), "too many keepers in each other");
    if (!is_last(r, in.heap, in.look))
        return true;
    out.outer = outer == MPROF_NONE ? MPROF_NONE : index[outer];
    if (outer != MPROF_NONE && out.outer == MPROF_NONE)
        return report__damaged(r, AT(outer), "a keeper of an earlier look");
    out.kind = in.kind;
    out.heap = in.heap;
    out.each = in.each;
    out.strange = in.strange;
    out.counter = index_of(p, counter);
    index[record] = p->keeper_count;
    p->keepers[p->keeper_count++] = out;
    return true;
}

static bool read_kept(struct report__reader *r, uint32_t record,
                      const uint32_t *index) {
    const uint64_t at = (uint64_t)r->refs[MPROF_KEPT][record] * 8;
    struct report__profile *p = r->profile;
    struct report__counter *counter;
    struct mprof_kept in;
    uint32_t keeper;

    report__take(r, at, &in, sizeof in);
    if (!report__follow(r, REF(keeper), MPROF_KEEPER, 0, &keeper) ||
        !report__follow_counter(r, REF(counter), &counter))
        return false;
    if (counter != NULL && index[keeper] != MPROF_NONE)
        p->holdings[p->holding_count++] = (struct report__holding){
            index[keeper], index_of(p, counter), in.count};
    return true;
}

static bool read_equal(struct report__reader *r, uint32_t record) {
    const uint64_t at = (uint64_t)r->refs[MPROF_EQUAL][record] * 8;
    struct report__profile *p = r->profile;
    struct report__counter *counter;
    struct mprof_equal in;

    report__take(r, at, &in, sizeof in);
    if (!report__follow_counter(r, REF(counter), &counter))
        return false;
    if (in.equal.allocs > in.compared.allocs ||
        in.equal.bytes > in.compared.bytes)
        return report__damaged(r, AT(equal), "more is equal than was compared");
    if (counter != NULL && is_last(r, MPROF_LISP_HEAP, in.look))
        p->equals[p->equal_count++] =
            (struct report__equal){index_of(p, counter), in.compared, in.equal};
    return true;
}

bool report__read_keepers(struct report__reader *r) {
    const uint32_t keepers = r->count[MPROF_KEEPER],
                   kept = r->count[MPROF_KEPT], equals = r->count[MPROF_EQUAL];
    uint32_t *index = report__alloc(r->pool, keepers, sizeof *index);
    uint8_t *depth = report__alloc(r->pool, keepers, 1);
    struct report__profile *p = r->profile;

    for (int heap = 0; heap < MPROF_HEAPS; heap++)
        p->looked |= (unsigned)(r->header.look[heap] != 0) << heap;
    p->keepers = report__alloc(r->pool, keepers, sizeof *p->keepers);
    p->holdings = report__alloc(r->pool, kept, sizeof *p->holdings);
    p->equals = report__alloc(r->pool, equals, sizeof *p->equals);
    for (uint32_t i = 0; i < keepers; i++)
        if (!read_keeper(r, i, index, depth))
            return false;
    for (uint32_t i = 0; i < kept; i++)
        if (!read_kept(r, i, index))
            return false;
    for (uint32_t i = 0; i < equals; i++)
        if (!read_equal(r, i))
            return false;
    report__drop(r->pool, index);
    report__drop(r->pool, depth);
    return true;
}
