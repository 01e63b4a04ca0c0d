/* fits.h - a small good data file, and what is said of it once it is damaged.
 */
#ifndef TESTS_SUPPORT_FITS_H
#define TESTS_SUPPORT_FITS_H

#include "tests/support/parsed.h"

#include <stddef.h>
#include <stdio.h>

/* Two threads, one a heap, each with a root and a node; the C one has a site, a
 * counter and a size. */
struct world {
    mprof_ref lisp, c, lisp_node, c_node, site, edge, counter, size;
};

static inline struct world make_world(struct datafile *d) {
    struct world w;
    w.lisp = datafile_thread(d, 1, NULL);
    w.c = datafile_c_thread(d, 1, NULL);
    mprof_ref f = datafile_lisp(d, "F");
    w.site = datafile_site(d, f, 0, 9);
    w.lisp_node = datafile_node(d, w.lisp, datafile_node(d, w.lisp, 0, 0), f);
    w.c_node = datafile_node(d, w.c, datafile_node(d, w.c, 0, 0), f);
    w.edge = datafile_edge(d, w.c_node, w.site);
    w.counter = datafile_counter(d, w.c_node, w.site, MPROF_SMALL,
                                 (struct mprof_count){2, 20},
                                 (struct mprof_count){1, 10});
    w.size = datafile_size(d, w.c, 10, (struct mprof_count){2, 20},
                           (struct mprof_count){1, 10});
    return w;
}

/* The fixture's file is refused because of what is at FIELD of REF. */
static inline void refuses_at(struct fixture *f, mprof_ref ref, size_t field,
                              const char *what) {
    char error[200];
    snprintf(error, sizeof error, "x.data: damaged at byte %zu: %s",
             (size_t)ref * 8 + field, what);
    refuses(f, error);
}

/* The same once it is complete. */
static inline void refuses_closed_at(struct fixture *f, mprof_ref ref,
                                     size_t field, const char *what) {
    datafile_close(&f->file);
    refuses_at(f, ref, field, what);
}

#define AT(type, field) offsetof(struct mprof_##type, field)

#endif
