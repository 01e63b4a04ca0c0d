/* Where only some allocations are recorded, what they stand for has the truth
 * as its mean; and the objects of these are found again. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Its parts, too: what a jump leaves there is made by hand. */
#include "monitor/base/sampled.c"
#include "monitor/heap/sampling.h"

/* How many standard errors a mean may be off: once in two million runs. */
#define FAR 5.0

static void the_exponential_function_is_that(void **state) {
    (void)state;
    mprof__sampling_set(512);
    for (unsigned bit = 0; bit < 38; bit++)
        for (unsigned i = 0; i < 64; i++) {
            uint64_t x =
                ((uint64_t)(64 + i) << bit >> 6) + (i * 2654435761u >> 26);
            if (x == 0)
                x = 1;
            long double wanted = expl(-(long double)x / 0x1p32L) * 0x1p63L;
            long double found = (long double)mprof__exp_minus(x);
            assert_true(fabsl(found - wanted) < 0x1p12L);
            assert_true(found < 0x1p63L);
        }
    assert_int_equal(mprof__exp_minus((uint64_t)1 << 62), 0);
}

static void distances_are_exponential(void **state) {
    enum { MANY = 1000000, STEPS = 8 };
    uint64_t random = 1, beyond[STEPS] = {0};
    double sum = 0, squares = 0;
    (void)state;
    for (int i = 0; i < MANY; i++) {
        double x = (double)mprof__exponential(&random) / 0x1p32;
        sum += x;
        squares += x * x;
        for (int n = 0; n < STEPS; n++)
            beyond[n] += x > n / 2.0;
    }
    assert_true(fabs(sum / MANY - 1) < FAR / sqrt(MANY));
    assert_true(fabs(squares / MANY - 2) < FAR * sqrt(20.0 / MANY));
    for (int n = 0; n < STEPS; n++) {
        double p = exp(-n / 2.0);
        assert_true(fabs((double)beyond[n] / MANY - p) <=
                    FAR * sqrt(p * (1 - p) / MANY));
    }
}

struct sum {
    double allocs, bytes;
    uint64_t recorded;
};

static void add(struct sum *sum, uint64_t bytes) {
    struct mprof_count n;
    if (!mprof__sampled(bytes) || !mprof__sample(bytes, &n))
        return;
    sum->allocs += (double)n.allocs;
    sum->bytes += (double)n.bytes;
    sum->recorded++;
}

/* The standard error is what is promised, and the number of recorded ones what
 * it must be. */
static void the_mean_is_the_truth(void **state) {
    static const uint64_t sizes[] = {1,   8,   16,   24,   100,   511,
                                     512, 700, 1500, 5000, 40000, 1000000};
    static const uint32_t distances[] = {2, 3, 512, 1000, 65536, 1 << 20};
    (void)state;
    for (size_t d = 0; d < sizeof distances / sizeof *distances; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const double bytes = (double)sizes[s], apart = distances[d];
            double allocs = 20000 + 2000 * apart / bytes;
            struct sum sum = {0, 0, 0};
            if (allocs > 4e6)
                continue;
            mprof__sampling_set(distances[d]);
            for (int i = 0; i < (int)allocs; i++)
                add(&sum, sizes[s]);
            allocs = (int)allocs;
            double error = sqrt(allocs * bytes * apart);
            double p = -expm1(-bytes / apart);
            assert_true(fabs(sum.bytes - allocs * bytes) < FAR * error);
            assert_true(fabs(sum.allocs - allocs) < FAR * error / bytes);
            /* Where only some are not recorded, they are not many, but further
             * off than their standard error says (Bernstein's inequality). */
            assert_true(fabs((double)sum.recorded - allocs * p) <=
                        FAR * sqrt(allocs * p * (1 - p)) + FAR * FAR / 3);
            if (bytes > 50 * apart)
                assert_true(sum.bytes == allocs * bytes);
        }
}

static void sizes_do_not_matter_to_each_other(void **state) {
    enum { MANY = 2000000, KINDS = 5 };
    static const uint64_t sizes[KINDS] = {16, 40, 200, 2000, 30000};
    struct sum sums[KINDS] = {{0, 0, 0}};
    double true_allocs[KINDS] = {0};
    uint64_t random = 77;
    (void)state;
    mprof__sampling_set(512);
    for (int i = 0; i < MANY; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        unsigned kind = (unsigned)(random >> 40) % KINDS;
        true_allocs[kind]++;
        add(&sums[kind], sizes[kind]);
    }
    for (int k = 0; k < KINDS; k++) {
        double bytes = true_allocs[k] * (double)sizes[k];
        assert_true(fabs(sums[k].bytes - bytes) < FAR * sqrt(bytes * 512));
    }
}

static void what_is_huge_is_exact(void **state) {
    struct mprof_count n;
    (void)state;
    mprof__sampling_set(1 << 20);
    for (int bit = 31; bit < 48; bit++) {
        uint64_t bytes = ((uint64_t)1 << bit) + 7;
        assert_true(mprof__sampled(bytes));
        assert_true(mprof__sample(bytes, &n));
        assert_int_equal(n.allocs, 1);
        assert_int_equal(n.bytes, bytes);
    }
    mprof__sampling_set(2);
    for (int bit = 31; bit < 48; bit++) {
        assert_true(mprof__sample((uint64_t)1 << bit, &n));
        assert_int_equal(n.allocs, 1);
    }
    struct sum sum = {0, 0, 0};
    for (int i = 0; i < 100; i++)
        add(&sum, MPROF__SAMPLED_HUGE - 1);
    assert_int_equal(sum.recorded, 100);
    assert_true(sum.bytes == 100.0 * (double)(MPROF__SAMPLED_HUGE - 1));
}

/* Those of no bytes are seen as well, and have none. */
static void nothing_is_something(void **state) {
    struct sum sum = {0, 0, 0};
    (void)state;
    mprof__sampling_set(16);
    for (int i = 0; i < 100000; i++)
        add(&sum, 0);
    assert_true(fabs(sum.allocs - 100000) < FAR * sqrt(100000.0 * 16));
    assert_true(sum.bytes == 0);
}

enum { PLACES = 3000 };
static struct mprof__object model[PLACES]; /* counter 0: none */
static struct mprof__past pasts[PLACES];
static size_t visited;

static const void *place(size_t i) {
    return (const void *)(0x7f0000000010 + i * 48);
}

static size_t index_of(const struct mprof__object *object) {
    return ((uintptr_t)object->at - 0x7f0000000010) / 48;
}

static void compare(const struct mprof__object *object,
                    const struct mprof__past *past) {
    size_t i = index_of(object);
    assert_true(i < PLACES && object->at == place(i));
    assert_int_equal(object->counter, model[i].counter);
    assert_int_equal(object->bytes, model[i].bytes);
    assert_int_equal(object->allocs, model[i].allocs);
    assert_int_equal(past->age, pasts[i].age);
    assert_int_equal(past->epoch, pasts[i].epoch);
    visited++;
}

/* Forget every third. */
static bool visit(const struct mprof__object *object, struct mprof__past *past,
                  void *data) {
    size_t i = index_of(object);
    compare(object, past);
    past->age = ++pasts[i].age;
    if (data != NULL && i % 3 == *(const size_t *)data) {
        model[i].counter = 0;
        return false;
    }
    return true;
}

static void objects_are_found_again(void **state) {
    uint64_t random = 99;
    (void)state;
    mprof__sampled_clear();
    mprof__sampled_one(place(0), visit, NULL);
    assert_int_equal(visited, 0);
    for (unsigned step = 0; step < 60000; step++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t i = (size_t)(random >> 33) % PLACES, third = step % 3;
        struct mprof__object fresh = {.counter = step + 1,
                                      .bytes = random >> 20,
                                      .allocs = 1 + (random >> 50)},
                             before;
        struct mprof__past past = {0, (uint8_t)(step % 7)}, old = pasts[i];
        if (step % 10000 == 9999) {
            size_t there = 0;
            visited = 0;
            for (size_t n = 0; n < PLACES; n++)
                there += model[n].counter != 0;
            mprof__sampled_each(visit, &third, step % 20000 == 9999);
            assert_int_equal(visited, there);
        } else if (step % 4 == 0) {
            size_t there = visited + (model[i].counter != 0);
            mprof__sampled_one(place(i), visit, &third);
            assert_int_equal(visited, there);
        } else {
            assert_true(mprof__sampled_put(place(i), fresh, &past, &before));
            assert_int_equal(before.counter, model[i].counter);
            if (before.counter != 0) {
                assert_int_equal(before.bytes, model[i].bytes);
                assert_int_equal(before.allocs, model[i].allocs);
                assert_int_equal(past.age, old.age);
                assert_int_equal(past.epoch, old.epoch);
            }
            model[i] = fresh;
            pasts[i] = (struct mprof__past){0, (uint8_t)(step % 7)};
        }
    }
    assert_true(mprof__sampled_memory() < PLACES * 100 + 64 * 4096);
    mprof__sampled_clear();
    assert_int_equal(mprof__sampled_memory(), 0);
    visited = 0;
    mprof__sampled_each(visit, NULL, true);
    assert_int_equal(visited, 0);
}

static size_t shown[2]; /* with counters 77, and others */

static bool tell(const struct mprof__object *object, struct mprof__past *past,
                 void *data) {
    (void)past, (void)data;
    assert_non_null(object->at);
    shown[object->counter != 77]++;
    return true;
}

/* An entry that was taken out, or made, when a handler jumped out of the hook,
 * stays out, also when the table grows. */
static void what_a_jump_loses_stays_lost(void **state) {
    enum { MANY = 20000 };
    struct mprof__object object = {.counter = 77, .bytes = 5, .allocs = 1},
                         before;
    struct mprof__past past = {0, 0};
    (void)state;
    mprof__sampled_clear();
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *shard = &shards[i];
        size_t k = 0;
        while (shard_of(place(k)) != shard)
            k++;
        object.counter = 77;
        assert_true(mprof__sampled_put(place(k), object, &past, &before));
        uint32_t *link = link_to(shard->table, place(k));
        *link = shard->table->entries[*link].next;
        assert_true(unused(shard) != 0);
    }
    object.counter = 1;
    for (size_t i = 0; i < MANY; i++)
        assert_true(
            mprof__sampled_put(place(PLACES + i), object, &past, &before));
    assert_true(mprof__sampled_each(tell, NULL, false));
    assert_int_equal(shown[0], 0);
    assert_int_equal(shown[1], MANY);
    /* A lock that is never given back is not waited for. */
    mprof__lock(&shards[0].lock);
    assert_false(mprof__sampled_each(tell, NULL, false));
    mprof__unlock(&shards[0].lock);
    assert_true(mprof__sampled_each(tell, NULL, false));
    mprof__sampled_clear();
}

/* A child has its own, and draws something else. */
static void a_child_begins_anew(void **state) {
    struct mprof__object object = {.counter = 1, .bytes = 5, .allocs = 1},
                         before;
    struct mprof__past past = {0, 0};
    int status = 1;
    (void)state;
    mprof__sampling_set(512);
    struct sum sum = {0, 0, 0};
    for (int i = 0; i < 1000; i++)
        add(&sum, 100);
    assert_true(mprof__sampled_put(place(1), object, &past, &before));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        mprof__sampling_forked();
        bool anew = mprof__sampler.random == 0 && mprof__sampler.left == 0;
        mprof__sampled_forked(true);
        bool stays = mprof__sampled_memory() > 0;
        mprof__sampled_forked(false);
        bool goes = mprof__sampled_memory() == 0;
        goes = goes && mprof__sampled_put(place(1), object, &past, &before) &&
               before.counter == 0;
        _exit(anew && stays && goes ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    mprof__sampled_clear();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exponential_function_is_that),
        cmocka_unit_test(distances_are_exponential),
        cmocka_unit_test(the_mean_is_the_truth),
        cmocka_unit_test(sizes_do_not_matter_to_each_other),
        cmocka_unit_test(what_is_huge_is_exact),
        cmocka_unit_test(nothing_is_something),
        cmocka_unit_test(objects_are_found_again),
        cmocka_unit_test(what_a_jump_loses_stays_lost),
        cmocka_unit_test(a_child_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
