/* The C heap: objects that are remembered, frees, who counts them. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <pthread.h>
#include <stdlib.h>

#include "tests/support/fake.h"
#include "monitor/base/atomic.h"
#include "monitor/base/objects.h"
#include "monitor/base/self.h"
#include "monitor/include/mprof.h"
#include "monitor/tree/c_counter.h"
#include "monitor/record/find_counter.h"
#include "monitor/unwind/arch.h"

/* Objects that nobody allocates; the shadow only looks at addresses. */
static const void *object(size_t n) {
    return (const void *)(uintptr_t)(0x7f0000000000 + n * 32);
}

static struct mprof_status status(void) {
    struct mprof_status s;
    assert_int_equal(mprof_status(&s), 0);
    return s;
}

static void __attribute__((noinline, optimize("no-omit-frame-pointer")))
allocate(size_t n, uint64_t bytes) {
    mprof__c_allocated(object(n), bytes, __builtin_frame_address(0));
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static int set_up(void **state) {
    (void)state;
    return mprof_set_heaps(MPROF_HEAP_MALLOC);
}

static int begin(void **state) {
    (void)state;
    return mprof_start(NULL);
}

static int end(void **state) {
    (void)state;
    return mprof_reset() || mprof_stop() || mprof_reset();
}

static void check_frees(uint64_t frees, uint64_t bytes) {
    assert_int_equal(status().c_frees, frees);
    assert_int_equal(status().c_freed_bytes, bytes);
}

/* Sums over all records of one type, or over things in them. */
struct sums {
    struct mprof_count allocated, freed;
};

static void add(struct mprof_count *sum, const struct mprof_count *count) {
    sum->allocs += count->allocs;
    sum->bytes += count->bytes;
}

/* Call VISIT for all records of TYPE. */
static void each_record(uint32_t type,
                        void (*visit)(const struct mprof_record *record)) {
    struct mprof__session *session = mprof__tracked();
    uint64_t used = mprof__arena_header(&session->arena)->used;
    const struct mprof_record *record;
    for (uint64_t at = MPROF_HEADER_BYTES; at < used; at += record->bytes) {
        record = (const void *)(session->arena.base + at);
        if (record->type == type)
            visit(record);
    }
}

static struct sums sums;

static struct mprof_c_numbers numbers(const struct mprof_c_counter *counter) {
    return mprof__c_counter_read(mprof__tracked()->arena.base, counter);
}

static void add_counters(const struct mprof_record *record) {
    const struct mprof_block *block = (const void *)record;
    const struct mprof_c_counter *counter = (const void *)(block + 1);
    for (uint32_t i = 0; i < block->count; i++) {
        const struct mprof_c_numbers n = numbers(&counter[i]);
        add(&sums.allocated, &n.allocated);
        add(&sums.freed, &n.freed);
    }
}

static void add_freed(const struct mprof_record *record) {
    add(&sums.freed, &((const struct mprof_freed *)record)->freed);
}

static void add_size(const struct mprof_record *record) {
    add(&sums.allocated, &((const struct mprof_size *)record)->allocated);
    add(&sums.freed, &((const struct mprof_size *)record)->freed);
}

static void sum_up_counters(void) {
    sums = (struct sums){.freed = {0, 0}};
    each_record(MPROF_COUNTERS, add_counters);
    each_record(MPROF_FREED, add_freed);
}

static void sum_up_sizes(void) {
    sums = (struct sums){.freed = {0, 0}};
    each_record(MPROF_SIZE, add_size);
}

/* Counters, sizes and the status tell the same. */
static void check_sums(uint64_t allocs, uint64_t bytes, uint64_t frees,
                       uint64_t freed) {
    void (*const ways[])(void) = {sum_up_counters, sum_up_sizes};
    assert_int_equal(status().c_allocs, allocs);
    assert_int_equal(status().c_bytes, bytes);
    check_frees(frees, freed);
    for (int i = 0; i < 2; i++) {
        ways[i]();
        assert_int_equal(sums.allocated.allocs, allocs);
        assert_int_equal(sums.allocated.bytes, bytes);
        assert_int_equal(sums.freed.allocs, frees);
        assert_int_equal(sums.freed.bytes, freed);
    }
}

static void what_is_freed_is_counted_where_it_was_allocated(void **state) {
    (void)state;
    allocate(1, 0);
    allocate(2, 1024);
    allocate(3, 1025);
    allocate(4, (uint64_t)5 << 32);
    check_sums(4, 2049 + ((uint64_t)5 << 32), 0, 0);
    mprof__c_release(object(2));
    mprof__c_release(object(2));  /* not known any more */
    mprof__c_release(object(50)); /* never was */
    check_sums(4, 2049 + ((uint64_t)5 << 32), 1, 1024);
    mprof__c_release(object(4));
    mprof__c_release(object(1));
    mprof__c_release(object(3));
    check_sums(4, 2049 + ((uint64_t)5 << 32), 4, 2049 + ((uint64_t)5 << 32));
    struct mprof__arena *arena = &mprof__tracked()->arena;
    assert_int_equal(mprof__arena_header(arena)->unknown_frees, 2);
    assert_int_equal(mprof__arena_header(arena)->unplaced_frees, 0);
}

static void what_comes_of_a_resize_is_counted_once(void **state) {
    (void)state;
    struct mprof__object what;
    allocate(1, 10);
    assert_false(mprof__c_take(object(2), &what));
    assert_true(mprof__c_take(object(1), &what));
    assert_int_equal(what.bytes, 10);
    assert_false(mprof__c_take(object(1), &what));
    mprof__c_untake(object(1), &what); /* the request failed */
    check_sums(1, 10, 0, 0);
    assert_true(mprof__c_take(object(1), &what));
    mprof__c_freed(&what);
    allocate(1, 20);
    check_sums(2, 30, 1, 10);
}

static void an_object_taken_before_a_reset_is_gone(void **state) {
    (void)state;
    struct mprof__object what;
    allocate(1, 10);
    assert_true(mprof__c_take(object(1), &what));
    assert_int_equal(mprof_reset(), 0);
    allocate(2, 7);
    mprof__c_freed(&what);
    mprof__c_untake(object(1), &what);
    mprof__c_release(object(1));
    check_sums(1, 7, 0, 0);
}

static void frees_count_on_while_stopped(void **state) {
    (void)state;
    for (size_t i = 0; i < 10; i++)
        allocate(i, 100);
    assert_int_equal(mprof_stop(), 0);
    check_frees(0, 0);
    for (size_t i = 0; i < 5; i++)
        mprof__c_release(object(i));
    check_frees(5, 500);
    allocate(20, 1); /* nobody looks */
    assert_int_equal(mprof_stop(), 0);
    mprof__c_release(object(5));
    assert_int_equal(mprof_start(NULL), 0);
    mprof__c_release(object(6));
    allocate(0, 1);
    check_sums(11, 1001, 7, 700);
    /* A new recording knows no objects of the old one. */
    assert_int_equal(mprof_reset(), 0);
    mprof__c_release(object(7));
    check_frees(0, 0);
}

enum { REMEMBERED = 40 }; /* so many of one place, and its chain is known */

/* By the way that is remembered, too. */
static void sizes_without_room_in_the_shadow_are_counted(void **state) {
    const uint64_t sizes[] = {0, (uint64_t)1 << 30, UINT32_MAX};
    uint64_t bytes = 0;
    (void)state;
    const size_t count = 3 * REMEMBERED;
    for (size_t i = 0; i < count; bytes += sizes[i++ / REMEMBERED]) {
        allocate(1, sizes[i / REMEMBERED]);
        mprof__c_release(object(1));
    }
    check_sums(count, bytes, count, bytes);
}

/* Where the lifetimes of so many may need more than a word. */
static void a_counter_without_room_for_a_free_becomes_wide(void **state) {
    (void)state;
    for (volatile size_t i = 0; i < 3; i++) /* one place */
        allocate(i, 20);
    struct mprof__thread *thread = mprof__self->heap[MPROF_C_HEAP].thread;
    uint32_t *entry, bytes;
    mprof_ref ref;
    assert_true(mprof__objects_entry(object(1), &mprof__self->shadow, &entry));
    assert_true(mprof__entry_read(entry, &ref, &bytes));
    struct mprof_c_counter *counter = mprof__memo_at(&thread->memo, ref);
    thread->share.not_narrow = UINT64_MAX;
    mprof__c_release(object(1));
    assert_true(mprof__c_counter_is_wide(counter));
    mprof__c_release(object(2));
    mprof__c_release(object(2)); /* again: it is unknown */
    check_sums(3, 60, 2, 40);
}

/* What comes after others of its place, whose bytes are the same in 32 bits. */
static void more_than_32_bits_are_counted(void **state) {
    const uint64_t small = 3000, huge = ((uint64_t)1 << 32) + small;
    const size_t count = REMEMBERED + 2;
    (void)state;
    for (size_t i = 0; i < count; i++) {
        allocate(1, i < REMEMBERED ? small : huge);
        mprof__c_release(object(1));
    }
    uint64_t bytes = REMEMBERED * small + 2 * huge;
    check_sums(count, bytes, count, bytes);
}

/* Objects of one place that are so far apart that each is in another part of
 * the shadow. */
static void objects_are_far_apart(void **state) {
    const size_t count = REMEMBERED + 4;
    (void)state;
    for (size_t i = 0; i < count; i++)
        allocate(1 + i % 4 * MPROF__LEAF_ENTRIES / 2 + i / 4, 24);
    for (size_t i = 0; i < count; i++)
        mprof__c_release(object(1 + i % 4 * MPROF__LEAF_ENTRIES / 2 + i / 4));
    check_sums(count, count * 24, count, count * 24);
}

static void *free_some(void *data) {
    (void)data;
    for (size_t i = 0; i < 100; i += 2)
        mprof__c_release(object(i));
    allocate(1000, 5);
    return NULL;
}

static mprof_ref owner;
static uint64_t frees_of_owner;

static void add_of_owner(const struct mprof_record *record) {
    const struct mprof_size *size = (const void *)record;
    frees_of_owner += size->thread == owner ? size->freed.allocs : 0;
}

static void another_thread_frees(void **state) {
    (void)state;
    pthread_t thread;
    uint64_t bytes = 5;
    for (size_t i = 0; i < 100; i++) {
        allocate(i, i * 20);
        bytes += i * 20;
    }
    pthread_create(&thread, NULL, free_some, NULL);
    pthread_join(thread, NULL);
    check_sums(101, bytes, 50, 49 * 50 * 20);
    owner = mprof__self->heap[MPROF_C_HEAP].thread->ref;
    frees_of_owner = 0;
    each_record(MPROF_SIZE, add_of_owner);
    assert_int_equal(frees_of_owner, 50);
    /* By the thread that allocated; the object of the other one is its own. */
    mprof__c_release(object(1000));
    for (size_t i = 1; i < 100; i += 2)
        mprof__c_release(object(i));
    check_sums(101, bytes, 101, bytes);
}

static size_t used;

static void count_used(const struct mprof_record *record) {
    const struct mprof_block *block = (const void *)record;
    const struct mprof_c_counter *counter = (const void *)(block + 1);
    for (uint32_t i = 0; i < block->count; i++)
        used += numbers(&counter[i]).allocated.allocs > 0;
}

static void each_place_has_a_counter(void **state) {
    (void)state;
    for (size_t i = 0; i < 10; i++) {
        allocate(i, 10);
        allocate(100 + i, 10);
        allocate(200 + i, 1000);
    }
    used = 0;
    each_record(MPROF_COUNTERS, count_used);
    assert_int_equal(used, 3);
}

static void check_all_freed(const struct mprof_record *record) {
    const struct mprof_block *block = (const void *)record;
    const struct mprof_c_counter *counter = (const void *)(block + 1);
    for (uint32_t i = 0; i < block->count; i++) {
        const struct mprof_c_numbers n = numbers(&counter[i]);
        assert_int_equal(n.freed.allocs, n.allocated.allocs);
        assert_int_equal(n.freed.bytes, n.allocated.bytes);
    }
}

/* One place asks for objects of two classes in turn. */
static void each_class_has_its_own_frees(void **state) {
    static const uint64_t sizes[] = {10, 100};
    (void)state;
    for (size_t i = 0; i < 400; i++)
        allocate(i, sizes[i % 2]);
    for (size_t i = 0; i < 400; i++)
        mprof__c_release(object(i));
    check_sums(400, 22000, 400, 22000);
    each_record(MPROF_COUNTERS, check_all_freed);
}

/* It has all that a quick free of its own objects takes. */
static void *free_one_of_each(void *data) {
    (void)data;
    allocate(1001, 20);
    mprof__c_release(object(1001));
    allocate(1002, 20);
    mprof__c_release(object(1));
    mprof__c_release(object(1002));
    return NULL;
}

static void a_quick_free_is_of_ones_own(void **state) {
    (void)state;
    pthread_t thread;
    allocate(1, 20);
    pthread_create(&thread, NULL, free_one_of_each, NULL);
    pthread_join(thread, NULL);
    check_sums(3, 60, 3, 60);
    owner = mprof__self->heap[MPROF_C_HEAP].thread->ref;
    frees_of_owner = 0;
    each_record(MPROF_SIZE, add_of_owner);
    assert_int_equal(frees_of_owner, 1);
}

enum { THREADS = 4, MOST = 64, ROUNDS = 30000 };
static pthread_mutex_t shelf_lock = PTHREAD_MUTEX_INITIALIZER;
static size_t shelf[MOST], shelf_count; /* objects for others to free */
static uint64_t told_allocs, told_frees;

static bool put_on_shelf(size_t n) {
    pthread_mutex_lock(&shelf_lock);
    bool room = shelf_count < MOST;
    if (room)
        shelf[shelf_count++] = n;
    pthread_mutex_unlock(&shelf_lock);
    return room;
}

static bool take_from_shelf(size_t *n) {
    bool some;
    pthread_mutex_lock(&shelf_lock);
    if ((some = shelf_count > 0))
        *n = shelf[--shelf_count];
    pthread_mutex_unlock(&shelf_lock);
    return some;
}

static pthread_key_t key;

/* Allocates once more, each time destructors are called. */
static void late(void *data) {
    size_t n = (size_t)(uintptr_t)data;
    mprof__c_release(object(n));
    allocate(n, 3);
    mprof__add_relaxed(&told_allocs, 1);
    mprof__add_relaxed(&told_frees, 1);
#ifndef __SANITIZE_THREAD__ /* which ends the thread before the last round */
    pthread_setspecific(key, data);
#endif
}

static void *work(void *data) {
    size_t mine = (size_t)(uintptr_t)data * ROUNDS * 2, n;
    unsigned seed = (unsigned)mine;
    for (size_t i = 0; i < ROUNDS; i++) {
        allocate(mine + i, (uint64_t)rand_r(&seed) % 3000);
        mprof__add_relaxed(&told_allocs, 1);
        if (!put_on_shelf(mine + i))
            mprof__c_release(object(mine + i));
        else if (!take_from_shelf(&n))
            continue;
        else
            mprof__c_release(object(n));
        mprof__add_relaxed(&told_frees, 1);
    }
    allocate(mine + ROUNDS, 1);
    mprof__add_relaxed(&told_allocs, 1);
    pthread_setspecific(key, (void *)(uintptr_t)(mine + ROUNDS));
    return NULL;
}

static void threads_free_each_others_objects_and_end(void **state) {
    (void)state;
    pthread_t thread[THREADS];
    told_allocs = told_frees = shelf_count = 0;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, work,
                           (void *)(uintptr_t)(i + 1 + 10 * (size_t)round));
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
    }
    struct mprof_status s = status();
    check_sums(told_allocs, s.c_bytes, told_frees, s.c_freed_bytes);
    assert_int_equal(s.unplaced_allocs, 0);
}

/* As far in as a signal handler is. */
static __attribute__((noinline)) bool further_in(const void *frame,
                                                 uintptr_t place) {
    volatile char registers[1024];
    registers[0] = 0;
    return mprof__c_interrupts(frame, place) && registers[0] == 0;
}

/* Before a free the hook is entered, and whoever allocates then has interrupted
 * it: it is not the allocator that asks. */
static void what_interrupts_the_hook_is_the_programs(void **state) {
    (void)state;
    const void *frame = __builtin_frame_address(0);
    uintptr_t place = mprof__frame_position(frame);
    allocate(1, 8);
    assert_false(mprof__c_interrupts(frame, place));
    struct mprof__self *me = mprof__enter();
    assert_true(further_in(frame, place));
    mprof__leave(me);
}

/* When longjmp() left the hook, the thread enters again from the same place;
 * not so what interrupts it, further in. */
static void who_left_the_hook_enters_again(void **state) {
    (void)state;
    size_t n = 0;
    while (n < 4)
        allocate(n++, 10);
    mprof__store_relaxed(&mprof__self->stack, mprof__stack() - 4096);
    allocate(n++, 10);
    assert_int_equal(mprof__load_relaxed(&mprof__self->stack), 0);
    assert_int_equal(status().c_allocs, n);
    assert_int_equal(status().unplaced_allocs, 0);
    mprof__store_relaxed(&mprof__self->stack, UINTPTR_MAX);
    allocate(n, 10);
    assert_true(mprof__load_relaxed(&mprof__self->stack) == UINTPTR_MAX);
    mprof__store_relaxed(&mprof__self->stack, 0);
    assert_int_equal(status().unplaced_allocs, 1);
}

#define RECORDED(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        RECORDED(what_is_freed_is_counted_where_it_was_allocated),
        RECORDED(what_comes_of_a_resize_is_counted_once),
        RECORDED(an_object_taken_before_a_reset_is_gone),
        RECORDED(frees_count_on_while_stopped),
        RECORDED(sizes_without_room_in_the_shadow_are_counted),
        RECORDED(a_counter_without_room_for_a_free_becomes_wide),
        RECORDED(more_than_32_bits_are_counted),
        RECORDED(objects_are_far_apart),
        RECORDED(another_thread_frees),
        RECORDED(each_place_has_a_counter),
        RECORDED(each_class_has_its_own_frees),
        RECORDED(a_quick_free_is_of_ones_own),
        RECORDED(threads_free_each_others_objects_and_end),
        RECORDED(who_left_the_hook_enters_again),
        RECORDED(what_interrupts_the_hook_is_the_programs),
    };
    pthread_key_create(&key, late);
    return cmocka_run_group_tests(tests, set_up, NULL);
}
