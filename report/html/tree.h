/* tree.h - the chains of a heap as one tree in preorder, for the page. */
#ifndef REPORT_HTML_TREE_H
#define REPORT_HTML_TREE_H

#include "report/export/chains.h"
#include "report/graph/lisp_types.h"

/* A function, called by the function of a node further up. */
struct report__html_node {
    uint32_t function; /* report__all_functions(): chains that are left out */
    uint32_t up; /* levels from the node before it to where its caller is */
};

/* Allocations at a node in one class, type and thread. */
struct report__html_sample {
    uint32_t node;           /* 0 is where the outermost functions are called */
    uint32_t class_, thread; /* in a difference: the side */
    uint32_t type; /* Lisp: number of the type, or MPROF_NONE: not known */
    uint64_t numbers[MPROF_NUMBERS];
};

/* A line of the source that has a call: the allocations by that call, each of
 * them once. */
struct report__html_line {
    uint64_t numbers[MPROF_NUMBERS];
    uint32_t sample; /* the last one that was added, plus 1 */
};

/* In the pool of the export. */
struct report__html_tree {
    struct report__html_node *nodes; /* from number 1 on */
    struct report__html_sample *samples;
    uint32_t node_count, sample_count;
    /* By function and place, which may be 0: not known. */
    struct report__pairs places;
    struct report__html_line *lines;
    /* The number of nodes that are left out, and their bytes. */
    uint32_t left_out;
    uint64_t left_out_bytes;
};

/* Make the tree of all samples of E, with at most MOST nodes, and nodes for
 * chains that are left out. */
struct report__html_tree *
report__make_html_tree(const struct report__export *e,
                       const struct report__lisp_types *types, uint32_t most);

/* The list "source": texts around the lines of TREE that have much, where their
 * files are as they were when E's profile was recorded; each is the number of a
 * file, a line, and its text. */
void report__put_source(const struct report__export *e,
                        const struct report__html_tree *tree);

#endif
