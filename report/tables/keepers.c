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

static int compare_roots(const void *a, const void *b, void *data) {
    const struct root *x = a, *y = b;

    (void)data;
    return report__down(report__change(&x->bytes), report__change(&y->bytes))
               ?: strcmp(x->label, y->label);
}

/* Is ROOT worth a line, after the LARGEST one? */
static bool is_much(const struct root *root, const struct root *largest) {
    const uint64_t change = report__change(&root->bytes);

    return change > 0 && change >= report__change(&largest->bytes) / 8;
}

void report__print_root_change(FILE *out, struct report__pool *pool,
                               const struct report__profile *const *sides,
                               enum mprof_heap heap) {
    const struct report__profile *old = sides[MPROF_OLD],
                                 *new = sides[MPROF_NEW];
    struct roots roots = {.count = 0};
    enum { MOST = 3 };
    uint32_t few = 0;

    if (!(old->looked & new->looked & 1u << heap))
        return;
    roots.list =
        report__alloc(pool, (size_t)old->keeper_count + new->keeper_count,
                      sizeof *roots.list);
    add_roots(&roots, pool, old, heap, MPROF_OLD);
    add_roots(&roots, pool, new, heap, MPROF_NEW);
    report__sort(roots.list, roots.count, sizeof *roots.list, compare_roots,
                 NULL);
    while (few < MOST && few < roots.count &&
           is_much(&roots.list[few], &roots.list[0]))
        few++;
    if (few == 0)
        return;
    fputs("Kept alive, the largest changes:\n", out);
    for (uint32_t i = 0; i < few; i++) {
        const struct root *root = &roots.list[i];
        fputs("    ", out);
        report__print_name(out, report__keeper_label(pool, root->label));
        fprintf(out, ", %s (%s)\n", report__signed(&root->bytes, true).text,
                report__growth(&root->bytes).text);
    }
}
