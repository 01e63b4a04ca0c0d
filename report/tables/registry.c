/* registry.c - the tables. */
#include "report/tables/tables.h"

enum { LISP = 1u << MPROF_LISP_HEAP, C = 1u << MPROF_C_HEAP, BOTH = LISP | C };

const struct report__table report__tables[MPROF_TABLES] = {
    [MPROF_TABLE_BINS] = {"bins", BOTH, MPROF_NEEDS_TYPES, report__print_bins},
    [MPROF_TABLE_LEAKS] = {"leaks", C, MPROF_NEEDS_NAMES, report__print_leaks},
    [MPROF_TABLE_LOST] = {"lost", C, MPROF_NEEDS_NAMES, report__print_lost},
    [MPROF_TABLE_PEAK] = {"peak", C, MPROF_NEEDS_NAMES, report__print_peak},
    [MPROF_TABLE_TEMPORARY] = {"temporary", C, MPROF_NEEDS_NAMES,
                               report__print_temporary},
    [MPROF_TABLE_ALIVE] = {"alive", LISP, MPROF_NEEDS_NAMES,
                           report__print_alive},
    [MPROF_TABLE_KEPT_BY] = {"kept-by", BOTH,
                             MPROF_NEEDS_NAMES | MPROF_NEEDS_TYPES,
                             report__print_kept_by},
    [MPROF_TABLE_EQUAL] = {"equal", LISP, MPROF_NEEDS_NAMES,
                           report__print_equal},
    [MPROF_TABLE_PATHS] = {"paths", BOTH, MPROF_NEEDS_NAMES,
                           report__print_paths},
    [MPROF_TABLE_TREE] = {"tree", BOTH, MPROF_NEEDS_NAMES, report__print_tree},
    [MPROF_TABLE_BY_TYPE] = {"types", LISP, MPROF_NEEDS_NAMES,
                             report__print_by_type},
    [MPROF_TABLE_DIRECT] = {"direct", BOTH, MPROF_NEEDS_NAMES,
                            report__print_direct},
    [MPROF_TABLE_GRAPH] = {"graph", BOTH, MPROF_NEEDS_NAMES,
                           report__print_graph}};

const struct report__graph *report__graph_of(struct report__context *c) {
    if (!c->graph)
        c->graph = report__graph_build(c->pool, c->part, c->names, c->heap,
                                       c->thread, c->all_frames);
    return c->graph;
}
