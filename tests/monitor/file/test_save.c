/* test_save.c - copies of the data file, made while threads count on. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "monitor/include/mprof.h"
#include "monitor/tree/c_counter.h"
#include "monitor/record/find_counter.h"
#include "monitor/record/session.h"

/* Of objects that nobody allocates. */
static void __attribute__((noinline, optimize("no-omit-frame-pointer")))
allocate(uintptr_t n, uint64_t bytes) {
    mprof__c_allocated((const void *)(0x7f0000000000 + n * 32), bytes,
                       __builtin_frame_address(0));
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

/* ... all at one place. */
static void __attribute__((noinline)) allocate_here(uintptr_t n) {
    allocate(n, 100);
    __asm__ volatile("" ::: "memory");
}

/* An object in each class. */
static void __attribute__((noinline)) allocate_at(int depth, uintptr_t n) {
    if (depth > 0)
        allocate_at(depth - 1, n);
    else
        for (unsigned i = 0; i < MPROF_CLASSES; i++)
            allocate(n + i, (uint64_t)1 << 4 * i);
    __asm__ volatile("" ::: "memory");
}

/* What was allocated of something, and what was freed of it, on another page.
 */
static uint64_t *allocated, *freed;
static char *page[2];
static size_t page_bytes;

/* The page of WHAT. */
static char *page_of(const void *what) {
    return (char *)what - (uintptr_t)what % page_bytes;
}

static struct mprof_record *next_record(struct mprof_record *record) {
    struct mprof__arena *arena = &mprof__tracked()->arena;
    char *next = record == NULL ? arena->base + MPROF_HEADER_BYTES
                                : (char *)record + record->bytes;
    uint64_t used = mprof__arena_header(arena)->used;
    return next < arena->base + used ? (struct mprof_record *)next : NULL;
}

/* The last of TYPE. */
static void *last_record(uint32_t type) {
    struct mprof_record *record = NULL, *last = NULL;
    while ((record = next_record(record)) != NULL)
        if (record->type == type)
            last = record;
    assert_non_null(last);
    return last;
}

static void look_for_torn_counter(void) {
    struct mprof_record *record = NULL;
    while ((record = next_record(record)) != NULL) {
        struct mprof_block *block = (struct mprof_block *)record;
        struct mprof_c_counter *counter = (void *)(block + 1);
        for (uint32_t i = 0; record->type == MPROF_COUNTERS && i < block->count;
             i++, counter++)
            if (page_of(&counter->allocated) != page_of(&counter->freed) &&
                !mprof__c_counter_is_wide(counter)) {
                allocated = &counter->allocated;
                freed = &counter->freed;
            }
    }
}

static unsigned accesses;

static void protect(unsigned which, int how) {
    mprotect(page[which], page_bytes, how);
}

/* Between reading the one page and the other, another thread allocates there
 * and frees. */
static void is_read(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    unsigned which = (char *)info->si_addr >= page[1];
    protect(which, PROT_READ | PROT_WRITE);
    protect(!which, PROT_READ | PROT_WRITE);
    ++*allocated;
    ++*freed;
    accesses++;
    protect(!which, PROT_NONE);
}

static int save(const char *path) {
    struct sigaction action = {.sa_sigaction = is_read, .sa_flags = SA_SIGINFO},
                     old;
    bool up = page_of(allocated) < page_of(freed);
    page[0] = up ? page_of(allocated) : page_of(freed);
    page[1] = up ? page_of(freed) : page_of(allocated);
    sigaction(SIGSEGV, &action, &old);
    protect(0, PROT_NONE);
    protect(1, PROT_NONE);
    int error = mprof_save(path);
    protect(0, PROT_READ | PROT_WRITE);
    protect(1, PROT_READ | PROT_WRITE);
    sigaction(SIGSEGV, &old, NULL);
    return error;
}

/* What the copy PATH has of it. */
static uint64_t read_copy(const char *path, const uint64_t *at) {
    uint64_t copy;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, (const char *)at - mprof__tracked()->arena.base, SEEK_SET);
    assert_int_equal(fread(&copy, sizeof copy, 1, file), 1);
    fclose(file);
    return copy;
}

static void check_copy(void) {
    char path[] = "/tmp/mprof-copy-XXXXXX";
    close(mkstemp(path));
    accesses = 0;
    int error = save(path);
    uint64_t more = read_copy(path, allocated), less = read_copy(path, freed);
    unlink(path);
    assert_int_equal(error, 0);
    assert_true(accesses > 3);
    assert_true(less > 0);
    assert_true(less <= more);
}

static int begin(void **state) {
    (void)state;
    allocated = freed = NULL;
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(mprof_set_heaps(MPROF_HEAP_MALLOC), 0);
    assert_int_equal(mprof_start(NULL), 0);
    return 0;
}

static int end(void **state) {
    (void)state;
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_reset(), 0);
    return 0;
}

static void no_more_is_freed_than_was_allocated(void **state) {
    (void)state;
    /* Where pages begin is chance. */
    for (int i = 0; i < 400 || (allocated == NULL && i < 1000); i++) {
        allocate_at(i, (uintptr_t)i * 10);
        if (i >= 399)
            look_for_torn_counter();
    }
    assert_non_null(allocated);
    *freed = *allocated;
    check_copy();
}

static void *release(void *unused) {
    (void)unused;
    mprof__c_release((const void *)(0x7f0000000000 + 32));
    return NULL;
}

/* What another thread frees comes before the numbers that it is freed of also
 * where these lie behind it. */
static void not_of_wide_numbers_either(void **state) {
    pthread_t thread;
    (void)state;
    for (volatile uintptr_t i = 1; i < 3; i++) /* from one place */
        allocate_here(i);
    assert_int_equal(pthread_create(&thread, NULL, release, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    struct mprof_freed *other = last_record(MPROF_FREED);
    for (int i = 0; i < 400; i++)
        allocate_at(i, 100 + (uintptr_t)i * 10);
    struct mprof__session *session = mprof__tracked();
    struct mprof_c_counter *counter =
        mprof__arena_at(&session->arena, other->counter);
    assert_true(mprof__c_counter_widen(&session->arena, counter));
    struct mprof_c_wide *wide = last_record(MPROF_C_WIDE);
    assert_int_equal(wide->number.allocated.allocs, 2);
    allocated = &wide->number.allocated.allocs;
    freed = &other->freed.allocs;
    assert_true(page_of(freed) < page_of(allocated));
    *freed = *allocated;
    check_copy();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_more_is_freed_than_was_allocated,
                                        begin, end),
        cmocka_unit_test_setup_teardown(not_of_wide_numbers_either, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
