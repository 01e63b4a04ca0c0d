/* Cells: how large the frame is, by what the rules of its code say, and the
 * chains that they tell. */
#include "tests/support/check.h"

#include <stdlib.h>

#include "tests/support/fake.h"
#include "monitor/base/self.h"
#include "monitor/include/mprof.h"
#include "monitor/tree/c_counter.h"
#include "monitor/record/find_counter.h"
#include "monitor/walk/remembered.h"
#include "monitor/record/thread.h"

enum { DEEPEST = 60 };
enum { WORD = sizeof(uintptr_t), GENERATION = 7 };

static struct mprof__session *session;
static struct mprof__thread *thread;
static uintptr_t stack[64]; /* a frame is its first words */

static int begin(void **state) {
    int error;
    (void)state;
    mprof__threads_initialize();
    session = mprof__session_new(NULL, 256 << 20, 1, &error);
    assert_non_null(session);
    assert_non_null(mprof__enter());
    thread = mprof__thread_self(session, MPROF_LISP_HEAP);
    assert_non_null(thread);
    assert_true(mprof__memo_begin(&thread->memo, GENERATION));
    return 0;
}

static int end(void **state) {
    (void)state;
    mprof__leave(mprof__self);
    mprof__session_free(session);
    return 0;
}

/* The rule of a function whose frame has eight words: in the last one is the
 * return address, and before that the frame pointer of its caller. */
static struct mprof__known_site plain_rule(void) {
    static const struct mprof__site site = {.has_rule = true};
    return (struct mprof__known_site){.site = &site,
                                      .way = MPROF__BY_SP,
                                      .cfa = 8 * WORD,
                                      .ra = -1,
                                      .bp_saved = true,
                                      .bp = -2};
}

static bool measures(struct mprof__known_site known) {
    struct mprof__cell *c = &thread->memo.cells[1];
    *c = (struct mprof__cell){.low = (uintptr_t)stack,
                              .shape.bp_at = MPROF__NOT_SAVED};
    *mprof__cell_more(&thread->memo, c) = (struct mprof__cell_more){.bp = 0};
    return mprof__cell_measure(&thread->memo, c, &known);
}

static void a_frame_is_what_its_rule_says(void **state) {
    (void)state;
    const struct mprof__cell *c = &thread->memo.cells[1];
    assert_true(measures(plain_rule()));
    assert_int_equal(mprof__cell_high(c), (uintptr_t)(stack + 8));
    assert_int_equal(mprof__cell_slot(c), (uintptr_t)(stack + 7));
    assert_int_equal(mprof__cell_bp_slot(c), (uintptr_t)(stack + 6));
}

/* What a cell compares must be in the frame: what is beyond is another's, and
 * what is further in may be anything by then. */
static void what_is_kept_outside_of_the_frame_is_no_cells(void **state) {
    const int16_t outside[] = {0, 1, -9, -64};
    (void)state;
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        struct mprof__known_site known = plain_rule();
        known.ra = outside[i];
        assert_false(measures(known));
        known = plain_rule();
        known.bp = outside[i];
        assert_false(measures(known));
        known.bp_saved = false;
        assert_true(measures(known));
    }
}

static void a_frame_of_no_size_is_no_cells(void **state) {
    const int32_t size[] = {0, -WORD, 8 * WORD + 4, (UINT16_MAX + 1) * WORD};
    (void)state;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        struct mprof__known_site known = plain_rule();
        known.cfa = size[i];
        assert_false(measures(known));
    }
}

/* What is cut off may look as if it were in the frame. */
static void what_a_rule_says_in_full_counts(void **state) {
    static struct mprof__site site = {.has_rule = true};
    struct mprof__rule *rule = &site.unwind.rule;
    struct mprof__known_site known = {
        .site = &site, .way = MPROF__BY_RULE, .ra = -1};
    (void)state;
    *rule = (struct mprof__rule){.cfa_base = MPROF__SP,
                                 .cfa_deref = true,
                                 .cfa_offset = 4 * WORD,
                                 .bp_base = MPROF__CFA,
                                 .ra_base = MPROF__CFA,
                                 .ra_offset = -WORD};
    stack[4] = (uintptr_t)(stack + 8);
    assert_true(measures(known));
    rule->ra_offset -= 65536 * WORD;
    assert_false(measures(known));
}

static void climb(int depth), passes(int depth), saves(int depth);

/* Some frame further in, called by one at DEPTH. */
static inline __attribute__((always_inline)) void go_on(int depth) {
    static void (*const all[])(int) = {climb, climb, passes, saves};
    if (depth < DEEPEST)
        all[rand() % 4](depth + 1);
    __asm__ volatile("" ::: "memory");
}

/* Allocates as many bytes as there are frames.  It needs its frame pointer, and
 * those further in are in many states. */
static void __attribute__((noinline)) climb(int depth) {
    volatile char *space = __builtin_alloca(16 * (1 + (size_t)rand() % 4));
    space[0] = 1;
    fake_alloc((uint64_t)depth, 0);
    go_on(depth);
    fake_alloc((uint64_t)depth, 0);
    if (rand() % 16 == 0)
        go_on(depth);
}

/* Leaves the frame pointer as it is. */
static void __attribute__((noinline, optimize("omit-frame-pointer")))
passes(int depth) {
    go_on(depth);
}

/* Has something else in its place. */
static void __attribute__((noinline, optimize("omit-frame-pointer")))
saves(int depth) {
#ifdef __x86_64__
    __asm__ volatile("xorl %%ebp, %%ebp" ::: "rbp");
#endif
    go_on(depth);
}

static uint64_t base; /* frames of all chains */

static void check_depth(const struct mprof_node *node) {
    const struct mprof__arena *arena = &mprof__tracked()->arena;
    const struct mprof_lisp_counter *counter;
    uint64_t depth = 0;
    if (node->counter == 0)
        return;
    counter = mprof__arena_at(arena, node->counter);
    const struct mprof_count own =
                                 mprof__lisp_counter_read(arena->base, counter),
                             *count = &own;
    if (count->allocs == 0)
        return;
    for (; node->parent != 0; depth++)
        node = mprof__arena_at(arena, node->parent);
    assert_int_equal(count->bytes % count->allocs, 0);
    if (base == 0)
        base = depth - count->bytes / count->allocs;
    assert_int_equal(depth - count->bytes / count->allocs, base);
}

/* Call VISIT for all nodes, of the thread OWN only unless that is 0. */
static void each_node(mprof_ref own,
                      void (*visit)(const struct mprof_node *node)) {
    const struct mprof__arena *arena = &mprof__tracked()->arena;
    uint64_t used = mprof__arena_header(arena)->used;
    const struct mprof_record *record;
    for (uint64_t i = MPROF_HEADER_BYTES; i < used; i += record->bytes) {
        record = (const void *)(arena->base + i);
        const struct mprof_block *block = (const void *)record;
        const struct mprof_node *node = (const void *)(block + 1);
        if (record->type != MPROF_NODES || (own != 0 && block->thread != own))
            continue;
        for (uint32_t k = 0; k < block->count; k++)
            visit(&node[k]);
    }
}

/* Are there fewer cells than frames in all their states? */
static bool climb_with_few_cells(uint64_t limit) {
    mprof_set_limit(limit);
    assert_int_equal(mprof_start(NULL), 0);
    srand(1988);
    for (int i = 0; i < 300; i++)
        climb(1);
    const struct mprof__memo *memo =
        &mprof__self->heap[MPROF_LISP_HEAP].thread->memo;
    bool few = memo->largest && memo->capacity >= 32;
    assert_int_equal(mprof_stop(), 0);
    each_node(0, check_depth);
    assert_int_equal(mprof_reset(), 0);
    return few;
}

static void cells_tell_whole_chains(void **state) {
    bool few = false;
    (void)state;
    for (uint64_t limit = 1 << 20; limit <= 64 << 20; limit += limit / 2)
        few |= climb_with_few_cells(limit);
    assert_true(few);
    mprof_set_limit(64 << 20);
}

static uintptr_t shallowest; /* stack pointer when it began */
static uint64_t depth_then;

/* Another frame of the same size, which allocates. */
static void __attribute__((noinline)) descend(int depth) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    fake_alloc(1, 0);
    uint64_t told = mprof__self->heap[MPROF_LISP_HEAP].thread->record->stack;
    if (shallowest == 0) {
        shallowest = here;
        depth_then = told;
    }
    assert_int_equal(told - depth_then, shallowest - here);
    if (depth < DEEPEST)
        descend(depth + 1);
    __asm__ volatile("" ::: "memory");
}

static void cells_tell_how_deep_the_stack_is(void **state) {
    (void)state;
    assert_int_equal(mprof_start(NULL), 0);
    descend(1);
    assert_true(depth_then > 0);
    assert_int_equal(mprof_reset(), 0);
}

enum { DEEP = 400, ROUNDS = 600, C_ROUNDS = 40 };

/* What C allocated with more than DEEP frames on the chain, and at how many
 * nodes. */
static unsigned deep_nodes;
static uint64_t deep_allocs;

static void add_if_deep(const struct mprof_node *node) {
    const struct mprof__arena *arena = &mprof__tracked()->arena;
    mprof_ref counter = node->counter;
    int depth = 0;
    for (; node->parent != 0; depth++)
        node = mprof__arena_at(arena, node->parent);
    if (counter == 0 || depth <= DEEP)
        return;
    deep_nodes++;
    deep_allocs +=
        mprof__c_counter_read(arena->base, mprof__arena_at(arena, counter))
            .allocated.allocs;
}

static void __attribute__((noinline, optimize("no-omit-frame-pointer")))
allocate_in_c(uintptr_t number) {
    mprof__c_allocated((const void *)(0x7f0000000000 + number * 16), 1,
                       __builtin_frame_address(0));
    __asm__ volatile("" ::: "memory");
}

/* Frames in many states, for which there come to be many cells. */
static void __attribute__((noinline)) wander_in_c(int depth) {
    volatile char *space = __builtin_alloca(16 * (1 + (size_t)rand() % 8));
    space[0] = 1;
    allocate_in_c(C_ROUNDS + (uintptr_t)depth);
    if (depth < DEEPEST)
        wander_in_c(depth + 1);
    __asm__ volatile("" ::: "memory");
}

static void __attribute__((noinline)) go_deep(int depth) {
    if (depth > 0) {
        go_deep(depth - 1);
        __asm__ volatile("" ::: "memory");
        return;
    }
    for (int i = 0; i < ROUNDS; i++)
        fake_alloc(1, 0);
    for (uintptr_t i = 0; i < C_ROUNDS; i++)
        allocate_in_c(i);
}

/* The frames are more than cells are used for, but for marks; and what is
 * outside of these, the walks of Lisp know only. */
static void what_the_other_heap_marked_is_found_out(void **state) {
    (void)state;
    mprof_set_limit(1 << 30);
    assert_int_equal(mprof_set_heaps(MPROF_HEAP_LISP | MPROF_HEAP_MALLOC), 0);
    assert_int_equal(mprof_start(NULL), 0);
    for (int i = 0; i < 300; i++)
        wander_in_c(0);
    go_deep(DEEP);
    assert_int_equal(mprof_stop(), 0);
    each_node(mprof__self->heap[MPROF_C_HEAP].thread->ref, add_if_deep);
    assert_int_equal(deep_nodes, 1);
    assert_int_equal(deep_allocs, C_ROUNDS);
    assert_int_equal(mprof_reset(), 0);
    assert_int_equal(mprof_set_heaps(MPROF_HEAP_LISP), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_frame_is_what_its_rule_says, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            what_is_kept_outside_of_the_frame_is_no_cells, begin, end),
        cmocka_unit_test_setup_teardown(a_frame_of_no_size_is_no_cells, begin,
                                        end),
        cmocka_unit_test_setup_teardown(what_a_rule_says_in_full_counts, begin,
                                        end),
        cmocka_unit_test(cells_tell_whole_chains),
        cmocka_unit_test(cells_tell_how_deep_the_stack_is),
        cmocka_unit_test(what_the_other_heap_marked_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
