/* join.c - see join.h. */
#include "report/graph/join.h"

#include <inttypes.h>
#include <string.h>

#include "report/base/dictionary.h"
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

/* The COUNT items A, and behind them MORE items B. */
static void *append(struct joining *j, const void *a, uint32_t count,
                    const void *b, uint32_t more, size_t size) {
    char *both = report__alloc(j->pool, (size_t)count + more, size);

    if (count > 0)
        memcpy(both, a, count * size);
    if (more > 0)
        memcpy(both + count * size, b, more * size);
    return both;
}

#define APPEND(array, count)                                                   \
    (j->profile->array =                                                       \
         append(j, a->array, a->count, b->array, b->count, sizeof *a->array),  \
     j->profile->count = a->count + b->count)

static void shift(uint32_t *index, uint32_t by) {
    if (*index < MPROF_TOP_FUNCTION)
        *index += by;
}

static bool fits(uint32_t a, uint32_t b) {
    return a < MPROF_TOP_FUNCTION - b;
}

/* Whether indices of both together are none of what stands for nothing. */
static bool all_fit(const struct report__profile *a,
                    const struct report__profile *b) {
    return fits(a->module_count, b->module_count) &&
           fits(a->function_count, b->function_count) &&
           fits(a->thread_count, b->thread_count) &&
           fits(a->node_count, b->node_count) &&
           fits(a->site_count, b->site_count) &&
           fits(a->edge_count, b->edge_count) &&
           fits(a->counter_count, b->counter_count) &&
           fits(a->total_count, b->total_count) &&
           fits(a->bin_count, b->bin_count) &&
           fits(a->size_count, b->size_count);
}

static void shift_threads(struct report__profile *p,
                          const struct report__profile *a) {
    for (uint32_t i = a->node_count; i < p->node_count; i++)
        shift(&p->nodes[i].thread, a->thread_count);
    for (uint32_t i = a->total_count; i < p->total_count; i++)
        shift(&p->totals[i].thread, a->thread_count);
    for (uint32_t i = a->bin_count; i < p->bin_count; i++)
        shift(&p->bins[i].thread, a->thread_count);
    for (uint32_t i = a->size_count; i < p->size_count; i++)
        shift(&p->sizes[i].thread, a->thread_count);
}

/* What comes of B, behind what A has, leads to others of B. */
static void shift_records(struct report__profile *p,
                          const struct report__profile *a) {
    shift_threads(p, a);
    for (uint32_t i = a->module_count; i < p->module_count; i++)
        shift(&p->modules[i].file, a->module_count);
    for (uint32_t i = a->function_count; i < p->function_count; i++)
        shift(&p->functions[i].module, a->module_count);
    for (uint32_t i = a->node_count; i < p->node_count; i++) {
        shift(&p->nodes[i].parent, a->node_count);
        shift(&p->nodes[i].function, a->function_count);
    }
    for (uint32_t i = a->edge_count; i < p->edge_count; i++) {
        shift(&p->edges[i].node, a->node_count);
        shift(&p->edges[i].site, a->site_count);
    }
    for (uint32_t i = a->site_count; i < p->site_count; i++) {
        shift(&p->sites[i].function, a->function_count);
        shift(&p->sites[i].module, a->module_count);
    }
    for (uint32_t i = a->counter_count; i < p->counter_count; i++) {
        shift(&p->counters[i].node, a->node_count);
        shift(&p->counters[i].edge, a->edge_count);
        shift(&p->counters[i].bin, a->bin_count);
    }
    for (uint32_t i = a->total_count; i < p->total_count; i++) {
        shift(&p->totals[i].caller, a->function_count);
        shift(&p->totals[i].function, a->function_count);
        shift(&p->totals[i].bin, a->bin_count);
    }
}

static void join_records(struct joining *j) {
    const struct report__profile *a = j->sides[MPROF_OLD];
    const struct report__profile *b = j->sides[MPROF_NEW];

    *j->profile = *b;
    APPEND(modules, module_count);
    APPEND(functions, function_count);
    APPEND(threads, thread_count);
    APPEND(nodes, node_count);
    APPEND(bins, bin_count);
    APPEND(sites, site_count);
    APPEND(edges, edge_count);
    APPEND(counters, counter_count);
    APPEND(totals, total_count);
    APPEND(sizes, size_count);
    shift_records(j->profile, a);
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

/* What FUNCTION of C, in MODULE or MPROF_NONE, is known by; and its *NAME. */
static const char *c_key(struct joining *j,
                         const struct report__shown *function, uint32_t module,
                         const char **name) {
    *name = function->name;
    if (module == MPROF_NONE)
        return report__format(j->pool, "?%s", *name);
    const char *path = j->profile->modules[module].path;
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
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

/* Those of SIDE get their numbers. */
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

/* By place of SIDE, that of OUT. */
static uint32_t *join_places(struct joining *j, struct report__inlining *out,
                             enum report__joined_side side) {
    const struct report__places *own = &j->names[side]->inlining->places;
    const uint32_t count = own->pairs.count > 0 ? own->pairs.count : 1;
    uint32_t *numbers = report__alloc(j->pool, count, sizeof *numbers);

    for (uint32_t i = 1; i < own->pairs.count; i++) {
        const struct report__place place = {
            own->files[report__place_at(own, i).a - 1],
            report__place_at(own, i).b};
        numbers[i] = report__place_number(j->pool, &out->places, &place);
    }
    return numbers;
}

static void renumber(uint32_t *places, uint32_t from, uint32_t to,
                     const uint32_t *numbers) {
    for (uint32_t i = from; i < to; i++)
        places[i] = numbers[places[i]];
}

/* SIDE has frames, edges and nodes from these numbers on. */
static void join_frames(struct joining *j, struct report__inlining *out,
                        enum report__joined_side side, uint32_t frame,
                        uint32_t edge, uint32_t node) {
    const struct report__profile *p = j->sides[side];
    const struct report__inlining *own = j->names[side]->inlining;
    const uint32_t *numbers = join_places(j, out, side);

    for (uint32_t i = 0; i < own->count; i++) {
        struct report__inlined_frame *f = &out->frames[frame + i];
        shift(&f->outer, frame);
        f->function = j->function[side][f->function];
        f->call = numbers[f->call];
    }
    for (uint32_t i = 0; i < p->edge_count; i++)
        shift(&out->of_edge[edge + i], frame);
    for (uint32_t i = 0; i < p->node_count; i++)
        shift(&out->of_caller[node + i], frame);
    renumber(out->edge_place, edge, edge + p->edge_count, numbers);
    renumber(out->caller_place, node, node + p->node_count, numbers);
}

static void join_inlining(struct joining *j) {
    const struct report__profile *a = j->sides[MPROF_OLD];
    const struct report__profile *b = j->sides[MPROF_NEW];
    const struct report__inlining *x = j->names[MPROF_OLD]->inlining;
    const struct report__inlining *y = j->names[MPROF_NEW]->inlining;

    if (x == NULL || y == NULL)
        return;
    struct report__inlining *out = report__alloc(j->pool, 1, sizeof *out);
    out->count = x->count + y->count;
    out->frames =
        append(j, x->frames, x->count, y->frames, y->count, sizeof *x->frames);
    out->of_edge = append(j, x->of_edge, a->edge_count, y->of_edge,
                          b->edge_count, sizeof(uint32_t));
    out->of_caller = append(j, x->of_caller, a->node_count, y->of_caller,
                            b->node_count, sizeof(uint32_t));
    out->edge_place = append(j, x->edge_place, a->edge_count, y->edge_place,
                             b->edge_count, sizeof(uint32_t));
    out->caller_place =
        append(j, x->caller_place, a->node_count, y->caller_place,
               b->node_count, sizeof(uint32_t));
    join_frames(j, out, MPROF_OLD, 0, 0, 0);
    join_frames(j, out, MPROF_NEW, x->count, a->edge_count, a->node_count);
    j->out->inlining = out;
}

bool report__join(struct report__pool *pool,
                  const struct report__profile *const sides[MPROF_SIDES],
                  struct report__functions *const names[MPROF_SIDES],
                  struct report__joined *joined, const char **error) {
    struct joining j = {.pool = pool, .sides = sides, .names = names};

    if (!all_fit(sides[MPROF_OLD], sides[MPROF_NEW])) {
        *error = "together the data files are too large to compare";
        return false;
    }
    j.first_module[MPROF_NEW] = sides[MPROF_OLD]->module_count;
    j.profile = report__alloc(pool, 1, sizeof *j.profile);
    j.out = report__alloc(pool, 1, sizeof *j.out);
    join_records(&j);
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

/* Of the COUNT items FROM those that are SIDE's. */
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
    return copy;
}
