/* graph.h - a graph of objects: dominators, and shortest paths from the roots.
 *
 *     node 0       has an edge to each root
 *     1 ...        roots: first those that are certain, then those that are
 *                  words which may point to an object by chance
 *     then         objects
 *     the last     has edges to objects that no root leads to
 *
 * A node dominates another one if all paths from node 0 lead through it.  The
 * nearest of its dominators is the parent of a node in the dominator tree, and
 * the sizes below a node would be free without it.  Nodes that are reachable
 * from certain roots are dominated by those alone, whatever else points to it.
 *
 * All memory is mapped; nothing here takes a lock.
 */
#ifndef MONITOR_GRAPH_GRAPH_H
#define MONITOR_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mprof__graph {
    uint32_t count;   /* of nodes */
    uint32_t certain; /* roots that are certain */
    uint32_t roots;   /* all roots */
    uint32_t *first;  /* the edges of node i are to[first[i]] to
                       * to[first[i + 1] - 1]; an edge to node 0 counts not */
    uint32_t *to;
    size_t edges, room;
    uint32_t added;  /* the node that edges are added to */
    bool failed;     /* there was no memory */
    uint64_t *bytes; /* a node's own; once analysed, with what it dominates */
    /* Once analysed: */
    uint32_t *dominator; /* the nearest one, by node */
    uint32_t *via;       /* the node before it on a shortest way from node 0 */
    uint32_t *order;     /* all nodes, each behind its dominator */
};

/* A graph with so many roots, of which the first ones are CERTAIN, and OBJECTS.
 * False: there is no memory for it.  mprof__graph_end() gives it back. */
bool mprof__graph_begin(struct mprof__graph *graph, uint32_t certain,
                        uint32_t roots, uint32_t objects);
void mprof__graph_end(struct mprof__graph *graph);

/* Add an edge to TO from the node whose turn it is: first the first root, then
 * the next one, as far as the last object. */
bool mprof__graph_make_room(struct mprof__graph *graph);
static inline void mprof__graph_add(struct mprof__graph *graph, uint32_t to) {
    if (__builtin_expect(graph->edges < graph->room, 1) ||
        mprof__graph_make_room(graph))
        graph->to[graph->edges++] = to;
}

static inline void mprof__graph_next(struct mprof__graph *graph) {
    graph->first[++graph->added] = (uint32_t)graph->edges;
}

/* Find shortest ways, once all edges are there, and DOMINATORS and sizes if
 * those are wanted; without, nodes are in order behind those before them on the
 * way.  False: there was no memory for it, or for the edges. */
bool mprof__graph_analyse(struct mprof__graph *graph, bool dominators);

/* The node of the first object, and the one before objects without a root. */
static inline uint32_t
mprof__graph_first_object(const struct mprof__graph *graph) {
    return graph->roots + 1;
}

static inline uint32_t mprof__graph_unknown(const struct mprof__graph *graph) {
    return graph->count - 1;
}

/* The first node behind node 0 on the way to NODE. */
static inline uint32_t mprof__graph_root_of(const struct mprof__graph *graph,
                                            uint32_t node) {
    while (graph->via[node] != 0)
        node = graph->via[node];
    return node;
}

/* Call VISIT for NODE and all that it leads to, or that lead to it, but node 0,
 * breadth first, until it returns false.  Without memory it is not called. */
void mprof__graph_search(const struct mprof__graph *graph, uint32_t node,
                         bool (*visit)(uint32_t node, void *data), void *data);
void mprof__graph_search_back(const struct mprof__graph *graph, uint32_t node,
                              bool (*visit)(uint32_t node, void *data),
                              void *data);

/* Turn the edges around.  NUMBER has for each node its number + 1.  Those that
 * lead to number i come from numbers from[before[i]] to from[before[i + 1] -
 * 1]. BEFORE is zeroed, with room for two more than there are nodes. */
void mprof__graph_turn(const struct mprof__graph *graph, const uint32_t *number,
                       uint32_t *before, uint32_t *from);

/* The parts of the analysis; false: no memory.  mprof__graph_find_ways() adds
 * the edges of the last node. */
bool mprof__graph_find_ways(struct mprof__graph *graph);
bool mprof__graph_find_dominators(struct mprof__graph *graph);

#endif
