/* mprof_test.h - limits on what a block of C or C++ allocates, for tests.
 *
 *     MPROF_ASSERT_NO_ALLOC {
 *         parser_step(&parser);
 *     }
 *     MPROF_ASSERT_MAX(4096, 1) {
 *         table = table_new();
 *     }
 *
 * The block counts this thread's requests to malloc() and its relatives
 * exactly, and no other thread's.  If they exceed the limits, bytes and
 * allocations, one line on standard error says so, followed by the chains that
 * allocated in the block.  The recording is saved to mprof-test.FILE-LINE.data
 * in the current folder, and the program exits with 1.  If
 * mprof_test_on_failure is set, it is called instead.
 *
 * The program is run by `mprof run`, or linked with -lmprof_malloc; else there
 * is nothing to count by, and at its first such block the program exits with
 * 77, which says "skipped" to automake and meson.  If mprof_test_on_skip is set
 * that is called instead; when it returns, the block runs without a limit.
 *
 * The block is judged when it ends, and also when it is left by break,
 * continue (both leave the block alone), return or goto.  It is not when it is
 * left by a C++ exception, longjmp(), exit() or the end of the thread; after
 * longjmp() some memory of the monitor is not given back.  Blocks may be
 * nested: the outer one includes the allocations of the inner one.
 *
 * The functions may leave by longjmp() or throw, like functions of test
 * frameworks: cmocka's fail() and skip(), for instance.  MESSAGE is one line
 * without a newline.
 *
 *     static void failed(const char *message) { fail_msg("%s", message); }
 *     ...
 *     mprof_test_on_failure = failed;
 */
#ifndef MPROF_TEST_H
#define MPROF_TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mprof.h>

#ifdef __cplusplus
#include <exception>
extern "C" {
#endif

#define MPROF_TEST_ROWS 10 /* chains that are printed */

/* One variable for the whole program, whatever files include this. */
__attribute__((weak)) void (*mprof_test_on_failure)(const char *message);
__attribute__((weak)) void (*mprof_test_on_skip)(const char *message);

/* Programs that are not linked with the monitor find it, if it was loaded. */
#pragma weak mprof_scope_begin
#pragma weak mprof_scope_end
#pragma weak mprof_scope_free
#pragma weak mprof_scope_print
#pragma weak mprof_save
#pragma weak mprof_strerror
extern void *dlsym(void *handle, const char *name)
#ifdef __cplusplus
    __THROW
#endif
    ;

/* A block that runs. */
struct mprof_test_block {
    const char *file;
    int line;
    int runs; /* 1 until its end */
    int is_counted;
    uint64_t max_bytes, max_allocs;
    struct mprof_scope scope;
};

struct mprof_test_functions {
    int (*begin)(struct mprof_scope *scope, unsigned heaps);
    int (*end)(struct mprof_scope *scope);
    void (*free)(struct mprof_scope *scope);
    int (*print)(const struct mprof_scope *scope, unsigned rows);
    int (*save)(const char *file);
};

/* Where the code of a program does not ask for addresses by a table, the linker
 * takes a function that is not there for one that will never be. */
#define MPROF_TEST_FIND(functions, member, name)                               \
    do {                                                                       \
        void *mprof_test_found = NULL;                                         \
        (functions)->member = name;                                            \
        if ((functions)->member == NULL) {                                     \
            mprof_test_found = dlsym(NULL, #name);                             \
            memcpy(&(functions)->member, &mprof_test_found,                    \
                   sizeof mprof_test_found);                                   \
        }                                                                      \
    } while (0)

static inline bool mprof_test_find(struct mprof_test_functions *functions) {
    MPROF_TEST_FIND(functions, begin, mprof_scope_begin);
    MPROF_TEST_FIND(functions, end, mprof_scope_end);
    MPROF_TEST_FIND(functions, free, mprof_scope_free);
    MPROF_TEST_FIND(functions, print, mprof_scope_print);
    MPROF_TEST_FIND(functions, save, mprof_save);
    return functions->begin != NULL && functions->end != NULL &&
           functions->free != NULL && functions->print != NULL &&
           functions->save != NULL;
}

static inline void mprof_test_skip(const struct mprof_test_block *block,
                                   const char *why) {
    char line[512];
    snprintf(line, sizeof line, "%.300s:%d: skipped: %s", block->file,
             block->line, why);
    if (mprof_test_on_skip != NULL) {
        mprof_test_on_skip(line);
        return;
    }
    fprintf(stderr, "mprof: %s\n", line);
    exit(77);
}

static inline struct mprof_test_block mprof_test_enter(const char *file,
                                                       int line,
                                                       uint64_t max_bytes,
                                                       uint64_t max_allocs) {
    struct mprof_test_functions functions;
    struct mprof_test_block block = {file,      line,       1,           0,
                                     max_bytes, max_allocs, {0, 0, NULL}};
    if (!mprof_test_find(&functions))
        mprof_test_skip(&block, "malloc() is not seen: run this by `mprof run`,"
                                " or link it with -lmprof_malloc");
    else if (functions.begin(&block.scope, MPROF_HEAP_MALLOC) != 0)
        mprof_test_skip(&block, "nothing is recorded");
    else
        block.is_counted = 1;
    return block;
}

/* Say that BLOCK has allocated too much, by LINE, and by which chains. */
static inline void
mprof_test_report(const struct mprof_test_functions *functions,
                  const struct mprof_test_block *block, const char *line) {
    char data[512];
    const char *slash = strrchr(block->file, '/');
    snprintf(data, sizeof data, "mprof-test.%.300s-%d.data",
             slash == NULL ? block->file : slash + 1, block->line);
    int unsaved = functions->save(data);
    fprintf(stderr, "mprof: %s\n", line);
    fflush(stderr);
    if (functions->print(&block->scope, MPROF_TEST_ROWS) != 0)
        fputs("mprof: the chains cannot be printed: there is no command mprof;"
              " MPROF_COMMAND names it\n",
              stderr);
    if (unsaved)
        fprintf(stderr, "mprof: %s cannot be written\n", data);
    else
        fprintf(stderr, "mprof: all that is recorded so far is in %s\n", data);
}

/* BLOCK has ended, or is left before its end; the second time does nothing. */
static inline void mprof_test_judge(struct mprof_test_block *block) {
    struct mprof_test_functions functions;
    char line[768];
    block->runs = 0;
    if (!block->is_counted || !mprof_test_find(&functions))
        return;
    block->is_counted = 0;
    if (functions.end(&block->scope) != 0) {
        functions.free(&block->scope);
        mprof_test_skip(block, "what is recorded was stopped, or begun anew, in"
                               " this block");
        return;
    }
    unsigned long long bytes = block->scope.bytes, allocs = block->scope.allocs;
    bool failed = bytes > block->max_bytes || allocs > block->max_allocs;
    int length = snprintf(
        line, sizeof line, "%.300s:%d: %llu bytes in %llu allocation%s",
        block->file, block->line, bytes, allocs, allocs == 1 ? "" : "s");
    if (block->max_bytes == 0 && block->max_allocs == 0)
        snprintf(line + length, sizeof line - (size_t)length,
                 " in a block that may allocate nothing");
    else
        snprintf(line + length, sizeof line - (size_t)length,
                 " in a block that may have %llu in %llu",
                 (unsigned long long)block->max_bytes,
                 (unsigned long long)block->max_allocs);
    if (failed)
        mprof_test_report(&functions, block, line);
    functions.free(&block->scope);
    if (!failed)
        return;
    if (mprof_test_on_failure == NULL)
        exit(1);
    mprof_test_on_failure(line);
}

#define MPROF_TEST_JOIN(a, b) a##b
#define MPROF_TEST_NAME(number) MPROF_TEST_JOIN(mprof_test_block_, number)

#ifdef __cplusplus
}

struct mprof_test_guard {
    struct mprof_test_block block;
    int exceptions;

    static int thrown() {
#if __cplusplus >= 201703L
        return std::uncaught_exceptions();
#else
        return std::uncaught_exception();
#endif
    }
    mprof_test_guard(const char *file, int line, uint64_t bytes,
                     uint64_t allocs)
        : block(mprof_test_enter(file, line, bytes, allocs)),
          exceptions(thrown()) {
    }
    mprof_test_guard(const mprof_test_guard &) = delete;
    mprof_test_guard &operator=(const mprof_test_guard &) = delete;
    ~mprof_test_guard() noexcept(false) {
        struct mprof_test_functions functions;
        if (!block.is_counted)
            return;
        if (thrown() <= exceptions)
            mprof_test_judge(&block);
        else if (mprof_test_find(&functions))
            functions.free(&block.scope);
    }
};

#define MPROF_TEST_BLOCK(guard, bytes, allocs)                                 \
    for (mprof_test_guard guard(__FILE__, __LINE__, (bytes), (allocs));        \
         guard.block.runs; mprof_test_judge(&guard.block))
#else
#define MPROF_TEST_BLOCK(name, bytes, allocs)                                  \
    for (struct mprof_test_block name                                          \
         __attribute__((cleanup(mprof_test_judge))) =                          \
             mprof_test_enter(__FILE__, __LINE__, (bytes), (allocs));          \
         name.runs; mprof_test_judge(&name))
#endif

/* The block that follows may allocate no more than so many bytes, in no more
 * than so many allocations; UINT64_MAX is no limit. */
#define MPROF_ASSERT_MAX(bytes, allocs)                                        \
    MPROF_TEST_BLOCK(MPROF_TEST_NAME(__COUNTER__), bytes, allocs)

/* It may allocate nothing. */
#define MPROF_ASSERT_NO_ALLOC MPROF_ASSERT_MAX(0, 0)

#endif
