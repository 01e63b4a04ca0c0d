/* callgraph.h - what callgraph.c and cycles.c share. */
#ifndef REPORT_TABLES_CALLGRAPH_H
#define REPORT_TABLES_CALLGRAPH_H

#include "report/tables/tables.h"

/* An ancestor or a descendent of a group. */
struct report__line {
    uint32_t function;
    bool inside; /* in the same cycle as the function */
    bool left;   /* it has no row of its own */
    struct report__counts counts;
    uint64_t alive; /* bytes of these */
};

struct report__printer {
    FILE *out;
    struct report__pool *pool;
    const struct report__graph *graph;
    const struct report__choice *choice;
    uint64_t total;
    /* Numbers of the groups by function and by cycle; MPROF_NONE: left out. */
    uint32_t *index_of, *index_of_cycle;
    struct report__line *lines; /* memory for one group's */
    int index_width, bytes_width, called_width, of_width;
    int alive_width; /* 0: no such column */
    bool narrow;     /* no columns for classes, nor exact totals */
};

/* A row up to its name: COUNTS, their share in WHOLE, ALIVE bytes of them, and
 * CALLED, after SLASH, unless it is 0, OF.  And one that has CALLED only. */
void report__graph_row(const struct report__printer *p,
                       const struct report__counts *counts, uint64_t whole,
                       uint64_t alive, uint64_t called, char slash,
                       uint64_t of);
/* Bytes alive of what FUNCTION allocated itself. */
uint64_t report__graph_alive(const struct report__printer *p,
                             uint32_t function);
void report__graph_calls(const struct report__printer *p, uint64_t called);
void report__graph_function(const struct report__printer *p, uint32_t function);
/* The exact total, where the sum of the rows around would not give it. */
void report__graph_exact(const struct report__printer *p, uint32_t function);
void report__graph_rule(const struct report__printer *p);
/* COUNT functions or calls that have no row of their own, in one. */
void report__graph_others(const struct report__printer *p,
                          const struct report__counts *sum, uint64_t alive,
                          uint32_t count, uint64_t whole);
/* The row of a group itself, up to its name. */
void report__graph_head(const struct report__printer *p, uint32_t index,
                        const struct report__counts *self,
                        const struct report__counts *total, uint64_t alive,
                        uint64_t called, uint64_t recur, const char *frac);
/* The functions around the COUNT functions MEMBERS, which are one group: how
 * many lines of P there are then. */
uint32_t report__graph_collect(struct report__printer *p,
                               const uint32_t *members, uint32_t count,
                               bool merged, bool ancestors);
/* Print COUNT of these; WHOLE is what all of them together have. */
void report__graph_lines(struct report__printer *p, uint32_t count,
                         bool ancestors, uint64_t whole);

/* Where the size-func column of a group is not shown. */
#define MPROF_HEAD_MARK "-----------"

/* cycles.c: both parts of the cycle ID. */
void report__graph_cycle(struct report__printer *p, uint32_t id);

#endif
