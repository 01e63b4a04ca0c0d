/* The counters of a function that has very many call sites, in the C heap. */
#include "tests/support/check.h"

#include <string.h>

#include "tests/support/fake.h"
#include "tests/support/made.h"
#include "monitor/base/self.h"
#include "monitor/tree/c_counter.h"
#include "monitor/record/find_counter.h"
#include "monitor/record/thread.h"

enum { SITES = 3000, USED = 2 }; /* classes */

static struct mprof__session *session;
static struct mprof__thread *thread;
static struct mprof__site site[SITES];
static struct mprof__frame frame;
static mprof_ref function;

static int begin(void **state) {
    (void)state;
    session = made_session(8 << 20);
    function = made_function(session, 0x1000);
    for (unsigned i = 0; i < SITES; i++)
        site[i] = (struct mprof__site){
            .has_rule = true,
            .function = function,
            .ref = made_site(session, function, 0x1000 + i)};
    thread = made_thread(session, MPROF_C_HEAP);
    thread->chain.frames = thread->chain.innermost = &frame;
    thread->chain.count = 1;
    return 0;
}

static int end(void **state) {
    (void)state;
    made_end(session, thread);
    return 0;
}

static mprof_ref find(unsigned n) {
    frame = (struct mprof__frame){.site = &site[n], .pc = 0x1000 + n};
    thread->chain.reused = 0;
    return mprof__trees_node(&thread->trees);
}

/* What site N asks for in CLASS_ each time. */
static uint64_t bytes_of(unsigned n, unsigned class_) {
    return (uint64_t)n * USED + class_;
}

static const struct mprof_c_counter *tell(unsigned n, unsigned class_) {
    uint64_t bytes = bytes_of(n, class_);
    struct mprof_counter *counter = mprof__counter(
        &thread->trees, find(n), class_, (struct mprof_count){1, bytes});
    mprof__c_counter_add(&session->arena, &thread->share,
                         (struct mprof_c_counter *)counter, bytes, false);
    return (const void *)counter;
}

static struct mprof_count allocated(const struct mprof_c_counter *counter) {
    return mprof__c_counter_read(session->arena.base, counter).allocated;
}

static size_t counters;

static void count_counter(void *thing) {
    const struct mprof_c_counter *counter = thing;
    counters += allocated(counter).allocs > 0;
}

static void each_site_and_class_has_one_counter(void **state) {
    (void)state;
    for (unsigned round = 1; round <= 3; round++)
        for (unsigned n = 0; n < SITES; n++)
            for (unsigned class_ = 0; class_ < USED; class_++) {
                const struct mprof_c_counter *counter = tell(n, class_);
                assert_int_equal(counter->counter.key, class_);
                assert_int_equal(counter->site, site[n].ref);
                assert_int_equal(allocated(counter).allocs, round);
                assert_int_equal(allocated(counter).bytes,
                                 round * bytes_of(n, class_));
            }
    counters = 0;
    made_each(session, MPROF_COUNTERS, sizeof(struct mprof_c_counter),
              count_counter);
    assert_int_equal(counters, SITES * USED);
    mprof__tree_check(&thread->trees);
}

static mprof_ref call_of(mprof_ref ref) {
    const struct mprof_node *node = mprof__arena_at(&session->arena, ref);
    return node->call;
}

/* Where there is room for nothing else, the function has a node alone: its
 * counters are of its sites. */
static void one_node_has_counters_of_many_sites(void **state) {
    struct mprof__arena *arena = &session->arena;
    size_t bytes = arena->limit / 16 * 15 - mprof__arena_header(arena)->used;
    (void)state;
    thread->trees.spill.refused = true;
    mprof__arena_publish(arena,
                         mprof__arena_record(arena, MPROF_STRING, bytes));
    assert_false(mprof__arena_has_room(arena, MPROF__FOR_SHORTER));
    assert_true(mprof__arena_has_room(arena, MPROF__FOR_COUNTERS));
    mprof_ref node = find(0);
    assert_int_equal(call_of(node), function);
    for (unsigned round = 1; round <= 3; round++)
        for (unsigned n = 0; n < 20; n++)
            for (unsigned class_ = 0; class_ < USED; class_++) {
                const struct mprof_c_counter *counter = tell(n, class_);
                assert_int_equal(find(n), node);
                assert_int_equal(counter->counter.key, class_);
                assert_int_equal(counter->site, site[n].ref);
                assert_int_equal(allocated(counter).allocs, round);
            }
    mprof__tree_check(&thread->trees);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_site_and_class_has_one_counter,
                                        begin, end),
        cmocka_unit_test_setup_teardown(one_node_has_counters_of_many_sites,
                                        begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
