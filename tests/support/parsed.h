/* parsed.h - a data file in memory, for tests of what reads it. */
#ifndef TESTS_SUPPORT_PARSED_H
#define TESTS_SUPPORT_PARSED_H

#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/datafile.h"
#include "tests/support/parse.h"

struct fixture {
    struct datafile file;
    struct report__pool pool;
    const char *error;
    /* For tests of the call graph: see graph.h */
    struct report__profile *profile;
    struct report__functions *names;
    struct report__graph *graph;
    const char *runtime; /* NULL: what the file says */
};

static inline int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    datafile_start(&f->file);
    *state = f;
    return f ? 0 : -1;
}

static inline int tear_down(void **state) {
    struct fixture *f = *state;
    report__pool_free(&f->pool);
    datafile_free(&f->file);
    free(f);
    return 0;
}

static inline struct report__profile *parse(struct fixture *f) {
    return parse_bytes(&f->pool, "x.data", f->file.data, f->file.size,
                       &f->error);
}

/* What was allocated in CLASS_ at a node, or freed of it. */
static inline struct mprof_count of_node(const struct report__profile *p,
                                         uint32_t node, uint32_t class_,
                                         bool freed) {
    struct mprof_count sum = {0, 0};
    for (uint32_t i = 0; i < p->counter_count; i++) {
        const struct report__counter *c = &p->counters[i];
        if (c->node != node || c->class_ != class_)
            continue;
        report__add_count(&sum,
                          freed ? &report__lived(c)->freed : &c->allocated);
    }
    return sum;
}

static inline void refuses(struct fixture *f, const char *error) {
    assert_null(parse(f));
    assert_string_equal(f->error, error);
}

/* Refused because of WHAT, wherever that is. */
static inline void refuses_for(struct fixture *f, const char *what) {
    assert_null(parse(f));
    assert_non_null(strstr(f->error, what));
}

/* A test with such a file. */
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
