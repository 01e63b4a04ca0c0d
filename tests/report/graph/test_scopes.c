/* Scopes within scopes, in both heaps, over random calls: their numbers, and
 * the data files of them, have what a plain count has, also where the tree is
 * full. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "monitor/include/mprof.h"
#include "monitor/tree/c_counter.h"
#include "monitor/record/find_counter.h"
#include "report/tables/tables.h"
#include "tests/support/fake.h"

enum { DEEPEST = 4, STEPS = 1500, FEWER = 60 };

/* What was asked for, by heap. */
struct plain {
    struct mprof_scope scope;
    struct mprof_count heap[MPROF_HEAPS];
};
static __thread struct plain open[DEEPEST];
static __thread unsigned depth;
static __thread uint64_t chance;
static atomic_uintptr_t place = 0x7f0000000000;

static unsigned next(unsigned below) {
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(chance >> 33) % below;
}

static void count(enum mprof_heap heap, uint64_t bytes) {
    for (unsigned i = 0; i < depth; i++) {
        open[i].heap[heap].allocs++;
        open[i].heap[heap].bytes += bytes;
    }
}

static void __attribute__((noinline, optimize("no-omit-frame-pointer")))
allocate(void) {
    uint64_t bytes = 1 + next(5000);
    /* Some counters are wide. */
    if (next(50) == 0)
        bytes <<= 18 + 2 * next(2);
    if (next(2)) {
        count(MPROF_LISP_HEAP, bytes);
        fake_alloc(bytes, (int)next(MPROF_CLASSES));
    } else {
        const void *object = (const void *)atomic_fetch_add(&place, 32);
        count(MPROF_C_HEAP, bytes);
        mprof__c_allocated(object, bytes, __builtin_frame_address(0));
        if (next(2))
            mprof__c_release(object);
    }
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void go(unsigned levels);

#define WAY(name)                                                              \
    static void __attribute__((noinline)) name(unsigned levels) {              \
        go(levels);                                                            \
        __asm__ volatile("" ::: "memory");                                     \
    }
WAY(one)
WAY(two)
WAY(three)

static void __attribute__((noinline)) go(unsigned levels) {
    static void (*const ways[])(unsigned) = {one, two, three};
    if (levels == 0)
        allocate();
    else
        ways[next(3)](levels - 1);
    __asm__ volatile("" ::: "memory");
}

/* The file of the scope has as much, by chains and by types or sizes. */
static void check_file(const struct plain *plain) {
    char path[] = "/tmp/mprof-scope-XXXXXX";
    struct report__pool pool = {0};
    const char *error = NULL;
    close(mkstemp(path));
    assert_int_equal(mprof_scope_save(&plain->scope, path), 0);
    const struct report__profile *profile = report__read(&pool, path, &error);
    unlink(path);
    assert_null(error);
    assert_non_null(profile);
    for (int heap = 0; heap < MPROF_HEAPS; heap++) {
        struct report__totals t = report__total(profile, heap);
        assert_int_equal(t.allocated.allocs, plain->heap[heap].allocs);
        assert_int_equal(t.allocated.bytes, plain->heap[heap].bytes);
        assert_int_equal(t.freed.bytes, 0);
        if (heap == MPROF_LISP_HEAP)
            assert_int_equal(t.objects.bytes + t.storage.bytes,
                             t.allocated.bytes);
    }
    report__pool_free(&pool);
}

static void check(struct plain *plain, bool file) {
    const struct mprof_count *lisp = &plain->heap[MPROF_LISP_HEAP];
    const struct mprof_count *c = &plain->heap[MPROF_C_HEAP];
    assert_int_equal(mprof_scope_end(&plain->scope), 0);
    assert_int_equal(plain->scope.allocs, lisp->allocs + c->allocs);
    assert_int_equal(plain->scope.bytes, lisp->bytes + c->bytes);
    if (file)
        check_file(plain);
    mprof_scope_free(&plain->scope);
}

static void work(uintptr_t seed, int steps) {
    chance = seed;
    for (int i = 0; i < steps; i++) {
        if (depth < DEEPEST && next(8) == 0) {
            open[depth] = (struct plain){.scope.within = NULL};
            assert_int_equal(mprof_scope_begin(&open[depth].scope, 0), 0);
            depth++;
        } else if (depth > 0 && next(8) == 0) {
            depth--;
            check(&open[depth], next(20) == 0);
        } else {
            go(next(12));
        }
    }
    while (depth > 0) {
        depth--;
        check(&open[depth], depth == 0);
    }
}

static void *work_in_thread(void *seed) {
    work((uintptr_t)seed, FEWER);
    return NULL;
}

static void begin(void) {
    assert_int_equal(mprof_set_heaps(MPROF_HEAP_LISP | MPROF_HEAP_MALLOC), 0);
    assert_int_equal(mprof_start(NULL), 0);
}

static void end(void) {
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_reset(), 0);
}

static void scopes_have_what_a_plain_count_has(void **state) {
    (void)state;
    begin();
    for (uintptr_t seed = 1; seed < 4; seed++)
        work(seed, STEPS);
    end();
}

static void of_a_full_tree_too(void **state) {
    (void)state;
    mprof_set_limit(1 << 18);
    begin();
    for (uintptr_t seed = 1; seed < 4; seed++)
        work(seed, STEPS);
    struct mprof_status status;
    mprof_status(&status);
    assert_int_equal(status.unplaced_allocs, 0);
    end();
    mprof_set_limit(1 << 30);
}

/* More at a counter than one word has, as half of it is of chains in the spill.
 */
static void half_of_it_may_be_spilled(void **state) {
    const uint64_t bytes = (uint64_t)3 << 29;
    struct plain plain = {.scope.within = NULL};
    (void)state;
    begin();
    assert_int_equal(mprof_scope_begin(&plain.scope, MPROF_HEAP_MALLOC), 0);
    mprof__c_allocated((const void *)(atomic_fetch_add(&place, 32)), bytes,
                       __builtin_frame_address(0));
    struct mprof__session *session = mprof__tracked();
    struct mprof__thread *thread = mprof__self->heap[MPROF_C_HEAP].thread;
    mprof_ref ref = thread->trees.owner[mprof_size_class(bytes)];
    struct mprof_c_counter *counter = mprof__arena_at(&session->arena, ref);
    assert_int_equal(counter->allocated >> 32, bytes);
    mprof__c_counter_add(&session->arena, &thread->share, counter, bytes, true);
    assert_false(mprof__c_counter_is_wide(counter));
    mprof__count(&thread->sizes[MPROF_LARGEST_BIN + 1]->allocated, bytes);
    plain.heap[MPROF_C_HEAP] = (struct mprof_count){2, 2 * bytes};
    check(&plain, true);
    end();
}

/* More threads than have records of their own: some count on in those of
 * threads that have ended. */
static void scopes_are_of_one_thread(void **state) {
    enum { ROUNDS = 30, AT_ONCE = 3 };
    pthread_t id[AT_ONCE];
    (void)state;
    begin();
    for (uintptr_t round = 0; round < ROUNDS; round++) {
        for (uintptr_t i = 0; i < AT_ONCE; i++)
            pthread_create(&id[i], NULL, work_in_thread,
                           (void *)(round * AT_ONCE + i));
        for (uintptr_t i = 0; i < AT_ONCE; i++)
            pthread_join(id[i], NULL);
    }
    end();
}

static void what_is_no_scope_is_refused(void **state) {
    struct mprof_scope scope = {0, 0, NULL}, other = {0, 0, NULL};
    (void)state;
    assert_int_equal(mprof_scope_begin(NULL, 0), MPROF_E_ARGUMENT);
    assert_int_equal(mprof_scope_begin(&scope, 4), MPROF_E_ARGUMENT);
    assert_int_equal(mprof_scope_begin(&scope, 0), MPROF_E_STOPPED);
    assert_int_equal(mprof_scope_end(&scope), MPROF_E_ARGUMENT);
    assert_int_equal(mprof_scope_save(&scope, "/dev/null"), MPROF_E_STOPPED);
    mprof_scope_free(&scope);
    begin();
    assert_int_equal(mprof_scope_begin(&scope, 0), 0);
    assert_int_equal(mprof_scope_begin(&other, 0), 0);
    assert_int_equal(mprof_scope_save(&scope, "/dev/null"), MPROF_E_ARGUMENT);
    assert_int_equal(mprof_scope_print(&scope, 0), MPROF_E_ARGUMENT);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_scope_end(&scope), MPROF_E_STOPPED);
    assert_int_equal(mprof_start(NULL), 0);
    assert_int_equal(mprof_scope_end(&scope), MPROF_E_STOPPED);
    assert_int_equal(mprof_reset(), 0);
    assert_int_equal(mprof_scope_end(&other), MPROF_E_STOPPED);
    mprof_scope_free(&scope);
    mprof_scope_free(&other);
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_have_what_a_plain_count_has),
        cmocka_unit_test(of_a_full_tree_too),
        cmocka_unit_test(half_of_it_may_be_spilled),
        cmocka_unit_test(scopes_are_of_one_thread),
        cmocka_unit_test(what_is_no_scope_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
