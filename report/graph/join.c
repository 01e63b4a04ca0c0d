/* join.c - see join.h. */
#include "report/graph/join.h"

#include <inttypes.h>
#include <string.h>

#include "monitor/format/paths.h"
#include "report/base/utf8.h"
#include "report/base/dictionary.h"
#include "report/data/merge.h"
#include "report/graph/groups.h"
#include "report/graph/inlining.h"
#include "report/graph/same_name.h"

struct joining {
    struct report__pool *pool;
    const struct report__profile *const *sides;
    struct report__functions *const *names;
    struct report__profile *profile;
    struct report__functions *out;
    size_t capacity; /* of out->list */
    struct report__dictionary keys;
    const char **module_keys; /* by module, as are these */
    bool *is_same_code;       /* the other side has a file of that build id */
    uint32_t first_module[MPROF_SIDES];
    uint32_t *function[MPROF_SIDES]; /* by function of that side */
};

static void shift(uint32_t *index, uint32_t by) {
    if (*index < MPROF_TOP_FUNCTION)
        *index += by;
}

/* Append SIDE's records. */
static void join_records(struct joining *j, enum report__joined_side side) {
    const struct report__profile *p = j->sides[side];
    struct report__profile *out = j->profile;
    const uint32_t module = out->module_count, function = out->function_count;
    const struct report__maps maps = {
        .modules = report__alloc(j->pool, p->module_count, sizeof(uint32_t)),
        .functions =
            report__alloc(j->pool, p->function_count, sizeof(uint32_t)),
        .moved = report__alloc(j->pool, p->module_count, sizeof(uint64_t))};

    j->first_module[side] = module;
    for (uint32_t i = 0; i < p->module_count; i++) {
        maps.modules[i] = out->module_count;
        out->modules[out->module_count] = p->modules[i];
        out->modules[out->module_count++].file += module;
    }
    for (uint32_t i = 0; i < p->function_count; i++) {
        maps.functions[i] = function + i;
        out->functions[out->function_count] = p->functions[i];
        shift(&out->functions[out->function_count++].module, module);
    }
    report__append(out, p, &maps);
}

/* Modules */

static bool is_program(const struct report__profile *p, uint32_t module) {
    return *p->program && strcmp(p->modules[module].path, p->program) == 0;
}

static bool has_same_id(const struct report__module *a,
                        const struct report__module *b) {
    return a->build_id_bytes > 0 && a->build_id_bytes == b->build_id_bytes &&
           memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
}

/* Each is the first one of its key, of NEW if that has one. */
static void join_modules(struct joining *j) {
    const uint32_t count = j->profile->module_count;
    const uint32_t first = j->first_module[MPROF_NEW];
    struct report__dictionary keys = {0};

    j->out->module_id = report__alloc(j->pool, count, sizeof(uint32_t));
    j->module_keys = report__alloc(j->pool, count, sizeof *j->module_keys);
    j->is_same_code = report__alloc(j->pool, count, sizeof *j->is_same_code);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = k < count - first ? first + k : k - (count - first);
        const enum report__joined_side side = i < first ? MPROF_OLD : MPROF_NEW;
        const struct report__module *module = &j->profile->modules[i];
        const char *key = is_program(j->sides[side], i - j->first_module[side])
                              ? ""
                              : report__same_file(j->pool, module->path);
        uint32_t id = report__intern(j->pool, &keys, key, i);
        j->module_keys[i] = key;
        j->out->module_id[i] = id;
        if (side == MPROF_OLD && id >= first &&
            has_same_id(module, &j->profile->modules[id]))
            j->is_same_code[i] = j->is_same_code[id] = true;
    }
}

/* Functions */

static bool is_nameless(const char *name, const char *file) {
    const size_t length = strlen(file);
    return strncmp(name, file, length) == 0 &&
           strncmp(name + length, "+0x", 3) == 0;
}

/* Return the key of a C FUNCTION, in MODULE or MPROF_NONE; and its *NAME. */
static const char *c_key(struct joining *j,
                         const struct report__shown *function, uint32_t module,
                         const char **name) {
    *name = function->name;
    if (module == MPROF_NONE)
        return report__format(j->pool, "?%s", *name);
    const char *path = j->profile->modules[module].path;
    const char *file = mprof__base_name(path);
    if (!j->is_same_code[module] && is_nameless(*name, file))
        *name = report__format(j->pool, "%s+?", file);
    return report__format(j->pool, "C%s:%s", j->module_keys[module],
                          is_nameless(*name, file) || *name != function->name
                              ? *name + strlen(file)
                              : *name);
}

static uint32_t number_of(struct joining *j, const char *key,
                          const struct report__shown *function,
                          const char *name, uint32_t module) {
    struct report__functions *out = j->out;
    uint32_t number = report__intern(j->pool, &j->keys, key, out->count);

    if (number < out->count)
        return number;
    out->list = report__grow(j->pool, out->list, out->count, &j->capacity,
                             sizeof *out->list);
    out->list[out->count] = *function;
    out->list[out->count].name = name;
    out->list[out->count].module =
        module == MPROF_NONE ? module : out->module_id[module];
    return out->count++;
}

/* Give SIDE's functions their numbers. */
static void join_functions(struct joining *j, enum report__joined_side side) {
    const struct report__functions *names = j->names[side];
    const uint32_t *modules =
        report__modules_of(j->pool, j->sides[side], names, names->count);
    uint32_t *numbers = report__alloc(j->pool, names->count, sizeof *numbers);

    for (uint32_t i = 0; i < names->count; i++) {
        const struct report__shown *function = &names->list[i];
        uint32_t module = modules[i];
        const char *key, *name;
        shift(&module, j->first_module[side]);
        if (i == MPROF_TOP_LEVEL) {
            key = "T";
            name = function->name;
        } else if (function->kind == MPROF_C) {
            key = c_key(j, function, module, &name);
        } else {
            name = report__same_name(j->pool, function->name);
            key = report__format(j->pool, "L%s", name);
        }
        numbers[i] = number_of(j, key, function, name, module);
    }
    j->function[side] = numbers;
}

/* Which of them each record is. */
static void join_shown(struct joining *j) {
    const uint32_t count = j->profile->function_count;
    const uint32_t olds = j->sides[MPROF_OLD]->function_count;

    j->out->shown = report__alloc(j->pool, count, sizeof *j->out->shown);
    j->out->fragment = report__alloc(j->pool, count, sizeof *j->out->fragment);
    for (uint32_t i = 0; i < count; i++) {
        const enum report__joined_side side = i < olds ? MPROF_OLD : MPROF_NEW;
        const uint32_t own = side == MPROF_OLD ? i : i - olds;
        j->out->shown[i] = j->function[side][j->names[side]->shown[own]];
        j->out->fragment[i] = j->names[side]->fragment[own];
    }
}

/* Inlining */

/* Return OUT's places, by place of SIDE. */
static uint32_t *join_places(struct joining *j, struct report__inlining *out,
                             enum report__joined_side side) {
    const struct report__places *own = &j->names[side]->inlining->places;
    const uint32_t count = own->pairs.count > 0 ? own->pairs.count : 1;
    uint32_t *numbers = report__alloc(j->pool, count, sizeof *numbers);

    for (uint32_t i = 1; i < own->pairs.count; i++) {
        const struct report__place place = report__place_at(own, i);
        numbers[i] = report__place_number(j->pool, &out->places, &place);
    }
    return numbers;
}

/* SIDE has sites and functions from these numbers on. */
static void add_inlining(struct joining *j, struct report__inlining *out,
                         enum report__joined_side side, uint32_t site,
                         uint32_t function) {
    const struct report__profile *p = j->sides[side];
    const struct report__inlining *own = j->names[side]->inlining;
    const uint32_t *numbers = join_places(j, out, side), frame = out->count;

    for (uint32_t i = 0; i < own->count; i++) {
        struct report__inlined_frame *f = &out->frames[out->count++];
        *f = own->frames[i];
        shift(&f->outer, frame);
        f->function = j->function[side][f->function];
        f->call = numbers[f->call];
    }
    for (uint32_t i = 0; i < p->site_count; i++) {
        out->of_site[site + i] = own->of_site[i];
        shift(&out->of_site[site + i], frame);
        out->site_place[site + i] = numbers[own->site_place[i]];
    }
    for (uint32_t i = 0; i < p->function_count; i++)
        out->defined[function + i] = numbers[own->defined[i]];
}

static void join_inlining(struct joining *j) {
    const struct report__profile *p = j->profile, *a = j->sides[MPROF_OLD];
    const struct report__inlining *x = j->names[MPROF_OLD]->inlining;
    const struct report__inlining *y = j->names[MPROF_NEW]->inlining;

    if (x == NULL || y == NULL)
        return;
    struct report__inlining *out = report__alloc(j->pool, 1, sizeof *out);
    out->frames = report__alloc(j->pool, (size_t)x->count + y->count,
                                sizeof *out->frames);
    out->of_site = report__alloc(j->pool, p->site_count, sizeof(uint32_t));
    out->site_place = report__alloc(j->pool, p->site_count, sizeof(uint32_t));
    out->defined = report__alloc(j->pool, p->function_count, sizeof(uint32_t));
    add_inlining(j, out, MPROF_OLD, 0, 0);
    add_inlining(j, out, MPROF_NEW, a->site_count, a->function_count);
    j->out->inlining = out;
}

bool report__join(struct report__pool *pool,
                  const struct report__profile *const sides[MPROF_SIDES],
                  struct report__functions *const names[MPROF_SIDES],
                  struct report__joined *joined, const char **error) {
    struct joining j = {.pool = pool, .sides = sides, .names = names};

    j.profile = report__alloc(pool, 1, sizeof *j.profile);
    *j.profile = *sides[MPROF_NEW];
    if (!report__make_room(pool, j.profile, sides, MPROF_SIDES)) {
        *error = "together the data files are too large to compare";
        return false;
    }
    j.out = report__alloc(pool, 1, sizeof *j.out);
    join_records(&j, MPROF_OLD);
    join_records(&j, MPROF_NEW);
    join_modules(&j);
    /* NEW's names are those that are shown. */
    join_functions(&j, MPROF_NEW);
    join_functions(&j, MPROF_OLD);
    join_shown(&j);
    join_inlining(&j);
    *joined =
        (struct report__joined){.profile = j.profile,
                                .names = j.out,
                                .sides = {sides[MPROF_OLD], sides[MPROF_NEW]},
                                .new_thread = sides[MPROF_OLD]->thread_count};
    return true;
}

/* Keep the items of SIDE. */
#define KEEP(array, count, thread_of)                                          \
    do {                                                                       \
        copy->array = report__alloc(pool, p->count, sizeof *copy->array);      \
        copy->count = 0;                                                       \
        for (uint32_t i = 0; i < p->count; i++)                                \
            if (report__side_of(joined, thread_of) == side)                    \
                copy->array[copy->count++] = p->array[i];                      \
    } while (0)

const struct report__profile *
report__one_side(struct report__pool *pool, const struct report__joined *joined,
                 const struct report__profile *p,
                 enum report__joined_side side) {
    struct report__profile *copy = report__alloc(pool, 1, sizeof *copy);

    *copy = *p;
    KEEP(counters, counter_count, p->nodes[p->counters[i].node].thread);
    KEEP(totals, total_count, p->totals[i].thread);
    KEEP(sizes, size_count, p->sizes[i].thread);
    copy->keeper_count = copy->holding_count = copy->equal_count = 0;
    return copy;
}
