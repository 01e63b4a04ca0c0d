/* scc.c - strongly connected components (R. Tarjan, 1972), without recursion.
 *
 * A vertex is visited when it has a number.  Visited vertices whose component
 * is not known yet are on `stack`, in the order of their numbers; low[v] is the
 * least number among those that v is known to reach.  When v is done and
 * low[v] == number[v], v and all above it on the stack are a component.
 */
#include "report/base/scc.h"

struct search {
    const uint32_t *first, *targets;
    uint32_t *component;
    uint32_t *number, *low; /* from 1; 0: not visited */
    uint32_t *next;         /* the arc of each vertex to look at next */
    uint32_t *stack, *path;
    uint32_t visited, on_stack, on_path, components;
};

static void enter(struct search *s, uint32_t v) {
    s->number[v] = s->low[v] = ++s->visited;
    s->next[v] = s->first[v];
    s->stack[s->on_stack++] = v;
    s->path[s->on_path++] = v;
}

static void leave(struct search *s, uint32_t v) {
    s->on_path--;
    if (s->on_path > 0) {
        uint32_t caller = s->path[s->on_path - 1];
        if (s->low[v] < s->low[caller])
            s->low[caller] = s->low[v];
    }
    if (s->low[v] != s->number[v])
        return;
    uint32_t member;
    do {
        member = s->stack[--s->on_stack];
        s->component[member] = s->components;
    } while (member != v);
    s->components++;
}

static void search_from(struct search *s, uint32_t root) {
    enter(s, root);
    while (s->on_path > 0) {
        uint32_t v = s->path[s->on_path - 1];
        if (s->next[v] == s->first[v + 1]) {
            leave(s, v);
            continue;
        }
        uint32_t w = s->targets[s->next[v]++];
        if (s->number[w] == 0)
            enter(s, w);
        else if (s->component[w] == MPROF_NONE && s->number[w] < s->low[v])
            s->low[v] = s->number[w];
    }
}

uint32_t report__components(struct report__pool *pool, uint32_t vertices,
                            const uint32_t *first, const uint32_t *targets,
                            uint32_t *component) {
    struct search s = {
        .first = first, .targets = targets, .component = component};

    s.number = report__alloc(pool, vertices, sizeof(uint32_t));
    s.low = report__alloc(pool, vertices, sizeof(uint32_t));
    s.next = report__alloc(pool, vertices, sizeof(uint32_t));
    s.stack = report__alloc(pool, vertices, sizeof(uint32_t));
    s.path = report__alloc(pool, vertices, sizeof(uint32_t));
    for (uint32_t v = 0; v < vertices; v++)
        component[v] = MPROF_NONE;
    for (uint32_t v = 0; v < vertices; v++)
        if (s.number[v] == 0)
            search_from(&s, v);
    return s.components;
}
