/* lisp_types.c - see lisp_types.h. */
#include "report/graph/lisp_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/base/dictionary.h"
#include "report/base/search.h"
#include "report/base/utf8.h"

/* A type, while they are sorted. */
struct ranked {
    struct report__lisp_type type;
    uint32_t number; /* in the order of the bins */
};

static int compare_ranked(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    const char *x_name = x->type.name ? x->type.name : "";
    return report__down(x->type.bytes, y->type.bytes)
           ?: strcmp(x->type.type, y->type.type)
           ?: strcmp(x_name, y->type.name ? y->type.name : "");
}

/* Bins with one name are one type. */
struct report__lisp_types
report__lisp_types(struct report__pool *pool,
                   const struct report__profile *profile) {
    const uint32_t bins = profile->bin_count;
    struct report__dictionary texts = {.slots = NULL};
    struct report__pairs names = {.count = 0};
    struct ranked *ranked = report__alloc(pool, bins, sizeof *ranked);
    uint32_t *rank = report__alloc(pool, bins, sizeof *rank);
    struct report__lisp_types types = {
        .of_bin = report__alloc(pool, bins, sizeof *types.of_bin)};

    for (uint32_t i = 0; i < bins; i++) {
        const struct report__bin *bin = &profile->bins[i];
        uint32_t type =
            report__intern(pool, &texts, bin->type, (uint32_t)texts.used);
        uint32_t name = report__intern(pool, &texts, bin->name ? bin->name : "",
                                       (uint32_t)texts.used);
        uint32_t number = report__pair_number(pool, &names, type, name);
        if (number == types.count)
            ranked[types.count++] =
                (struct ranked){{bin->type, bin->name, 0}, number};
        ranked[number].type.bytes += bin->objects.bytes + bin->storage.bytes;
        types.of_bin[i] = number;
    }
    if (types.count > 0)
        qsort(ranked, types.count, sizeof *ranked, compare_ranked);
    types.list = report__alloc(pool, types.count, sizeof *types.list);
    for (uint32_t i = 0; i < types.count; i++) {
        types.list[i] = ranked[i].type;
        rank[ranked[i].number] = i;
    }
    for (uint32_t i = 0; i < bins; i++)
        types.of_bin[i] = rank[types.of_bin[i]];
    return types;
}

/* How well a name is met; only what is met best is meant. */
enum met { NOT_MET, MET_BY_SYMBOL, MET_IN_OTHER_CASE, MET };

static enum met meet(const char *name, const char *text, size_t length) {
    const char *symbol = strrchr(name, ':');

    if (strlen(name) == length && memcmp(name, text, length) == 0)
        return MET;
    if (strlen(name) == length && strncasecmp(name, text, length) == 0)
        return MET_IN_OTHER_CASE;
    if (symbol && strlen(symbol + 1) == length &&
        strncasecmp(symbol + 1, text, length) == 0)
        return MET_BY_SYMBOL;
    return NOT_MET;
}

static enum met meet_type(const struct report__lisp_type *type,
                          const char *text, size_t length) {
    enum met by_type = meet(type->type, text, length);
    enum met by_name = type->name ? meet(type->name, text, length) : NOT_MET;
    return by_type > by_name ? by_type : by_name;
}

/* Choose what the LENGTH bytes of TEXT name.  False: nothing. */
static bool choose(const struct report__lisp_types *types, const char *text,
                   size_t length, bool *chosen) {
    enum met best = NOT_MET;

    for (uint32_t i = 0; i < types->count; i++) {
        enum met met = meet_type(&types->list[i], text, length);
        if (met > best)
            best = met;
    }
    for (uint32_t i = 0; best != NOT_MET && i < types->count; i++)
        chosen[i] |= meet_type(&types->list[i], text, length) == best;
    return best != NOT_MET;
}

static void complain(struct report__pool *pool,
                     const struct report__lisp_types *types, const char *text,
                     size_t length, const char **error) {
    enum { FEW = 20 }; /* as far as anybody reads on */
    const char *all = "";

    for (uint32_t i = 0; i < types->count && i < FEW; i++)
        all = report__format(pool, "%s%s%s", all, i == 0 ? " " : ", ",
                             report__printed_name(pool, report__lisp_type_name(
                                                            &types->list[i])));
    if (types->count > FEW)
        all = report__format(pool, "%s and %u more", all, types->count - FEW);
    *error =
        types->count == 0
            ? "no types were recorded"
            : report__format(pool,
                             "no type '%.*s' was allocated; there "
                             "are%s (see the table of bins)",
                             (int)(length < 200 ? length : 200), text, all);
}

bool *report__choose_types(struct report__pool *pool,
                           const struct report__lisp_types *types,
                           const struct report__chosen_types *chosen,
                           const char **error) {
    bool *by_type = report__alloc(pool, types->count, sizeof *by_type);

    for (uint32_t i = 0; i < chosen->count; i++) {
        const char *text = chosen->list[i];
        if (choose(types, text, strlen(text), by_type))
            continue;
        for (;; text++) {
            size_t length = strcspn(text, ",");
            if (!choose(types, text, length, by_type)) {
                complain(pool, types, text, length, error);
                return NULL;
            }
            text += length;
            if (*text == '\0')
                break;
        }
    }
    return by_type;
}

static void add(struct report__bin *bin, bool is_storage,
                const struct mprof_count *count) {
    report__add_count(is_storage ? &bin->storage : &bin->objects, count);
}

void report__bin_part(struct report__pool *pool, struct report__profile *part) {
    struct report__bin *bins =
        report__alloc(pool, part->bin_count, sizeof *bins);

    for (uint32_t i = 0; i < part->bin_count; i++) {
        bins[i] = part->bins[i];
        bins[i].objects = bins[i].storage = (struct mprof_count){0, 0};
    }
    for (uint32_t i = 0; i < part->counter_count; i++) {
        const struct report__counter *counter = &part->counters[i];
        if (counter->bin != MPROF_NONE)
            add(&bins[counter->bin], counter->is_storage, &counter->allocated);
    }
    for (uint32_t i = 0; i < part->total_count; i++) {
        const struct report__total *total = &part->totals[i];
        if (report__is_shown_self(total, true) && total->bin != MPROF_NONE)
            add(&bins[total->bin], total->is_storage, &total->count);
    }
    part->bins = bins;
}
