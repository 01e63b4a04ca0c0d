/* focus.c - see focus.h.
 *
 * A node's marks say what its chain contains: its caller's marks, and its own
 * function's, with functions that were inlined at its calls.
 */
#include "report/graph/focus.h"

#include <regex.h>
#include <string.h>

#include "report/graph/groups.h"
#include "report/graph/inlining.h"

enum { WANTED = 1, UNWANTED = 2, HIDDEN = 4, OWN = 8 };

struct focusing {
    struct report__pool *pool;
    const struct report__profile *profile;
    const struct report__functions *names;
    unsigned char *marks; /* by function */
    /* By function; NULL: not needed so far. */
    const char **groups, **sources;
    const bool *chosen; /* by type; NULL: all are */
    struct report__lisp_types types;
};

/* The other name of a package, as a program may write it; NULL: it has none. */
static const char *long_name(const char *package) {
    static const char *const names[][2] = {{"CL", "COMMON-LISP"},
                                           {"CL-USER", "COMMON-LISP-USER"},
                                           {"SI", "SYSTEM"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(package, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

static bool is_like(const regex_t *expression, const char *text) {
    return text && regexec(expression, text, 0, NULL, 0) == 0;
}

/* Is one of the names of SHOWN like EXPRESSION?  A function that was inlined
 * has its own name, too. */
static bool is_named(const struct focusing *f, const regex_t *expression,
                     const struct report__shown *shown) {
    const char *name = shown->name;

    return is_like(expression, name) || is_like(expression, shown->full) ||
           (shown->is_inlined &&
            is_like(expression,
                    report__copy(f->pool, name,
                                 strlen(name) - strlen(MPROF_INLINED))));
}

/* Is there C code, and were functions that its compiler inlined not read? */
static bool may_be_inlined(const struct focusing *f) {
    const struct report__profile *p = f->profile;

    for (uint32_t i = 0; i < p->thread_count && !f->names->inlining; i++)
        if (p->threads[i].heap == MPROF_C_HEAP)
            return true;
    return false;
}

/* Give the functions BIT whose names are like EXPRESSION; if there is none, or
 * BY_FILE, those whose packages, files or source files are.  False: *ERROR is a
 * sentence. */
static bool mark(struct focusing *f, const char *expression, bool by_file,
                 unsigned bit, const char **error) {
    const struct report__functions *names = f->names;
    regex_t compiled;
    char text[128];
    int status = regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB);
    bool any = false;

    if (status != 0) {
        regerror(status, &compiled, text, sizeof text);
        *error = report__format(f->pool, "'%s' is not a regular expression: %s",
                                expression, text);
        return false;
    }
    for (uint32_t i = 0; !by_file && i < names->count; i++)
        if (is_named(f, &compiled, &names->list[i])) {
            f->marks[i] |= bit;
            any = true;
        }
    if (!any && !f->groups) {
        f->groups = report__groups_of(f->pool, f->profile, names);
        f->sources = report__source_files(f->pool, f->profile, names);
    }
    for (uint32_t i = 0, by_name = any; !by_name && i < names->count; i++)
        if (is_like(&compiled, f->groups[i]) ||
            is_like(&compiled, long_name(f->groups[i])) ||
            is_like(&compiled, f->sources[i])) {
            f->marks[i] |= bit;
            any = true;
        }
    regfree(&compiled);
    if (!any)
        *error = report__format(
            f->pool, "no %s of the recording is like '%s'%s",
            by_file ? "package or file" : "function, package or file",
            expression,
            by_file || !may_be_inlined(f)
                ? ""
                : "; --inlines names functions that were inlined, too");
    return any;
}

/* Make plumbing of hidden functions, and of others than the own. */
static void hide(const struct focusing *f, struct report__functions *names,
                 bool only) {
    for (uint32_t i = MPROF_TOP_LEVEL + 1; i < names->count; i++)
        names->list[i].plumbing |=
            f->marks[i] & HIDDEN || (only && !(f->marks[i] & OWN));
}

/* Return the marks of functions that were inlined at FRAME. */
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
        mark |= f->marks[report__shown_of(f->names, node->function)];
        if (inlining && node->parent != MPROF_NONE)
            mark |= inlined_marks(
                f, report__frame_at(inlining, p->nodes[node->parent].site));
        marks[i] = (unsigned char)mark;
    }
    return marks;
}

/* Return true if COUNTER has only whole chains.  In C, chains in a spill have
 * their frees elsewhere, and a short chain has other chains' frees. */
static bool is_whole(const struct report__counter *counter,
                     enum mprof_heap heap) {
    return heap == MPROF_LISP_HEAP ||
           (!counter->is_spill &&
            report__lived(counter)->elsewhere.allocs == 0);
}

/* Return true if objects with BIN, in HEAP, are of a chosen type; if that is
 * not known, COUNT is added to the unknown. */
static bool is_chosen(const struct focusing *f, enum mprof_heap heap,
                      uint32_t bin, const struct mprof_count *count,
                      struct report__focused *focused) {
    if (!f->chosen)
        return true;
    if (heap != MPROF_LISP_HEAP)
        return false;
    if (bin == MPROF_NONE)
        report__add_count(&focused->untyped, count);
    return bin != MPROF_NONE && f->chosen[f->types.of_bin[bin]];
}

/* Leave what PART has of what is kept: chosen counters, of which NUMBER has
 * their numbers + 1. */
static void choose_kept(const struct focusing *f, const uint32_t *number,
                        struct report__profile *part) {
    const struct report__profile *p = f->profile;

    part->holding_count = 0;
    part->holdings =
        report__alloc(f->pool, p->holding_count, sizeof *part->holdings);
    for (uint32_t i = 0; i < p->holding_count; i++) {
        struct report__holding holding = p->holdings[i];
        holding.counter = number[holding.counter] - 1;
        if (holding.counter != MPROF_NONE)
            part->holdings[part->holding_count++] = holding;
    }
    part->equal_count = 0;
    part->equals = report__alloc(f->pool, p->equal_count, sizeof *part->equals);
    for (uint32_t i = 0; i < p->equal_count; i++) {
        struct report__equal equal = p->equals[i];
        equal.counter = number[equal.counter] - 1;
        if (equal.counter != MPROF_NONE)
            part->equals[part->equal_count++] = equal;
    }
    part->keepers =
        report__alloc(f->pool, p->keeper_count, sizeof *part->keepers);
    for (uint32_t i = 0; i < p->keeper_count; i++) {
        part->keepers[i] = p->keepers[i];
        if (p->keepers[i].counter != MPROF_NONE)
            part->keepers[i].counter = number[p->keepers[i].counter] - 1;
    }
}

/* NUMBER becomes the number of each chosen counter + 1, by that it had. */
static struct report__counter *choose(const struct focusing *f, bool needed,
                                      struct report__focused *focused,
                                      uint32_t *count, uint32_t *number) {
    const struct report__profile *p = f->profile;
    const unsigned char *marks = mark_chains(f);
    struct report__counter *list =
        report__alloc(f->pool, p->counter_count, sizeof *list);

    for (uint32_t i = 0; i < p->counter_count; i++) {
        const struct report__counter *counter = &p->counters[i];
        const enum mprof_heap heap = counter->heap;
        unsigned mark = marks[counter->node];
        if (!is_chosen(f, heap, counter->bin, &counter->allocated, focused))
            continue;
        if (!is_whole(counter, heap)) {
            report__add_count(&focused->summed[heap], &counter->allocated);
            continue;
        }
        if (f->names->inlining)
            mark |= inlined_marks(
                f, report__frame_at(f->names->inlining, counter->site));
        if (mark & UNWANTED || (needed && !(mark & WANTED)))
            continue;
        report__add_count(&focused->left[heap], &counter->allocated);
        list[(*count)++] = *counter;
        number[i] = *count;
    }
    return list;
}

/* Leave out allocations without any chain; but if all chains are meant, their
 * type decides whether they belong to PART, and their function is known. */
static void choose_totals(const struct focusing *f, bool all_chains,
                          struct report__profile *part,
                          struct report__focused *focused) {
    const struct report__profile *p = f->profile;
    struct report__total *list =
        report__alloc(f->pool, 2 * (size_t)p->total_count, sizeof *list);
    uint32_t count = 0;

    for (uint32_t i = 0; i < p->total_count; i++) {
        struct report__total total = p->totals[i];
        enum mprof_heap heap = p->threads[total.thread].heap;
        const struct mprof_count none = {0, 0};
        bool of_all = total.views & MPROF_ALL_FRAMES;
        if (total.kind != MPROF_SELF ||
            !is_chosen(f, heap, total.bin, of_all ? &total.count : &none,
                       focused))
            continue;
        if (!f->chosen || !all_chains) {
            if (of_all)
                report__add_count(&focused->summed[heap], &total.count);
            continue;
        }
        if (of_all)
            report__add_count(&focused->alone, &total.count);
        list[count++] = total;
        total.kind = MPROF_BELOW;
        total.depth[0] = total.depth[1] = UINT16_MAX;
        list[count++] = total;
    }
    report__add_count(&focused->left[MPROF_LISP_HEAP], &focused->alone);
    part->totals = list;
    part->total_count = count;
}

bool report__focus(struct report__pool *pool,
                   const struct report__profile *profile,
                   struct report__functions *names,
                   const struct report__focus *focus,
                   struct report__focused *focused, const char **error) {
    struct focusing f = {.pool = pool, .profile = profile, .names = names};
    struct report__profile *part = report__alloc(pool, 1, sizeof *part);
    bool all_chains =
        !focus->focus && !focus->ignore && !focus->hide && !focus->only;

    *focused = (struct report__focused){.profile = profile};
    if (!report__is_focused(focus))
        return true;
    focused->profile = part;
    f.marks = report__alloc(pool, names->count, 1);
    if (focus->types.count > 0) {
        f.types = report__lisp_types(pool, profile);
        f.chosen = report__choose_types(pool, &f.types, &focus->types, error);
        if (!f.chosen)
            return false;
    }
    if ((focus->focus && !mark(&f, focus->focus, false, WANTED, error)) ||
        (focus->ignore && !mark(&f, focus->ignore, false, UNWANTED, error)) ||
        (focus->hide && !mark(&f, focus->hide, false, HIDDEN, error)) ||
        (focus->only && !mark(&f, focus->only, true, OWN, error)))
        return false;
    hide(&f, names, focus->only);
    *part = *profile;
    part->counter_count = 0;
    uint32_t *number =
        report__alloc(pool, profile->counter_count, sizeof *number);
    part->counters =
        choose(&f, focus->focus, focused, &part->counter_count, number);
    choose_kept(&f, number, part);
    choose_totals(&f, all_chains, part, focused);
    report__bin_part(pool, part);
    return true;
}
