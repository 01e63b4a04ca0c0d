/* test_killed.c - a program that is killed leaves all that it recorded.
 *
 * A child makes allocations by a random recursion, in one heap or the other,
 * and says how many; it is killed at any moment.  Its data file must have these
 * allocations, or one more, for each function and each arc, as the same
 * recursion here says.  MPROF_KILLS: how often, 300 unless set.
 */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "monitor/base/atomic.h"
#include "monitor/include/mprof.h"
#include "monitor/record/session.h"
#include "monitor/record/heap_events.h"
#include "monitor/unwind/walk.h"
#include "report/graph/graph.h"
#include "tests/support/fake.h"

enum { FUNCTIONS = 3, DEEPEST = 12, KEPT = 5, MOST_EVENTS = 20000 };

/* What is to be found after some events. */
struct expected {
    struct mprof_count self[FUNCTIONS], freed[FUNCTIONS], total[FUNCTIONS];
    struct mprof_count arc[FUNCTIONS][FUNCTIONS];
};

/* Of the recursion, which is the same in the child and here. */
static _Thread_local uint64_t seed, event, last_event, first_object;
static _Thread_local int path[DEEPEST], depth;
static enum mprof_heap heap;
/* So much that chains are kept, or so little that they are summed up, but not
 * less than what innermost callers and totals take. */
static uint64_t limit;
static bool records; /* in the child */

static uint64_t *done; /* events of the child; shared with it */

static struct expected *expected; /* by number of events: here, the last two */
static struct {
    int function;
    uint64_t bytes;
} kept[KEPT];

static int enough; /* atomic */

static bool goes_on(void) {
    return event < last_event && !mprof__load_relaxed(&enough);
}

static unsigned draw(unsigned below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

static void call(unsigned function);
static inline void allocate(uint64_t bytes);
static void expect(uint64_t bytes);

static inline __attribute__((always_inline)) void run(int function) {
    path[depth++] = function;
    for (unsigned n = 1 + draw(3); n > 0 && goes_on(); n--) {
        event++;
        if (records)
            allocate(1 + draw(200));
        else
            expect(1 + draw(200));
    }
    for (unsigned n = draw(4); n > 0 && goes_on(); n--)
        if (depth < DEEPEST)
            call(draw(FUNCTIONS));
    depth--;
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

#define NOINLINE __attribute__((noinline))
static NOINLINE void a(void) {
    run(0);
}
static NOINLINE void b(void) {
    run(1);
}
static NOINLINE void c(void) {
    run(2);
}
static void (*const functions[FUNCTIONS])(void) = {a, b, c};

/* No frame of its own. */
static inline __attribute__((always_inline)) void call(unsigned function) {
    functions[function]();
}

static void start_over(uint64_t with, uint64_t events) {
    seed = with;
    last_event = events;
    event = 0;
    depth = 0;
    while (goes_on())
        call(draw(FUNCTIONS));
}

/* In the child. */

static const void *object(uint64_t n) {
    return (const void *)(uintptr_t)(0x7f0000000000 + (first_object + n) * 32);
}

static NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) void
c_alloc(uint64_t n, uint64_t bytes) {
    mprof__c_allocated(object(n), bytes, MPROF__FRAME());
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static inline __attribute__((always_inline)) void allocate(uint64_t bytes) {
    if (heap == MPROF_LISP_HEAP) {
        fake_alloc(bytes, (int)(bytes % 4));
    } else {
        if (event > KEPT)
            mprof__c_release(object(event - KEPT));
        c_alloc(event, bytes);
    }
    mprof__store_release(done, event);
}

/* Here. */

static void add(struct mprof_count *count, uint64_t bytes) {
    count->allocs++;
    count->bytes += bytes;
}

/* The last event is in expected[1] only. */
static void expect(uint64_t bytes) {
    bool seen[FUNCTIONS] = {false}, arc[FUNCTIONS][FUNCTIONS] = {{false}};
    struct expected *e = &expected[1];
    int self = path[depth - 1];

    expected[0] = *e;
    add(&e->self[self], bytes);
    for (int i = 0; i < depth; i++) {
        if (!seen[path[i]])
            add(&e->total[path[i]], bytes);
        seen[path[i]] = true;
        if (i == 0)
            continue;
        if (!arc[path[i - 1]][path[i]])
            add(&e->arc[path[i - 1]][path[i]], bytes);
        arc[path[i - 1]][path[i]] = true;
    }
    if (heap == MPROF_LISP_HEAP)
        return;
    if (event > KEPT)
        add(&e->freed[kept[event % KEPT].function], kept[event % KEPT].bytes);
    kept[event % KEPT].function = self;
    kept[event % KEPT].bytes = bytes;
}

static struct mprof_count sum(const struct report__counts *counts) {
    return (struct mprof_count){report__allocs(counts), report__bytes(counts)};
}

/* Numbers of one event may have been written, and others not yet. */
static bool is(struct mprof_count found, const struct mprof_count *before,
               const struct mprof_count *after) {
    bool good =
        (found.allocs == before->allocs || found.allocs == after->allocs) &&
        (found.bytes == before->bytes || found.bytes == after->bytes);
    if (!good)
        print_error("%lu allocations, %lu bytes; not %lu, %lu nor %lu, %lu\n",
                    found.allocs, found.bytes, before->allocs, before->bytes,
                    after->allocs, after->bytes);
    return good;
}

static unsigned index_of(const struct report__functions *names, uint32_t v) {
    for (unsigned f = 0; f < FUNCTIONS; f++) {
        char name[40];
        snprintf(name, sizeof name, "F%lx",
                 (unsigned long)(uintptr_t)functions[f]);
        if (strcmp(names->list[v].name, name) == 0)
            return f;
    }
    return FUNCTIONS;
}

static void compare(const struct report__graph *g,
                    const struct report__functions *names) {
    const struct expected *x = &expected[0], *y = &expected[1];
    struct mprof_count arc[FUNCTIONS][FUNCTIONS] = {{{0, 0}}};
    struct report__vertex vertices[FUNCTIONS] = {{.depth = 0}};

    for (uint32_t v = 0; v < names->count; v++)
        if (index_of(names, v) < FUNCTIONS)
            vertices[index_of(names, v)] = g->vertices[v];
    for (uint32_t i = 0; i < g->arc_count; i++) {
        unsigned caller = index_of(names, g->arcs[i].caller);
        unsigned callee = index_of(names, g->arcs[i].callee);
        if (caller < FUNCTIONS && callee < FUNCTIONS)
            arc[caller][callee] = sum(&g->arcs[i].counts);
    }
    for (unsigned f = 0; f < FUNCTIONS; f++) {
        assert_true(is(sum(&vertices[f].self), &x->self[f], &y->self[f]));
        assert_true(is(sum(&vertices[f].freed), &x->freed[f], &y->freed[f]));
        assert_true(is(sum(&vertices[f].total), &x->total[f], &y->total[f]));
        for (unsigned h = 0; h < FUNCTIONS; h++)
            assert_true(is(arc[f][h], &x->arc[f][h], &y->arc[f][h]));
    }
}

static void check_file(const char *file, uint64_t with, uint64_t events) {
    struct report__pool pool = {0};
    const char *error = NULL;
    struct report__profile *p = report__read(&pool, file, &error);

    memset(expected, 0, 2 * sizeof *expected);
    start_over(with, events + 1);
    if (p == NULL && events > 0)
        print_error("%s\n", error);
    assert_true(p != NULL || events == 0);
    if (p != NULL) {
        assert_true(p->open || events == 0);
        struct report__functions *names =
            report__name_functions(&pool, p, NULL);
        compare(report__graph_build(&pool, p, names, heap, MPROF_ALL_THREADS,
                                    false),
                names);
    }
    report__pool_free(&pool);
}

/* Until it starts, or has done so much. */
static void wait_for_child(void) {
    uint64_t enough_events = (uint64_t)rand() % MOST_EVENTS;
    if (rand() % 8 == 0) {
        usleep((useconds_t)(rand() % 2500));
        return;
    }
    for (int i = 0; i < 20000 && mprof__load_acquire(done) < enough_events; i++)
        usleep(20);
}

static void kill_one(const char *file, uint64_t with) {
    *done = 0;
    unlink(file);
    pid_t child = fork();
    if (child == 0) {
        records = true;
        mprof_set_limit(limit);
        if (mprof_set_heaps(heap == MPROF_LISP_HEAP ? MPROF_HEAP_LISP
                                                    : MPROF_HEAP_MALLOC) == 0 &&
            mprof_start(file) == 0)
            start_over(with, MOST_EVENTS);
        for (;;)
            pause();
    }
    assert_true(child > 0);
    wait_for_child();
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    check_file(file, with, mprof__load_acquire(done));
}

static void what_was_recorded_is_there(void **state) {
    (void)state;
    char file[] = "/tmp/mprof-killed-XXXXXX";
    const char *times = getenv("MPROF_KILLS");
    int fd = mkstemp(file), n = times == NULL ? 300 : atoi(times), some = 0;

    assert_true(fd >= 0);
    close(fd);
    done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                -1, 0);
    expected = calloc(2, sizeof *expected);
    assert_true(done != MAP_FAILED);
    srand(1988);
    for (int i = 0; i < n; i++) {
        heap = i % 2 ? MPROF_C_HEAP : MPROF_LISP_HEAP;
        limit = i % 4 >= 2             ? 1 << 30
                : heap == MPROF_C_HEAP ? 3 << 19
                                       : 512 << 10;
        kill_one(file, (uint64_t)i + 1);
        some += *done > 0 && *done < MOST_EVENTS;
    }
    unlink(file);
    free(expected);
    print_message("%d of %d were killed while they recorded\n", some, n);
    assert_true(some > n / 10);
}

enum { THREADS = 3, SAVES = 10 };

static void *grow(void *number) {
    first_object = (uintptr_t)number << 24;
    start_over((uintptr_t)number, UINT64_MAX);
    return NULL;
}

/* Until chains go to spills, and one was full and has been emptied. */
static void wait_until_full(void) {
    const struct mprof_header *header =
        mprof__arena_header(&mprof__tracked()->arena);
    for (int i = 0; i < 60000 && mprof__load_relaxed(&header->emptied) == 0;
         i++)
        usleep(1000);
    assert_true(mprof__load_relaxed(&header->emptied) > 0);
}

/* While threads add to their trees a copy is one that can be read. */
static void what_is_saved_meanwhile_is_whole(void **state) {
    (void)state;
    char saved[] = "/tmp/mprof-saved-XXXXXX";
    int fd = mkstemp(saved);
    uint64_t nothing;
    assert_true(fd >= 0);
    close(fd);
    done = &nothing;
    records = true;
    limit = 8 << 20;
    for (int round = 0; round < 2; round++) {
        pthread_t threads[THREADS];
        heap = round == 0 ? MPROF_LISP_HEAP : MPROF_C_HEAP;
        mprof_set_limit(limit);
        assert_int_equal(
            mprof_set_heaps(round == 0 ? MPROF_HEAP_LISP : MPROF_HEAP_MALLOC),
            0);
        assert_int_equal(mprof_start(NULL), 0);
        for (uintptr_t i = 0; i < THREADS; i++)
            assert_int_equal(
                pthread_create(&threads[i], NULL, grow, (void *)(i + 1)), 0);
        wait_until_full();
        for (int i = 0; i < SAVES; i++) {
            struct report__pool pool = {0};
            const char *error = NULL;
            assert_int_equal(mprof_save(saved), 0);
            struct report__profile *p = report__read(&pool, saved, &error);
            if (p == NULL)
                print_error("%s\n", error);
            assert_non_null(p);
            assert_false(p->open);
            report__pool_free(&pool);
        }
        mprof__store_release(&enough, 1);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        mprof__store_release(&enough, 0);
        assert_int_equal(mprof_stop(), 0);
        assert_int_equal(mprof_reset(), 0);
    }
    unlink(saved);
    records = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_recorded_is_there),
        cmocka_unit_test(what_is_saved_meanwhile_is_whole),
    };
    return check_result(cmocka_run_group_tests(tests, NULL, NULL));
}
