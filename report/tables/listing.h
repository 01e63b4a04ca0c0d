/* listing.h - the table of data files: whose each is, and its totals. */
#ifndef REPORT_TABLES_LISTING_H
#define REPORT_TABLES_LISTING_H

#include "report/tables/tables.h"

struct report__listed {
    const char *file, *program; /* as it was called; "" when unknown */
    struct mprof__process process;
    uint32_t parent; /* that forked it, or 0 */
    uint32_t ppid;   /* its parent when it began, or 0 */
    bool open, has_c;
    uint64_t start_time, duration; /* ns since 1970, ns */
    struct mprof_count allocated, kept;
};

enum report__listing_order {
    MPROF_LIST_TREE, /* children below their parents, else by time */
    MPROF_LIST_TIME,
    MPROF_LIST_BYTES
};

/* PROFILE, read from FILE; texts are copied into POOL. */
struct report__listed report__listed_of(struct report__pool *pool,
                                        const char *file,
                                        const struct report__profile *profile);

/* A line for each of the COUNT files LIST, which are sorted, and one for all.
 */
void report__print_listing(FILE *out, struct report__listed *list,
                           uint32_t count, enum report__listing_order order,
                           struct report__pool *pool);

#endif
