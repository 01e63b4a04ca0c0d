/* keepers.c - the roots that keep objects alive, by their names. */
#include "report/base/dictionary.h"
#include "report/elf/cxx_names.h"
#include "report/tables/diff.h"

const char *report__keeper_label(struct report__pool *pool, const char *label) {
    const char *name = strstr(label, " _Z");
    const size_t length = name == NULL ? 0 : strcspn(name + 1, ",");

    if (name == NULL)
        return label;
    const char *shown = report__demangle(
        pool, report__format(pool, "%.*s", (int)length, name + 1));
    return shown == NULL
               ? label
               : report__format(pool, "%.*s%s%s", (int)(name + 1 - label),
                                label, report__shorten_cxx(pool, shown, true),
                                name + 1 + length);
}

uint64_t *report__kept_bytes(struct report__pool *pool,
                             const struct report__profile *p,
                             enum mprof_heap heap) {
    uint64_t *kept = report__alloc(pool, p->keeper_count, sizeof *kept);

    for (uint32_t i = 0; i < p->holding_count; i++)
        kept[p->holdings[i].keeper] += p->holdings[i].count.bytes;
    for (uint32_t i = p->keeper_count; i-- > 0;) {
        const struct report__keeper *keeper = &p->keepers[i];
        if (keeper->heap != heap)
            kept[i] = 0;
        else if (keeper->outer != MPROF_NONE)
            kept[keeper->outer] += kept[i];
    }
    return kept;
}

/* The bytes that the roots of each name keep, on both sides. */
struct roots {
    struct report__dictionary numbers;
    struct root {
        const char *label;
        struct report__change bytes;
    } * list;
    uint32_t count;
};

static void add_roots(struct roots *roots, struct report__pool *pool,
                      const struct report__profile *p, enum mprof_heap heap,
                      enum report__joined_side side) {
    const uint64_t *kept = report__kept_bytes(pool, p, heap);

    for (uint32_t i = 0; i < p->keeper_count; i++) {
        const struct report__keeper *keeper = &p->keepers[i];
        if (keeper->outer != MPROF_NONE || keeper->heap != heap ||
            !keeper->label)
            continue;
        const uint32_t n =
            report__intern(pool, &roots->numbers, keeper->label, roots->count);
        if (n == roots->count)
            roots->list[roots->count++].label = keeper->label;
        roots->list[n].bytes.numbers[side] += kept[i];
    }
}

void report__print_root_change(FILE *out, struct report__pool *pool,
                               const struct report__profile *const *sides,
                               enum mprof_heap heap) {
    const struct report__profile *old = sides[MPROF_OLD],
                                 *new = sides[MPROF_NEW];
    struct roots roots = {.count = 0};
    const struct root *most = NULL;

    if (!(old->looked & new->looked & 1u << heap))
        return;
    roots.list =
        report__alloc(pool, (size_t)old->keeper_count + new->keeper_count,
                      sizeof *roots.list);
    add_roots(&roots, pool, old, heap, MPROF_OLD);
    add_roots(&roots, pool, new, heap, MPROF_NEW);
    for (uint32_t i = 0; i < roots.count; i++)
        if (most == NULL ||
            report__change(&roots.list[i].bytes) > report__change(&most->bytes))
            most = &roots.list[i];
    if (most == NULL || report__change(&most->bytes) == 0)
        return;
    fputs("Bytes kept alive: the largest change is in ", out);
    report__print_name(out, report__keeper_label(pool, most->label));
    fprintf(out, ", %s (%s).\n", report__signed(&most->bytes, true).text,
            report__growth(&most->bytes).text);
}
