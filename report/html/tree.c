/* tree.c - see tree.h. */
#include "report/html/tree.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/search.h"
#include "report/tables/tables.h"

/* A chain; when they are sorted, chains with one caller are adjacent. */
struct link {
    uint32_t parent; /* a link plus 1, or 0 */
    uint32_t function;
    uint64_t bytes; /* with all that it called */
    uint64_t kept;  /* the same; of Lisp, what is alive, there may be more */
    uint32_t self;  /* itself, a link plus 1 */
};

struct maker {
    const struct report__export *e;
    const struct report__lisp_types *types;
    struct report__html_tree *tree;
    struct report__chains *chains;
    struct report__html_sample *samples; /* of chains, then of nodes */
    size_t capacity, line_capacity;
    struct link *links; /* callers first */
    uint32_t link_count;
    uint32_t *rest;  /* by link plus 1: the link plus 1 of its rest, or 0 */
    uint32_t *place; /* by link plus 1: the number of its node */
};

static void take_lines(struct maker *m, const struct report__sample *sample) {
    struct report__html_tree *t = m->tree;

    for (uint32_t i = 0; i < sample->depth; i++) {
        const struct report__frame *f = &sample->frames[i];
        if (f->place == 0)
            continue;
        const uint32_t n =
            report__pair_number(m->e->pool, &t->places, f->function, f->place);
        t->lines = report__grow(m->e->pool, t->lines, n, &m->line_capacity,
                                sizeof *t->lines);
        if (t->lines[n].sample == t->sample_count)
            continue;
        t->lines[n].sample = t->sample_count;
        for (int k = 0; k < MPROF_NUMBERS; k++)
            t->lines[n].numbers[k] += sample->numbers[k];
    }
}

static void take_sample(void *data, const struct report__sample *sample) {
    struct maker *m = data;
    uint32_t n = m->tree->sample_count++;

    m->samples = report__grow(m->e->pool, m->samples, n, &m->capacity,
                              sizeof *m->samples);
    m->samples[n].node = report__chain_of(m->chains, sample);
    m->samples[n].class_ = sample->class_;
    m->samples[n].thread =
        m->e->difference
            ? report__side_of(m->e->difference->joined, sample->thread)
            : sample->thread;
    m->samples[n].type =
        sample->bin == MPROF_NONE ? MPROF_NONE : m->types->of_bin[sample->bin];
    memcpy(m->samples[n].numbers, sample->numbers, sizeof sample->numbers);
    if (!m->e->difference)
        take_lines(m, sample);
}

/* A link for each chain. */
static void make_links(struct maker *m) {
    const struct report__chains *c = m->chains;
    const uint32_t count = c->list.count;

    m->link_count = count;
    m->links =
        report__alloc(m->e->pool, 2 * (size_t)count + 2, sizeof *m->links);
    for (uint32_t i = 0; i < count; i++)
        m->links[i] =
            (struct link){.parent = c->list.list[i].a,
                          .function = c->frames.list[c->list.list[i].b].a,
                          .self = i + 1};
    for (uint32_t i = 0; i < m->tree->sample_count; i++) {
        const struct report__html_sample *sample = &m->samples[i];
        struct link *link = &m->links[sample->node];
        link->bytes += sample->numbers[MPROF_NUMBER_BYTES];
        link->kept += sample->numbers[MPROF_NUMBER_KEPT_BYTES];
    }
    for (uint32_t i = count; i-- > 0;)
        if (m->links[i].parent > 0) {
            struct link *caller = &m->links[m->links[i].parent - 1];
            caller->bytes += m->links[i].bytes;
            caller->kept += m->links[i].kept;
        }
}

/* The links with the least weight are left out; a caller has no less. */
static uint64_t weight(const struct link *link) {
    return link->bytes > link->kept ? link->bytes : link->kept;
}

/* The least that a link must have, so that there are no more than MOST. */
static uint64_t least_bytes(const struct maker *m, uint32_t most) {
    struct report__cut cut;

    if (m->link_count <= most)
        return 0;
    /* One is more than MOST for sure, as it has nothing. */
    uint64_t *bytes =
        report__alloc(m->e->pool, (size_t)m->link_count + 1, sizeof *bytes);
    for (uint32_t i = 0; i < m->link_count; i++)
        bytes[i] = weight(&m->links[i]);
    report__cut(&cut, bytes, m->link_count + 1, most + 1);
    return cut.least + 1;
}

/* The link, plus 1, of what is left out below PARENT. */
static uint32_t rest_of(struct maker *m, uint32_t parent) {
    if (m->rest[parent] == 0) {
        m->links[m->link_count] =
            (struct link){.parent = parent,
                          .function = report__all_functions(m->e->names),
                          .self = m->link_count + 1};
        m->rest[parent] = ++m->link_count;
    }
    return m->rest[parent];
}

/* Leave out links.  A caller has no less than its callees: so whole branches
 * are left out, and each becomes a part of one link at its place. */
static void leave_out(struct maker *m, uint32_t most) {
    const uint64_t least = least_bytes(m, most);
    const uint32_t count = m->link_count;
    uint32_t *to = report__alloc(m->e->pool, (size_t)count + 1, sizeof *to);

    m->rest = report__alloc(m->e->pool, (size_t)count + 1, sizeof *m->rest);
    for (uint32_t i = 0; i < count; i++) {
        struct link *link = &m->links[i];
        bool is_first = to[link->parent] == link->parent;
        to[i + 1] = i + 1;
        if (weight(link) >= least)
            continue;
        to[i + 1] = is_first ? rest_of(m, link->parent) : to[link->parent];
        if (is_first)
            m->links[to[i + 1] - 1].bytes += link->bytes;
        m->tree->left_out_bytes += is_first ? link->bytes : 0;
        m->tree->left_out++;
        link->self = 0;
    }
    for (uint32_t i = 0; i < m->tree->sample_count; i++)
        m->samples[i].node = to[m->samples[i].node + 1];
    report__drop(m->e->pool, to);
}

static int compare_links(const void *a, const void *b) {
    const struct link *x = a, *y = b;
    return report__up(x->parent, y->parent)
               ?: report__up(x->function, y->function);
}

/* Sort links and bring the nodes into their order. */
static void make_nodes(struct maker *m) {
    struct report__pool *pool = m->e->pool;
    const uint32_t all = m->link_count;
    uint32_t count = 0, at = 0, depth = 0;

    for (uint32_t i = 0; i < all; i++)
        if (m->links[i].self > 0)
            m->links[count++] = m->links[i];
    qsort(m->links, count, sizeof *m->links, compare_links);
    /* Where the children of each begin, and which are still to come. */
    uint32_t *next = report__alloc(pool, (size_t)all + 2, sizeof *next);
    for (uint32_t i = count; i-- > 0;)
        next[m->links[i].parent] = i + 1;
    uint32_t *path = report__alloc(pool, (size_t)count + 1, sizeof *path);
    m->place = report__alloc(pool, (size_t)all + 1, sizeof *m->place);
    m->tree->nodes =
        report__alloc(pool, (size_t)count + 1, sizeof *m->tree->nodes);
    for (uint32_t up = 0; at < count;) {
        uint32_t parent = path[depth], link = next[parent];
        if (link == 0) {
            depth--;
            up++;
            continue;
        }
        next[parent] =
            link < count && m->links[link].parent == parent ? link + 1 : 0;
        m->tree->nodes[at] =
            (struct report__html_node){m->links[link - 1].function, up};
        up = 0;
        path[++depth] = m->links[link - 1].self;
        m->place[path[depth]] = ++at;
    }
    m->tree->node_count = count;
    report__drop(pool, next);
    report__drop(pool, path);
}

static int compare_samples(const void *a, const void *b) {
    const struct report__html_sample *x = a, *y = b;
    return report__up(x->node, y->node)
               ?: report__up(x->thread, y->thread)
               ?: report__up(x->class_, y->class_)
               ?: report__up(x->type, y->type);
}

/* One for each node, thread, class and type. */
static void join_samples(struct maker *m) {
    uint32_t count = 0;

    for (uint32_t i = 0; i < m->tree->sample_count; i++)
        m->samples[i].node = m->place[m->samples[i].node];
    qsort(m->samples, m->tree->sample_count, sizeof *m->samples,
          compare_samples);
    for (uint32_t i = 0; i < m->tree->sample_count; i++) {
        if (count == 0 ||
            compare_samples(&m->samples[count - 1], &m->samples[i]) != 0)
            m->samples[count++] = m->samples[i];
        else
            for (int k = 0; k < MPROF_NUMBERS; k++)
                m->samples[count - 1].numbers[k] += m->samples[i].numbers[k];
    }
    m->tree->sample_count = count;
    m->tree->samples = m->samples;
}

struct report__html_tree *
report__make_html_tree(const struct report__export *e,
                       const struct report__lisp_types *types, uint32_t most) {
    struct maker m = {.e = e,
                      .types = types,
                      .tree = report__alloc(e->pool, 1, sizeof *m.tree),
                      .chains = report__no_chains(e, false)};

    report__each_sample(e->samples, take_sample, &m);
    if (m.tree->sample_count == 0)
        return m.tree;
    make_links(&m);
    leave_out(&m, most);
    make_nodes(&m);
    join_samples(&m);
    return m.tree;
}
