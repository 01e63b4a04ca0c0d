/* lisp_kept.c - see lisp_kept.h. */
#include "monitor/ecl/lisp_kept.h"

#include <string.h>

#include "monitor/base/table.h"
#include "monitor/ecl/ecl_thread.h"
#include "monitor/ecl/lisp_equal.h"
#include "monitor/heap/alive.h"
#include "monitor/heap/equals.h"
#include "monitor/include/mprof.h"

enum { LONGEST = 512 };

struct naming {
    const struct mprof__lisp_heap *heap;
    struct mprof__keepers *keepers;
    uint32_t *keeper; /* by node */
    uint16_t *how;    /* its keeper leads to it */
    uint32_t from;    /* the node that is looked at */
};

static uint64_t id_of(uint64_t kind, uint64_t what, uint64_t how) {
    const uint64_t words[] = {kind, what, how};
    return mprof__hash_text((const char *)words, sizeof words);
}

static enum mprof_keeper_kind kind_of(const struct mprof__graph *g,
                                      uint32_t root) {
    return root > g->roots     ? MPROF_KEEPER_UNKNOWN
           : root > g->certain ? MPROF_KEEPER_UNCERTAIN
                               : MPROF_KEEPER_ROOT;
}

/* A keeper that has no name of Lisp's. */
static uint32_t unnamed_keeper(const struct naming *n, uint64_t number,
                               const char *name) {
    return mprof__keepers_add(n->keepers, 0,
                              id_of(MPROF__ROOT_KINDS, number, 0),
                              MPROF_KEEPER_UNKNOWN, name, 0);
}

static const struct mprof__lisp_object *
pointed_from(const struct mprof__lisp_heap *heap, uintptr_t word) {
    return mprof__lisp_object(heap, mprof__lisp_node(heap, word));
}

/* Is OBJECT, which no root leads to, in a list of free memory?  The collector
 * marks those that threads have for themselves. */
static bool is_free(const struct mprof__lisp_heap *heap,
                    const struct mprof__lisp_object *object) {
    uintptr_t next = *(const uintptr_t *)object->at;
    const struct mprof__lisp_object *o = pointed_from(heap, next);
    return next == 0 ||
           (o != NULL && o->bytes == object->bytes && o->kind == object->kind);
}

/* Is OBJECT what the collector has for a finalizer: struct finalizable_object
 * of finalize.c?  It begins with the object, complemented until that is to be
 * finalized, and the next one; then comes the function. */
static bool is_finalizer(const struct mprof__lisp_heap *heap,
                         const struct mprof__lisp_object *object) {
    enum { OBJECT, NEXT, FUNCTION, WORDS = 6 };
    if (object == NULL || object->type != MPROF__OTHER ||
        object->bytes != WORDS * sizeof(uintptr_t) ||
        !mprof__lisp_points(object))
        return false;
    const uintptr_t *word = (const void *)object->at;
    return word[FUNCTION] != 0 && pointed_from(heap, word[FUNCTION]) == NULL &&
           (pointed_from(heap, word[OBJECT]) != NULL ||
            pointed_from(heap, ~word[OBJECT]) != NULL);
}

/* Is OBJECT, which no root leads to, a finalizer or the table of all? */
static bool has_finalizers(const struct mprof__lisp_heap *heap,
                           const struct mprof__lisp_object *object) {
    const uintptr_t *word = (const void *)object->at;
    size_t found = 0;
    if (is_finalizer(heap, object))
        return true;
    if (object->type != MPROF__OTHER || !mprof__lisp_points(object))
        return false;
    for (size_t i = 0; i < object->bytes / sizeof *word; i++) {
        if (word[i] != 0 && !is_finalizer(heap, pointed_from(heap, word[i])))
            return false;
        found += word[i] != 0;
    }
    return found > 0;
}

/* The keeper of ROOT, a node; SHARED: with others. */
static uint32_t keeper_of_root(const struct naming *n, uint32_t root,
                               bool is_shared) {
    const struct mprof__lisp_root *r = mprof__lisp_root(n->heap, root);
    char buffer[LONGEST];
    struct mprof__text text;
    if (r == NULL)
        return unnamed_keeper(n, 0, "nothing that mprof knows");
    uint64_t id = id_of(r->kind, r->what, is_shared);
    uint32_t keeper = mprof__keepers_find(n->keepers, 0, id);
    if (keeper != 0)
        return keeper;
    mprof__text_begin(&text, buffer, sizeof buffer);
    mprof__lisp_root_name(r, &text);
    if (is_shared)
        mprof__text_add(&text, ", and others");
    return mprof__keepers_add(n->keepers, 0, id,
                              is_shared ? MPROF_KEEPER_SHARED
                                        : kind_of(&n->heap->graph, root),
                              buffer, 0);
}

/* The object that leads to NODE by its slots or entries; NULL: its dominator is
 * no object. */
static const struct mprof__lisp_object *owner_of(const struct naming *n,
                                                 uint32_t node) {
    const uint32_t *dominator = n->heap->graph.dominator;
    const struct mprof__lisp_object *from = mprof__lisp_object(n->heap,
                                                               dominator[node]),
                                    *outer = mprof__lisp_object(
                                        n->heap, dominator[dominator[node]]);
    return mprof__lisp_is_part(from, outer) ? outer : from;
}

static uint32_t outer_keeper(const struct naming *n, uint32_t node,
                             const struct mprof__lisp_object *object) {
    const struct mprof__graph *g = &n->heap->graph;
    uint32_t dominator = g->dominator[node];
    if (dominator == 0)
        return keeper_of_root(n, mprof__graph_root_of(g, node), true);
    if (dominator == mprof__graph_unknown(g) && has_finalizers(n->heap, object))
        return unnamed_keeper(n, 2, "the collector: its finalizers");
    if (dominator == mprof__graph_unknown(g) && is_free(n->heap, object))
        return unnamed_keeper(n, 1, "the collector: free memory of threads");
    return n->keeper[dominator];
}

static uint32_t keeper_of_object(const struct naming *n, uint32_t node,
                                 const struct mprof__lisp_object *object) {
    const struct mprof__lisp_object *from = mprof__lisp_object(
                                        n->heap,
                                        n->heap->graph.dominator[node]),
                                    *owner = owner_of(n, node);
    uint32_t outer = outer_keeper(n, node, object);
    bool is_list = from != NULL && from->type == MPROF__CONS &&
                   object->type == MPROF__CONS;
    if (is_list || mprof__lisp_is_part(object, from))
        return outer;
    unsigned how = n->how[node];
    cl_object class_ = mprof__lisp_class(n->heap, object),
              owner_class = how < MPROF__SLOTS || owner == NULL
                                ? OBJNULL
                                : mprof__lisp_class(n->heap, owner);
    uint64_t id = id_of(object->type, (uintptr_t)class_,
                        (uintptr_t)owner_class << 16 ^ how);
    uint32_t keeper = mprof__keepers_find(n->keepers, outer, id);
    if (keeper != 0)
        return keeper;
    char buffer[LONGEST];
    struct mprof__text text;
    mprof__text_begin(&text, buffer, sizeof buffer);
    mprof__lisp_keeper_name(n->heap, object, owner, how, &text);
    return mprof__keepers_add(n->keepers, outer, id, MPROF_KEEPER_OBJECT,
                              buffer, 0);
}

static void note_how(uint32_t node, unsigned how, void *data) {
    const struct naming *n = data;
    if (n->heap->graph.dominator[node] == n->from)
        n->how[node] = (uint16_t)how;
}

/* How what NODE keeps is reached from there, where that has a name. */
static void note_ways(struct naming *n, uint32_t node,
                      const struct mprof__lisp_object *object) {
    const struct mprof__lisp_object *owner =
        mprof__lisp_object(n->heap, n->heap->graph.dominator[node]);
    bool is_table = mprof__lisp_is_part(object, owner) &&
                    (owner->type == t_hashtable || owner->type == t_instance);
    n->from = node;
    if (is_table || object->type == t_bclosure || object->type == t_cclosure)
        mprof__lisp_each_way(n->heap, object, owner, note_how, n);
}

static void count_object(const struct naming *n, uint32_t node,
                         const struct mprof__lisp_object *object,
                         const struct mprof__lisp_recorded *recorded) {
    struct mprof__object what = {.counter = 0};
    if (recorded != NULL)
        recorded->find(object->at, recorded->data, &what);
    mprof__keepers_count(n->keepers, n->keeper[node], what.counter,
                         what.counter != 0 ? what.bytes : object->bytes);
}

void mprof__lisp_add_keepers(const struct mprof__lisp_heap *heap,
                             struct mprof__keepers *keepers,
                             const struct mprof__lisp_recorded *recorded) {
    const struct mprof__graph *g = &heap->graph;
    size_t keeper_bytes = (size_t)g->count * sizeof(uint32_t),
           how_bytes = (size_t)g->count * sizeof(uint16_t);
    struct naming n = {heap, keepers, mprof__map(keeper_bytes),
                       mprof__map(how_bytes), 0};
    keepers->failed |= n.keeper == NULL || n.how == NULL;
    for (uint32_t i = 1; i < g->count && !keepers->failed; i++) {
        uint32_t node = g->order[i];
        const struct mprof__lisp_object *object =
            mprof__lisp_object(heap, node);
        if (object == NULL) {
            n.keeper[node] = keeper_of_root(&n, node, false);
            continue;
        }
        n.keeper[node] = keeper_of_object(&n, node, object);
        note_ways(&n, node, object);
        count_object(&n, node, object, recorded);
    }
    mprof__unmap(n.keeper, keeper_bytes);
    mprof__unmap(n.how, how_bytes);
    mprof__keepers_finish(keepers, MPROF__SMALL_KEEPER,
                          "other words on stacks");
}

struct finding {
    const struct mprof__epochs *epochs; /* of these alone */
    struct mprof__object *what;
};

static bool see_recorded(const struct mprof__object *object,
                         struct mprof__past *past, void *data) {
    const struct finding *f = data;
    if (past->epoch != MPROF__DEAD && past->epoch >= f->epochs->from &&
        past->epoch < f->epochs->until)
        *f->what = *object;
    return true;
}

static void find_recorded(uintptr_t address, const void *data,
                          struct mprof__object *what) {
    struct finding finding = {data, what};
    mprof__collected_one((const void *)address, see_recorded, &finding);
}

static void add_equal(struct mprof__equals *equals,
                      const struct mprof__lisp_object *object,
                      const struct mprof__lisp_recorded *recorded,
                      bool is_equal) {
    struct mprof__object what = {.counter = 0};
    recorded->find(object->at, recorded->data, &what);
    if (what.counter != 0)
        mprof__equals_add(equals, what.counter, what.bytes, is_equal);
}

/* Objects that were not recorded come first, so that those equal to one of
 * these all count. */
static void count_equals(const struct mprof__lisp_heap *heap,
                         const struct mprof__lisp_recorded *recorded,
                         struct mprof__equals *equals) {
    struct mprof__lisp_equals found;
    mprof__lisp_equals_begin(&found);
    for (int is_recorded = 0; is_recorded < 2; is_recorded++)
        for (size_t i = 0; i < heap->count && !equals->failed; i++) {
            const struct mprof__lisp_object *object = &heap->objects[i],
                                            *storage;
            struct mprof__object what = {.counter = 0};
            if (!mprof__lisp_is_comparable(object))
                continue;
            recorded->find(object->at, recorded->data, &what);
            if ((what.counter != 0) != is_recorded)
                continue;
            int how = mprof__lisp_equals_add(&found, heap, object, &storage);
            if (how == 0 || !is_recorded)
                continue;
            mprof__equals_add(equals, what.counter, what.bytes, how == 2);
            if (storage != NULL)
                add_equal(equals, storage, recorded, how == 2);
        }
    equals->failed |= found.failed;
    mprof__lisp_equals_end(&found);
}

struct keeping {
    struct mprof__keepers *keepers;
    struct mprof__equals *equals;
    struct mprof__lisp_recorded recorded;
};

static void see_heap(struct mprof__lisp_heap *heap, void *data) {
    const struct keeping *k = data;
    mprof__lisp_add_keepers(heap, k->keepers, &k->recorded);
    count_equals(heap, &k->recorded, k->equals);
}

int mprof__lisp_keepers(struct mprof__keepers *keepers,
                        struct mprof__equals *equals,
                        const struct mprof__epochs *epochs) {
    static const struct mprof__epochs always = {0, MPROF__DEAD};
    struct keeping keeping = {
        keepers, equals, {find_recorded, epochs == NULL ? &always : epochs}};
    cl_env_ptr env = mprof__ecl_env();
    /* After cl_shutdown() ECL cannot be asked. */
    if (env == NULL || ecl_get_option(ECL_OPT_BOOTED) <= 0)
        return MPROF_E_NOT_BOOTED;
    bool enabled = !env->disable_interrupts;
    if (enabled)
        ecl_disable_interrupts_env(env);
    int error = mprof__lisp_heap_look(MPROF__GRAPH, see_heap, &keeping);
    if (enabled)
        ecl_enable_interrupts_env(env);
    return error;
}
