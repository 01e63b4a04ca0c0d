/* focus.c - see focus.h.
 *
 * What a chain has in it its node tells: what its caller's node does, and its
 * own function, with those that were inlined at its calls.
 */
#include "report/graph/focus.h"

#include <regex.h>

#include "report/graph/groups.h"
#include "report/graph/inlining.h"

enum { WANTED = 1, UNWANTED = 2 };

struct focusing {
    struct report__pool *pool;
    const struct report__profile *profile;
    const struct report__functions *names;
    unsigned char *marks; /* by function: WANTED, UNWANTED */
};

/* Whether TEXTS[I], or the name of function I, is like EXPRESSION, for all I:
 * TAKE is told.  False: *ERROR is a sentence. */
static bool match(struct report__pool *pool,
                  const struct report__functions *names, const char **texts,
                  const char *expression,
                  void (*take)(void *data, uint32_t function, bool is_like),
                  void *data, const char **error) {
    regex_t compiled;
    char text[128];
    int status = regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB);

    if (status != 0) {
        regerror(status, &compiled, text, sizeof text);
        *error = report__format(pool, "'%s' is not a regular expression: %s",
                                expression, text);
        return false;
    }
    for (uint32_t i = 0; i < names->count; i++) {
        const char *name = texts ? texts[i] : names->list[i].name;
        take(data, i, regexec(&compiled, name, 0, NULL, 0) == 0);
    }
    regfree(&compiled);
    return true;
}

static void take_wanted(void *data, uint32_t function, bool is_like) {
    struct focusing *f = data;
    f->marks[function] |= is_like ? WANTED : 0;
}

static void take_unwanted(void *data, uint32_t function, bool is_like) {
    struct focusing *f = data;
    f->marks[function] |= is_like ? UNWANTED : 0;
}

/* As plumbing, but that of the program stays what it is. */
static void take_own(void *data, uint32_t function, bool is_like) {
    struct report__functions *names = data;
    if (!is_like && function != MPROF_TOP_LEVEL)
        names->list[function].plumbing = true;
}

/* Of the functions that were inlined at FRAME. */
static unsigned inlined_marks(const struct focusing *f, uint32_t frame) {
    unsigned marks = 0;

    while (frame != MPROF_NONE) {
        marks |= f->marks[f->names->inlining->frames[frame].function];
        frame = f->names->inlining->frames[frame].outer;
    }
    return marks;
}

/* By node. */
static unsigned char *mark_chains(const struct focusing *f) {
    const struct report__profile *p = f->profile;
    const struct report__inlining *inlining = f->names->inlining;
    unsigned char *marks = report__alloc(f->pool, p->node_count, 1);

    for (uint32_t i = 0; i < p->node_count; i++) {
        const struct report__node *node = &p->nodes[i];
        unsigned mark = node->parent == MPROF_NONE ? 0 : marks[node->parent];
        mark |= f->marks[node->function == MPROF_NONE
                             ? MPROF_TOP_LEVEL
                             : f->names->shown[node->function]];
        if (inlining)
            mark |= inlined_marks(f, inlining->of_caller[i]);
        marks[i] = (unsigned char)mark;
    }
    return marks;
}

static void add(struct mprof_count *sum, const struct mprof_count *count) {
    sum->allocs += count->allocs;
    sum->bytes += count->bytes;
}

/* Whether COUNTER has whole chains alone.  Of C those in a spill have their
 * frees elsewhere, and a short chain has what others have freed. */
static bool is_whole(const struct report__counter *counter,
                     enum mprof_heap heap) {
    return heap == MPROF_LISP_HEAP ||
           (!counter->is_spill && counter->elsewhere.allocs == 0);
}

static struct report__counter *choose(const struct focusing *f, bool needed,
                                      struct report__focused *focused,
                                      uint32_t *count) {
    const struct report__profile *p = f->profile;
    const unsigned char *marks = mark_chains(f);
    struct report__counter *list =
        report__alloc(f->pool, p->counter_count, sizeof *list);

    for (uint32_t i = 0; i < p->counter_count; i++) {
        const struct report__counter *counter = &p->counters[i];
        enum mprof_heap heap = p->threads[p->nodes[counter->node].thread].heap;
        unsigned mark = marks[counter->node];
        if (!is_whole(counter, heap)) {
            add(&focused->summed[heap], &counter->allocated);
            continue;
        }
        if (f->names->inlining && counter->edge != MPROF_NONE)
            mark |=
                inlined_marks(f, f->names->inlining->of_edge[counter->edge]);
        if (mark & UNWANTED || (needed && !(mark & WANTED)))
            continue;
        add(&focused->left[heap], &counter->allocated);
        list[(*count)++] = *counter;
    }
    return list;
}

/* What has no chain at all. */
static void add_summed(const struct report__profile *p,
                       struct report__focused *focused) {
    for (uint32_t i = 0; i < p->total_count; i++)
        if (p->totals[i].kind == MPROF_SELF &&
            p->totals[i].views & MPROF_ALL_FRAMES)
            add(&focused->summed[p->threads[p->totals[i].thread].heap],
                &p->totals[i].count);
}

bool report__focus(struct report__pool *pool,
                   const struct report__profile *profile,
                   struct report__functions *names,
                   const struct report__focus *focus,
                   struct report__focused *focused, const char **error) {
    struct focusing f = {.pool = pool, .profile = profile, .names = names};
    struct report__profile *part = report__alloc(pool, 1, sizeof *part);

    *focused = (struct report__focused){.profile = part};
    f.marks = report__alloc(pool, names->count, 1);
    if ((focus->focus &&
         !match(pool, names, NULL, focus->focus, take_wanted, &f, error)) ||
        (focus->ignore &&
         !match(pool, names, NULL, focus->ignore, take_unwanted, &f, error)) ||
        (focus->only &&
         !match(pool, names, report__groups_of(pool, profile, names),
                focus->only, take_own, names, error)))
        return false;
    *part = *profile;
    part->counter_count = 0;
    part->counters = choose(&f, focus->focus, focused, &part->counter_count);
    part->totals = NULL;
    part->total_count = 0;
    add_summed(profile, focused);
    return true;
}
