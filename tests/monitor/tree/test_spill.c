/* A full tree: what is summed up of chains that it has no room for, and what is
 * told of those that are lost. */
#include "tests/support/check.h"

#include <string.h>

#include "tests/support/fake.h"
#include "tests/support/made.h"
#include "monitor/base/self.h"
#include "monitor/names/names.h"
#include "monitor/record/find_counter.h"
#include "monitor/record/thread.h"
#include "monitor/tree/totals.h"

/* The outermost functions of all chains are one. */
enum { FUNCTIONS = 24, OUTER = MPROF__SHORT, MOST = 2 * OUTER + 4 };

static struct mprof__session *session;
static struct mprof__thread *thread;
static struct mprof__site site[FUNCTIONS];
static struct mprof__frame frame[MOST];

/* There is no room for whole chains. */
static int begin(void **state) {
    (void)state;
    session = made_session(2 << 20);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        mprof_ref function = made_function(session, 0x1000 * (i + 1));
        site[i] = (struct mprof__site){
            .has_rule = true,
            .function = function,
            .ref = made_site(session, function, 0x1000 * (i + 1) + 1)};
    }
    thread = made_thread(session, MPROF_LISP_HEAP);
    thread->chain.frames = frame;
    session->arena.reserve = session->arena.limit - 16384;
    return 0;
}

static int end(void **state) {
    (void)state;
    made_end(session, thread);
    return 0;
}

/* The chain that goes on from OUTER frames of the first function with COUNT
 * others. */
static mprof_ref find(const unsigned *functions, size_t count) {
    for (size_t i = 0; i < OUTER + count; i++) {
        unsigned n = i < OUTER ? 0 : functions[i - OUTER];
        frame[i] = (struct mprof__frame){.site = &site[n], .pc = 0x1000 + n};
    }
    thread->chain.count = OUTER + count;
    thread->chain.innermost = &frame[OUTER + count - 1];
    thread->chain.reused = 0;
    return mprof__trees_node(&thread->trees);
}

static void tell(mprof_ref node, uint64_t bytes) {
    assert_true(thread->chain.innermost->folded);
    const struct mprof_count n = {1, bytes};
    assert_true(mprof__counter_add(
        &thread->trees, mprof__counter(&thread->trees, node, 1, n), true, n));
}

static struct mprof_node *at(mprof_ref node) {
    return mprof__arena_at(&session->arena, node);
}

/* What would be true now of function N; NULL: nothing. */
static const struct mprof_total *total_of(enum mprof_total_kind kind,
                                          unsigned n) {
    const struct mprof__totals *t = &thread->trees.spill.totals;
    for (uint32_t b = 0; b < t->block_count; b++) {
        const struct mprof_total *total = (const void *)(t->block[b] + 1);
        for (uint32_t i = 0; i < t->block[b]->count; i++)
            if (total[i].kind == kind && total[i].function == site[n].function)
                return &total[i];
    }
    return NULL;
}

static uint64_t bytes_of(enum mprof_total_kind kind, unsigned n) {
    const struct mprof_total *total = total_of(kind, n);
    uint32_t valid = (thread->record->emptied + 1) & 1;
    return total == NULL ? 0 : total->counts[valid].bytes;
}

static void totals_are_those_of_the_chains(void **state) {
    static const unsigned twice[] = {10, 11, 10}, once[] = {11};
    const uint64_t much = (uint64_t)100 << 30; /* more than fits in a word */
    (void)state;
    tell(find(twice, 3), much);
    tell(find(once, 1), 50);
    assert_false(thread->trees.lost);
    assert_true(mprof__sum_up(&thread->trees));
    assert_int_equal(bytes_of(MPROF_SELF, 10), much);
    assert_int_equal(bytes_of(MPROF_SELF, 11), 50);
    assert_int_equal(bytes_of(MPROF_TWICE, 10), much);
    assert_int_equal(bytes_of(MPROF_TWICE, 11), 0);
    assert_int_equal(bytes_of(MPROF_BELOW, 10), much);
    assert_int_equal(bytes_of(MPROF_BELOW, 11), much + 50);
    for (int view = 0; view < MPROF_VIEWS; view++) {
        assert_int_equal(total_of(MPROF_BELOW, 10)->depth[view], OUTER);
        assert_int_equal(total_of(MPROF_BELOW, 11)->depth[view], OUTER);
    }
}

/* Functions from NODE out to that of all short chains. */
static unsigned length_of(mprof_ref node) {
    unsigned length = 0;
    for (; node != thread->trees.tree.folded; length++)
        node = at(node)->parent;
    return length;
}

/* What the tables leave out is told, and does not count. */
static void short_chains_are_of_functions_that_are_shown(void **state) {
    static const unsigned chain[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    static const char plumbing[] = "CL:EVAL";
    (void)state;
    struct mprof_function *f =
        mprof__arena_at(&session->arena, site[7].function);
    f->kind = MPROF_LISP;
    f->name =
        mprof__arena_string(&session->arena, plumbing, sizeof plumbing - 1);
    thread->trees.spill.refused = true;
    mprof_ref node = find(chain, 10);
    assert_true(thread->trees.lost);
    assert_int_equal(length_of(node), MPROF__SHORT + 1);
    assert_int_equal(length_of(find(chain, 6)), MPROF__SHORT);
}

/* Room for one function alone, not for a short chain. */
static void leave_little_room(void) {
    struct mprof__arena *arena = &session->arena;
    const struct mprof_header *header = mprof__arena_header(arena);
    size_t bytes = arena->limit / 16 * 15 - header->used;
    void *record = mprof__arena_record(arena, MPROF_STRING, bytes);
    assert_non_null(record);
    mprof__arena_publish(arena, record);
    arena->reserve = (arena->limit - header->used) * 8;
}

/* Without them all would be lost. */
static void totals_and_functions_have_room(void **state) {
    static const unsigned chain[] = {1, 2, 3};
    static const struct mprof__name unnamed;
    const struct mprof__arena *arena = &session->arena;
    (void)state;
    tell(find(chain, 3), 100);
    leave_little_room();
    assert_false(mprof__arena_has_room(arena, MPROF__FOR_SHORTER));
    assert_true(mprof__arena_has_room(arena, MPROF__FOR_COUNTERS));
    assert_int_not_equal(
        mprof__function_add(&session->names, 0x9000, 0, &unnamed), 0);
    assert_true(mprof__sum_up(&thread->trees));
    assert_int_equal(bytes_of(MPROF_SELF, 3), 100);
}

/* A function that is told alone may be called by anybody. */
static void a_longer_chain_is_not_that_of_another(void **state) {
    static const unsigned first[] = {1, 2, 3, 4, 5, 6, 7, 8},
                          rest[] = {17, 18, 19, 20, 21, 22, 23, 17},
                          longer[] = {9, 1, 2, 3, 4, 5, 6, 7, 8},
                          other[] = {10, 11, 12, 13, 14, 15, 16, 7, 8};
    (void)state;
    thread->trees.spill.refused = true;
    find(rest, 8);
    mprof_ref node = find(first, 8);
    assert_int_equal(length_of(node), MPROF__SHORT);
    leave_little_room();
    assert_int_equal(find(longer, 9), node);
    assert_int_equal(length_of(frame[OUTER + 7].node), 1);
    assert_int_equal(length_of(find(other, 9)), 1);
}

/* It would fill what spills usually have. */
static void a_deep_chain_has_room(void **state) {
    enum { DEEP = 4000 };
    static struct mprof__frame deep[DEEP];
    (void)state;
    for (size_t i = 0; i < DEEP; i++)
        deep[i] = (struct mprof__frame){.site = &site[i % FUNCTIONS],
                                        .pc = 0x1000 + i % FUNCTIONS};
    thread->chain.frames = deep;
    thread->chain.count = DEEP;
    thread->chain.innermost = &deep[DEEP - 1];
    mprof_ref node = mprof__trees_node(&thread->trees);
    assert_false(thread->trees.lost);
    tell(node, 100);
    assert_true(mprof__sum_up(&thread->trees));
    assert_int_equal(bytes_of(MPROF_SELF, (DEEP - 1) % FUNCTIONS), 100);
    assert_int_equal(bytes_of(MPROF_BELOW, 5), 100);
    assert_false(thread->trees.spill.deep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(totals_are_those_of_the_chains, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            short_chains_are_of_functions_that_are_shown, begin, end),
        cmocka_unit_test_setup_teardown(a_deep_chain_has_room, begin, end),
        cmocka_unit_test_setup_teardown(totals_and_functions_have_room, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_longer_chain_is_not_that_of_another,
                                        begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
