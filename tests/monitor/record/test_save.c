/* test_save.c - copies of the data file, made while threads count on. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "monitor/include/mprof.h"
#include "monitor/record/place.h"

/* Of objects that nobody allocates. */
static void __attribute__((noinline, optimize("no-omit-frame-pointer")))
allocate(uintptr_t n, uint64_t bytes) {
    mprof__c_allocated((const void *)(0x7f0000000000 + n * 16), bytes,
                       __builtin_frame_address(0));
    __asm__ volatile("" ::: "memory"); /* no tail call */
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

/* A counter of which the frees are counted on another page than what was
 * allocated. */
static struct mprof_c_counter *torn;
static char *page[2];
static size_t page_bytes;

static void look_in(struct mprof_block *block) {
    struct mprof_c_counter *counter = (void *)(block + 1);
    for (uint32_t i = 0; i < block->count; i++, counter++) {
        char *freed = (char *)&counter->freed,
             *at = freed - (uintptr_t)freed % page_bytes;
        if ((char *)&counter->allocated < at) {
            torn = counter;
            page[0] = at - page_bytes;
            page[1] = at;
        }
    }
}

static void find_torn(void) {
    struct mprof__arena *arena = &mprof__tracked()->arena;
    uint64_t used = mprof__arena_header(arena)->used;
    struct mprof_record *record;
    for (uint64_t at = MPROF_HEADER_BYTES; at < used; at += record->bytes) {
        record = (void *)(arena->base + at);
        if (record->type == MPROF_COUNTERS)
            look_in((struct mprof_block *)record);
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
    torn->allocated++;
    torn->freed++;
    accesses++;
    protect(!which, PROT_NONE);
}

static int save(const char *path) {
    struct sigaction action = {.sa_sigaction = is_read, .sa_flags = SA_SIGINFO},
                     old;
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
static struct mprof_c_counter read_torn(const char *path) {
    struct mprof_c_counter copy;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, (char *)torn - mprof__tracked()->arena.base, SEEK_SET);
    assert_int_equal(fread(&copy, 1, sizeof copy, file), sizeof copy);
    fclose(file);
    return copy;
}

static void no_more_is_freed_than_was_allocated(void **state) {
    char path[] = "/tmp/mprof-copy-XXXXXX";
    (void)state;
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(mprof_set_heaps(MPROF_HEAP_MALLOC), 0);
    assert_int_equal(mprof_start(NULL), 0);
    for (int i = 0; i < 400; i++)
        allocate_at(i, (uintptr_t)i * 10);
    find_torn();
    assert_non_null(torn);
    torn->freed = torn->allocated;
    close(mkstemp(path));
    int error = save(path);
    struct mprof_c_counter copy = read_torn(path);
    unlink(path);
    assert_int_equal(error, 0);
    assert_true(accesses > 3);
    assert_true(copy.freed > 0);
    assert_true(copy.freed <= copy.allocated);
    assert_int_equal(mprof_stop(), 0);
    assert_int_equal(mprof_reset(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_is_freed_than_was_allocated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
