/* The memory of cells: how many there are, and what finds them. */
#include "tests/support/check.h"

#include "monitor/base/self.h"
#include "monitor/walk/remembered.h"
#include "monitor/record/thread.h"

enum { WORD = sizeof(uintptr_t), GENERATION = 7 };

static struct mprof__session *session;
static struct mprof__thread *thread;

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

/* There are more until they would take too much of the processor's cache; from
 * then on they are used again, and nothing begins anew. */
static void cells_become_as_many_as_are_near(void **state) {
    (void)state;
    struct mprof__memo *memo = &thread->memo;
    uint32_t capacity = 0;
    for (unsigned rounds = 0; !memo->largest; rounds++) {
        assert_true(memo->capacity > capacity);
        assert_true(rounds < 20);
        capacity = memo->capacity;
        mprof__memo_grow(memo);
        assert_true(mprof__memo_begin(&thread->memo, GENERATION));
    }
    assert_int_equal(memo->capacity, MPROF__NEAR_CELLS);
    assert_int_equal(memo->used, 0);
}

/* As long as not all are used, that is not known to be the end. */
static void cells_are_more_once_all_are_used(void **state) {
    struct mprof__memo *memo = &thread->memo;
    uint32_t capacity = memo->capacity;
    (void)state;
    thread->session->arena.limit = 16 * 128 * capacity;
    mprof__memo_grow(memo);
    assert_true(mprof__memo_begin(&thread->memo, GENERATION));
    assert_true(memo->largest);
    assert_int_equal(memo->capacity, capacity);
    assert_true(mprof__memo_begin(&thread->memo, GENERATION));
    assert_false(memo->largest);
    assert_int_equal(memo->capacity, capacity);
}

static void use_few_cells(void) {
    struct mprof__memo *memo = &thread->memo;
    while (memo->capacity != MPROF__NEAR_CELLS) {
        mprof__memo_grow(memo);
        assert_true(mprof__memo_begin(&thread->memo, GENERATION));
    }
}

/* Many walks made MADE cells: there are so many from then on. */
static uint32_t judge(uint32_t made) {
    struct mprof__memo *memo = &thread->memo;
    memo->made = made;
    mprof__memo_judge(memo);
    assert_int_equal(memo->made, 0);
    if (memo->generation == 0)
        assert_true(mprof__memo_begin(&thread->memo, GENERATION));
    assert_true(memo->largest);
    return memo->capacity;
}

/* How often few stay few before it is tried with many. */
static unsigned judge_few(void) {
    unsigned times = 0;
    while (judge(MPROF__JUDGE_EVERY) == MPROF__NEAR_CELLS)
        assert_true(++times < 1000);
    assert_int_equal(thread->memo.capacity, MPROF__MOST_CELLS);
    /* Most have to be made, until there are all. */
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(judge(MPROF__JUDGE_EVERY), MPROF__MOST_CELLS);
    thread->memo.used = MPROF__MOST_CELLS - 1;
    assert_int_equal(judge(MPROF__JUDGE_EVERY), MPROF__MOST_CELLS);
    return times;
}

static void there_are_many_cells_only_where_fewer_are_made_then(void **state) {
    const unsigned waits[] = {0, 8, 16, 32, 64, 64};
    (void)state;
    use_few_cells();
    assert_int_equal(judge(MPROF__JUDGE_EVERY / 4), MPROF__NEAR_CELLS);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        assert_int_equal(judge_few(), waits[i]);
        if (i % 2 == 0) {
            assert_int_equal(judge(MPROF__JUDGE_EVERY / 2), MPROF__MOST_CELLS);
            assert_int_equal(judge(0), MPROF__MOST_CELLS);
        }
        assert_int_equal(judge(MPROF__JUDGE_EVERY / 2 + 1), MPROF__NEAR_CELLS);
    }
}

static void there_are_few_cells_where_there_is_little_room(void **state) {
    (void)state;
    thread->session->arena.limit = 16 << 20;
    use_few_cells();
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(judge(MPROF__JUDGE_EVERY), MPROF__NEAR_CELLS);
}

/* The most of the index's slots for one four, of FRAMES frames of a function
 * that are STRIDE bytes apart. */
static unsigned crowd_of(uintptr_t stride, unsigned frames) {
    const struct mprof__memo *memo = &thread->memo;
    unsigned count[2 * MPROF__NEAR_CELLS / MPROF__CELL_WAYS] = {0}, most = 0;
    for (unsigned i = 0; i < frames; i++) {
        struct mprof__cell_bucket bucket =
            mprof__cell_bucket(memo, 0x401136, 0x7ffffffde010 - i * stride);
        size_t four = (size_t)(bucket.at - memo->index) / MPROF__CELL_WAYS;
        if (++count[four] > most)
            most = count[four];
    }
    return most;
}

/* Frames that take slots from each other would have to be made each time, also
 * while most of the index is free. */
static void frames_of_one_function_have_slots(void **state) {
    (void)state;
    use_few_cells();
    unsigned near = MPROF__CELL_WAYS * 4;
    for (uintptr_t stride = 16; stride <= 64; stride += 16)
        assert_int_equal(crowd_of(stride, near), 1);
    for (uintptr_t stride = 16; stride < 2048; stride += 16)
        assert_true(crowd_of(stride, near) <= MPROF__CELL_WAYS);
    for (uintptr_t stride = 2048; stride <= 1 << 16; stride *= 2)
        assert_true(crowd_of(stride, near) <= MPROF__CELL_WAYS);
}

static bool finds(struct mprof__memo *memo, const void *frame) {
    struct mprof__trail trail;
    memo->patience = 2;
    return mprof__remembered(memo, frame, &trail) != NULL;
}

/* Where walks began lately is where one of another state does not, nor one that
 * begins anew. */
static void __attribute__((optimize("no-omit-frame-pointer")))
a_recent_cell_is_for_its_state_only(void **state) {
    struct mprof__memo *memo = &thread->memo;
    struct mprof__cell *c = &memo->cells[1];
    const void *frame = MPROF__FRAME();
    uintptr_t bp;
    (void)state;
    *c = (struct mprof__cell){.shape.flags = MPROF__CELL_END};
    mprof__caller(frame, &c->pc, &c->low, &bp);
    for (unsigned i = 0; i < MPROF__RECENT; i++)
        memo->recent[i] = c;
    memo->generation = mprof__load_acquire(&mprof__generation);
    assert_true(finds(memo, frame));
    c->low += WORD;
    assert_false(finds(memo, frame));
    c->low -= WORD;
    c->pc++;
    assert_false(finds(memo, frame));
    c->pc--;
    /* Where it depends on what runs there, only if that is the word itself. */
    const uintptr_t word = *(const uintptr_t *)c->low;
    c->shape.flags |= MPROF__CELL_ASKS;
    *mprof__cell_more(memo, c) =
        (struct mprof__cell_more){.word = word, .object = word};
    assert_true(finds(memo, frame));
    mprof__cell_more(memo, c)->object++;
    assert_false(finds(memo, frame));
    mprof__cell_more(memo, c)->object--;
    assert_true(finds(memo, frame));
    assert_true(mprof__memo_begin(&thread->memo, memo->generation));
    assert_false(finds(memo, frame));
}

/* A version that comes again after all others were used is not that of a detour
 * which was remembered before. */
static void no_detour_outlives_its_versions(void **state) {
    struct mprof__memo *memo = &thread->memo;
    (void)state;
    for (unsigned i = 0; i < MPROF__DETOURS; i++)
        memo->detour[i].version = i + 1;
    memo->versions = MPROF__MOST_VERSIONS + 1;
    assert_true(mprof__memo_begin(memo, GENERATION));
    assert_int_equal(memo->versions, 0);
    for (unsigned i = 0; i < MPROF__DETOURS; i++)
        assert_int_equal(memo->detour[i].version, 0);
}

/* Where a mark was another may be, which has the same number, and from which
 * another way leads outwards. */
static void __attribute__((optimize("no-omit-frame-pointer")))
a_mark_ends_a_walk_while_it_is_the_same(void **state) {
    struct mprof__memo *memo = &thread->memo;
    struct mprof__mark mark = {.serial = 5};
    struct mprof__marks marks = {.mark = &mark, .count = 1, .room = 1};
    struct mprof__cell *c = &memo->cells[1];
    const void *frame = MPROF__FRAME();
    uintptr_t bp;
    (void)state;
    *c = (struct mprof__cell){.outer_version = 5,
                              .shape.flags = MPROF__CELL_MARK};
    mprof__caller(frame, &c->pc, &c->low, &bp);
    c->ra = *(const uintptr_t *)c->low;
    for (unsigned i = 0; i < MPROF__RECENT; i++)
        memo->recent[i] = c;
    memo->marks = &marks;
    memo->generation = mprof__load_acquire(&mprof__generation);
    assert_true(finds(memo, frame));
    mark.serial++;
    assert_false(finds(memo, frame));
    mark.serial--;
    c->ra++;
    assert_false(finds(memo, frame));
    memo->marks = NULL;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cells_become_as_many_as_are_near, begin,
                                        end),
        cmocka_unit_test_setup_teardown(cells_are_more_once_all_are_used, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            there_are_many_cells_only_where_fewer_are_made_then, begin, end),
        cmocka_unit_test_setup_teardown(
            there_are_few_cells_where_there_is_little_room, begin, end),
        cmocka_unit_test_setup_teardown(frames_of_one_function_have_slots,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_recent_cell_is_for_its_state_only,
                                        begin, end),
        cmocka_unit_test_setup_teardown(no_detour_outlives_its_versions, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_mark_ends_a_walk_while_it_is_the_same,
                                        begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
