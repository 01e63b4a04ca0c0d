/* test_broken_tree.c - a tree that is damaged in memory is noticed. */
#include "tests/support/tree.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/fake.h"
#include "monitor/base/self.h"

static mprof_ref inner; /* the node of the third frame */

/* Each breaks one invariant of the tree, and checks the tree. */

static void break_the_parent(void) {
    at(inner)->parent = inner;
    mprof__tree_check(&thread->trees);
}

static void break_the_call(void) {
    at(inner)->call = thread->ref;
    mprof__tree_check(&thread->trees);
}

static void break_the_function(void) {
    at(inner)->call = at(at(inner)->parent)->call;
    mprof__tree_check(&thread->trees);
}

static void break_the_class(void) {
    struct mprof_counter *counter =
        mprof__arena_at(&session->arena, at(inner)->counter);
    counter->key = MPROF_CLASSES;
    mprof__tree_check(&thread->trees);
}

static void break_the_counters(void) {
    struct mprof_counter *counter =
        mprof__arena_at(&session->arena, at(inner)->counter);
    counter->next = at(inner)->counter;
    mprof__tree_check(&thread->trees);
}

static void break_the_cache(void) {
    mprof__tree_remember(&thread->trees.tree, inner, 1, UINT32_MAX);
    mprof__tree_check(&thread->trees);
}

static void break_the_chain(void) {
    at(at(inner)->parent)->child = at(inner)->next;
    mprof__tree_check(&thread->trees);
}

static void break_the_index(void) {
    memset(thread->trees.tree.nodes.bucket, 0,
           (thread->trees.tree.nodes.mask + 1) * sizeof(mprof_ref));
    mprof__tree_check(&thread->trees);
}

static void break_the_count(void) {
    thread->trees.tree.node_blocks.last->count++;
    mprof__tree_check(&thread->trees);
}

static void break_the_records(void) {
    thread->trees.tree.node_blocks.last->head.bytes += 8;
    mprof__arena_check(&session->arena);
}

static void break_the_end(void) {
    mprof__arena_header(&session->arena)->used += 4;
    mprof__arena_check(&session->arena);
}

static void a_broken_tree_is_noticed(void **state) {
    static void (*const all[])(void) = {
        break_the_parent,  break_the_call,  break_the_function,
        break_the_class,   break_the_cache, break_the_counters,
        break_the_index,   break_the_chain, break_the_count,
        break_the_records, break_the_end,
    };
    unsigned chain[] = {1, 2, 3}, other[] = {1, 2 + FUNCTIONS, 4};
    (void)state;
    begin(64 << 20);
    inner = find(chain, 3);
    tell(inner, 0, 8);
    tell(find(other, 3), 2, 8);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        find(&i, 1); /* more than are chained */
    mprof__tree_check(&thread->trees);
    mprof__arena_check(&session->arena);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        assert_true(check_aborts(all[i]));
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_tree_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
