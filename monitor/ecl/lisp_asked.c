/* lisp_asked.c - what lisp/heap.lisp asks of the Lisp heap, with a recording or
 * without one.
 *
 * An answer is text: "0" and lines, or "1" and an error.  Names come last in a
 * line, and have no newlines in them.  mprof_lisp_answer_free() frees it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "monitor/base/table.h"
#include "monitor/ecl/lisp_asked.h"
#include "monitor/ecl/lisp_equal.h"
#include "monitor/ecl/lisp_kept.h"
#include "monitor/include/mprof.h"

struct answer {
    size_t room; /* of `text` and this, as it was mapped */
    size_t length;
    char text[];
};

/* It is filled while other threads are stopped. */
struct asking {
    struct mprof__lisp_heap *heap;
    struct answer *answer; /* NULL: no memory */
    void (*say)(struct asking *asking, uintptr_t object);
    uintptr_t object;
};

enum { LONGEST = 512 };

static struct answer *make_answer(void) {
    size_t room = 0;
    struct answer *answer = mprof__grow(NULL, &room, 1);
    if (answer != NULL)
        answer->room = room;
    return answer;
}

static void add(struct asking *a, const char *text) {
    size_t length = strlen(text);
    while (a->answer != NULL &&
           sizeof *a->answer + a->answer->length + length >= a->answer->room) {
        size_t room = a->answer->room;
        struct answer *larger = mprof__grow(a->answer, &room, 1);
        if (larger == NULL)
            mprof__unmap(a->answer, room);
        else
            larger->room = room;
        a->answer = larger;
    }
    if (a->answer == NULL)
        return;
    memcpy(a->answer->text + a->answer->length, text, length);
    a->answer->length += length;
}

/* A line with NUMBERS, COUNT of them, and NAME. */
static void add_line(struct asking *a, const uint64_t *numbers, size_t count,
                     const char *name) {
    char number[24];
    for (size_t i = 0; i < count; i++) {
        snprintf(number, sizeof number, "%llu ",
                 (unsigned long long)numbers[i]);
        add(a, number);
    }
    for (const char *c = name; *c != '\0'; c++)
        add(a, (char[]){*c == '\n' ? ' ' : *c, '\0'});
    add(a, "\n");
}

static void see_heap(struct mprof__lisp_heap *heap, void *data) {
    struct asking *a = data;
    a->heap = heap;
    mprof__lisp_heap_says(heap, "finding their names");
    a->say(a, a->object);
}

/* The answer that SAY gives about the heap, or an error's, after a LOOK. */
static char *ask(unsigned look, void (*say)(struct asking *a, uintptr_t object),
                 uintptr_t object) {
    struct asking a = {.answer = make_answer(), .say = say, .object = object};
    add(&a, "0");
    int error =
        a.answer == NULL
            ? MPROF_E_MEMORY
            : mprof__lisp_heap_look(look | MPROF__AT_PROMPT, see_heap, &a);
    if (a.answer != NULL && error != 0) {
        a.answer->length = 0;
        add(&a, "1");
        add(&a, error == MPROF_E_MEMORY && errno == EFAULT
                    ? "an object of the heap cannot be read"
                    : mprof_strerror(error));
    }
    return a.answer == NULL ? NULL : a.answer->text;
}

void mprof_lisp_answer_free(char *text) {
    struct answer *answer = (void *)(text - offsetof(struct answer, text));
    if (text != NULL)
        mprof__unmap(answer, answer->room);
}

/*
 * The types of all objects
 */

static void add_to_type(struct asking *a, struct mprof__keepers *types,
                        struct mprof__lisp_object *object) {
    uintptr_t owned[MPROF__MOST_OWNED];
    cl_object class_ = mprof__lisp_class(a->heap, object);
    unsigned type = object->type == t_cfunfixed ? t_cfun : object->type;
    uint64_t id = class_ == OBJNULL ? type : (uintptr_t)class_;
    uint32_t keeper = mprof__keepers_find(types, 0, id);
    if (keeper == 0) {
        char buffer[LONGEST];
        struct mprof__text text;
        mprof__text_begin(&text, buffer, sizeof buffer);
        if (object->type == MPROF__CONS)
            mprof__text_add(&text, "cons");
        else
            mprof__lisp_keeper_name(a->heap, object, NULL, MPROF__SOMEHOW,
                                    &text);
        keeper =
            mprof__keepers_add(types, 0, id, MPROF_KEEPER_OBJECT, buffer, 0);
    }
    if (keeper == 0)
        return;
    types->list[keeper].own.allocs++;
    types->list[keeper].own.bytes += object->bytes;
    for (size_t n = mprof__lisp_owned(object, owned); n-- > 0;) {
        uint32_t node = mprof__lisp_node(a->heap, owned[n]);
        if (node == 0)
            continue;
        struct mprof__lisp_object *part =
            &a->heap->objects[node - a->heap->graph.roots - 1];
        if (part->type != MPROF__STORAGE || part->bytes == 0)
            continue;
        types->list[keeper].own.bytes += part->bytes;
        part->bytes = 0; /* not twice */
    }
}

static void answer_census(struct asking *a, uintptr_t unused) {
    struct mprof__keepers types;
    (void)unused;
    mprof__keepers_begin(&types);
    for (int storage = 0; storage < 2 && !types.failed; storage++)
        for (size_t n = 0; n < a->heap->count; n++) {
            struct mprof__lisp_object *o = &a->heap->objects[n];
            if ((o->type == MPROF__STORAGE) == storage && o->bytes > 0)
                add_to_type(a, &types, o);
        }
    for (size_t i = 1; i < types.count; i++) {
        const struct mprof__keeper *type = &types.list[i];
        uint64_t numbers[] = {type->own.bytes, type->own.allocs};
        add_line(a, numbers, 2, mprof__keepers_text(&types, type));
    }
    mprof__keepers_end(&types);
}

char *mprof_lisp_census(void) {
    return ask(MPROF__OBJECTS, answer_census, 0);
}

/*
 * The largest keepers
 */

static void answer_keepers(struct asking *a, uintptr_t unused) {
    struct mprof__keepers keepers;
    (void)unused;
    mprof__keepers_begin(&keepers);
    mprof__lisp_add_keepers(a->heap, &keepers, NULL);
    for (size_t i = 1; i < keepers.count && !keepers.failed; i++) {
        const struct mprof__keeper *keeper = &keepers.list[i];
        uint64_t numbers[] = {i, keeper->outer, keeper->kind, keeper->all.bytes,
                              keeper->all.allocs};
        if (keeper->all.allocs > 0)
            add_line(a, numbers, 5, mprof__keepers_text(&keepers, keeper));
    }
    mprof__keepers_end(&keepers);
}

char *mprof_lisp_keepers(void) {
    return ask(MPROF__GRAPH, answer_keepers, 0);
}

/*
 * Equal contents
 */

static void answer_equal(struct asking *a, uintptr_t unused) {
    struct mprof__lisp_equals equals;
    const struct mprof__lisp_object *storage;
    uint64_t copies = 0, bytes = 0;
    (void)unused;
    mprof__lisp_equals_begin(&equals);
    for (size_t n = 0; n < a->heap->count; n++)
        mprof__lisp_equals_add(&equals, a->heap, &a->heap->objects[n],
                               &storage);
    for (size_t i = 1; i < equals.count; i++) {
        copies += equals.list[i].copies;
        bytes += equals.list[i].bytes;
    }
    add_line(a, (uint64_t[]){equals.bytes, equals.objects, bytes, copies}, 4,
             "");
    for (size_t i = 1; i < equals.count; i++) {
        const struct mprof__lisp_contents *contents = &equals.list[i];
        char buffer[LONGEST];
        struct mprof__text text;
        if (contents->bytes == 0 ||
            contents->bytes < bytes / MPROF__SMALL_KEEPER)
            continue;
        mprof__text_begin(&text, buffer, sizeof buffer);
        mprof__lisp_contents_text(contents->first, &text);
        add_line(a, (uint64_t[]){contents->bytes, contents->copies}, 2, buffer);
    }
    mprof__lisp_equals_end(&equals);
}

char *mprof_lisp_equal(void) {
    return ask(MPROF__OBJECTS, answer_equal, 0);
}

/*
 * The path to one object
 */

/* The last node of a way that has been named, and how often that name came. */
struct way {
    struct asking *a;
    char last[LONGEST];
    uint64_t times;
    uint32_t to; /* the next node, and how it is reached */
    unsigned how;
};

static void see_way(uint32_t node, unsigned how, void *data) {
    struct way *w = data;
    if (node == w->to)
        w->how = how;
}

static void end_name(struct way *w) {
    if (w->times > 0)
        add_line(w->a, &w->times, 1, w->last);
    w->times = 0;
}

static void add_name(struct way *w, const char *name) {
    if (w->times == 0 || strcmp(w->last, name) != 0) {
        end_name(w);
        snprintf(w->last, sizeof w->last, "%s", name);
    }
    w->times++;
}

/* The key of the entry of a hash table whose value is NODE, if TABLE, the
 * storage of all entries, has that. */
static void add_key(struct way *w, const struct mprof__lisp_object *table,
                    uint32_t node, struct mprof__text *text) {
    const uintptr_t *word = (const void *)table->at;
    for (size_t i = 1; i < table->bytes / sizeof *word; i += 2)
        if (mprof__lisp_node(w->a->heap, word[i]) == node) {
            mprof__text_add(text, " of ");
            mprof__text_object(text, (cl_object)word[i - 1]);
            return;
        }
}

/* Name NODE, to which BEFORE leads, and to that OUTER. */
static void name_node(struct way *w, uint32_t node, uint32_t before,
                      uint32_t outer) {
    const struct mprof__lisp_heap *heap = w->a->heap;
    const struct mprof__lisp_object *object = mprof__lisp_object(heap, node),
                                    *from = mprof__lisp_object(heap, before),
                                    *owner = mprof__lisp_object(heap, outer);
    const struct mprof__lisp_root *root = mprof__lisp_root(heap, node);
    char buffer[LONGEST];
    struct mprof__text text;
    mprof__text_begin(&text, buffer, sizeof buffer);
    w->to = node;
    w->how = MPROF__SOMEHOW;
    if (from != NULL)
        mprof__lisp_each_way(heap, from, owner, see_way, w);
    if (object != NULL && mprof__lisp_is_part(object, from))
        return;
    if (root != NULL)
        mprof__lisp_root_name_there(root, &text);
    else if (object == NULL)
        mprof__text_add(&text, "nothing that mprof knows");
    else
        mprof__lisp_keeper_name(heap, object,
                                mprof__lisp_is_part(from, owner) ? owner : from,
                                w->how, &text);
    if (w->how == MPROF__AS_VALUE)
        add_key(w, from, node, &text);
    add_name(w, buffer);
}

static void add_way(struct asking *a, uint32_t node) {
    const struct mprof__graph *g = &a->heap->graph;
    struct way w = {.a = a};
    uint32_t *way = NULL;
    size_t count = 0, room = 0;
    for (; node != 0; node = g->via[node]) {
        uint32_t *list = mprof__with_room(way, count, &room, sizeof *way);
        if (list == NULL)
            break;
        way = list;
        way[count++] = node;
    }
    for (size_t i = count; i-- > 0;)
        name_node(&w, way[i], i + 1 < count ? way[i + 1] : 0,
                  i + 2 < count ? way[i + 2] : 0);
    end_name(&w);
    mprof__unmap(way, room * sizeof *way);
}

/* How many objects NODE keeps, with itself. */
static uint64_t count_kept(const struct mprof__graph *g, uint32_t node) {
    unsigned char *is_kept = mprof__map(g->count);
    uint64_t count = 0;
    for (uint32_t i = 0; i < g->count && is_kept != NULL; i++) {
        uint32_t at = g->order[i];
        is_kept[at] = at == node || (at != 0 && is_kept[g->dominator[at]]);
        count += is_kept[at];
    }
    mprof__unmap(is_kept, g->count);
    return count;
}

struct reached {
    const struct mprof__lisp_heap *heap;
    uint64_t bytes, objects;
};

static bool count_reached(uint32_t node, void *data) {
    struct reached *r = data;
    const struct mprof__lisp_object *o = mprof__lisp_object(r->heap, node);
    r->bytes += o == NULL ? 0 : o->bytes;
    r->objects++;
    return true;
}

/* Roots that lead to the object, without FIRST, the nearest ones before. */
struct others {
    struct asking *a;
    uint32_t first, found;
};

static bool add_other(uint32_t node, void *data) {
    enum { MOST = 32 }; /* some have one name */
    struct others *o = data;
    const struct mprof__lisp_root *root = mprof__lisp_root(o->a->heap, node);
    if (root == NULL || node == o->first)
        return true;
    char buffer[LONGEST];
    struct mprof__text text;
    mprof__text_begin(&text, buffer, sizeof buffer);
    mprof__lisp_root_name_there(root, &text);
    add_line(o->a, (uint64_t[]){0}, 1, buffer);
    return ++o->found < MOST;
}

static void answer_way(struct asking *a, uintptr_t object) {
    const struct mprof__graph *g = &a->heap->graph;
    uint32_t node = mprof__lisp_node(a->heap, object), top = node;
    if (node == 0)
        return;
    uint32_t root = mprof__graph_root_of(g, node);
    while (g->dominator[top] != 0)
        top = g->dominator[top];
    enum { SHARED, ALONE, UNCERTAIN } how = SHARED;
    struct reached free = {a->heap, g->bytes[node], count_kept(g, node)};
    if (root > g->certain && root <= g->roots) {
        how = UNCERTAIN;
        free.bytes = free.objects = 0;
        mprof__graph_search(g, node, count_reached, &free);
    } else if (top == root) {
        how = ALONE;
    }
    uint64_t numbers[] = {free.bytes, free.objects, how};
    add_line(a, numbers, 3, "");
    add_way(a, node);
    if (how != ALONE)
        mprof__graph_search_back(g, node, add_other,
                                 &(struct others){a, root, 0});
}

char *mprof_lisp_way(cl_object object) {
    return ask(MPROF__GRAPH, answer_way, (uintptr_t)object);
}
