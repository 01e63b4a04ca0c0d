/* fuzz_data.c - the command, with a data file.
 *
 * The first byte says how: which tables, export or page, and what is made right
 * first, so that what comes after the first checks is reached, too.  Then come
 * the fields of the header, without the zeros that fill it up, and the records.
 * Modules may be ./module.so, which is in the working folder.
 */
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "monitor/format/format.h"
#include "report/command/command.h"

enum {
    TABLES = 7,
    CLOSED = 8,
    WITH_PROGRAM = 16,
    AS_IT_IS = 32,
    EXPORT = 64,
    OTHER = 128
};
enum { MOST_OPTIONS = 5 };

static char *const options[TABLES + 1][MOST_OPTIONS] = {
    {"--verbose"},
    {"--verbose", "--all-frames", "--threads"},
    {"--verbose", "--offsets", "--inlines"},
    {"--sexp"},
    {"--sexp", "--all-frames"},
    {"--inlines", "--all-frames", "--leak-depth=0", "--threads"},
    {"--terse", "--heap=c"},
    {"--leak-depth=2"}};

static char *const exports[TABLES + 1][MOST_OPTIONS] = {
    {"export", "--format=folded", "--heap=c", "--depth=0"},
    {"export", "--format=emacs", "--heap=lisp", "--all-frames"},
    {"export", "--format=pprof", "--heap=c", "--depth=2"},
    {"export", "--format=pprof", "--heap=lisp", "--no-lines"},
    {"export", "--format=speedscope", "--heap=c"},
    {"export", "--format=callgrind", "--heap=lisp"},
    {"export", "--format=dhat", "--heap=c", "--all-frames"},
    {"export", "--format=json", "--heap=c"}};

static char *const others[4][MOST_OPTIONS] = {
    {"html"},
    {"html", "--nodes=4", "--all-frames", "--depth=3"},
    {"--table=paths,tree", "--focus=m", "--ignore=q", "--verbose"},
    {"--table=tree,direct", "--inverted", "--only=o", "--limit-rows=2"}};

/* The file that DATA stands for; *SIZE is its size. */
static unsigned char *make_file(const uint8_t *data, size_t *size) {
    const size_t fields = sizeof(struct mprof_header);
    size_t whole = *size > fields ? *size - fields + MPROF_HEADER_BYTES : *size;
    unsigned char *file = calloc(1, whole + 1);
    FUZZ_EXPECT(file);
    memcpy(file, data, *size > fields ? fields : *size);
    if (*size > fields)
        memcpy(file + MPROF_HEADER_BYTES, data + fields, *size - fields);
    *size = whole;
    return file;
}

/* The size and the check sum are those that the header should have. */
static void make_right(unsigned char *file, size_t *size, bool closed) {
    struct mprof_header *header = (struct mprof_header *)file;
    if (*size < MPROF_HEADER_BYTES)
        return;
    *size -= *size % 8;
    header->used = *size;
    header->state = closed ? MPROF_CLOSED : MPROF_OPEN;
    header->crc = 0;
    if (closed)
        header->crc = (uint32_t)crc32(0, file, (uInt)*size);
}

static void run(char *const *chosen, bool is_text, const char *program,
                const char *path) {
    char *argv[MOST_OPTIONS + 4] = {(char[]){"mprof"}};
    struct fuzz_text out, err;
    int argc = 1;
    while (*chosen)
        argv[argc++] = *chosen++;
    if (program)
        argv[argc++] = (char *)(uintptr_t)program;
    argv[argc++] = (char *)(uintptr_t)path;
    fuzz_open(&out);
    fuzz_open(&err);
    int status = report__main(argc, argv, out.stream, err.stream);
    fuzz_close(&out);
    fuzz_close(&err);
    FUZZ_EXPECT(status == 0 || status == 1);
    fuzz_expect_lines(&err, status);
    if (is_text)
        fuzz_expect_visible(&out);
    fuzz_free(&out);
    fuzz_free(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    uint8_t how = data[0];
    size--;
    unsigned char *file = make_file(data + 1, &size);
    if (!(how & AS_IT_IS))
        make_right(file, &size, how & CLOSED);
    const char *path = fuzz_file(file, size);
    free(file);
    char *const *chosen = how & OTHER    ? others[how & 3]
                          : how & EXPORT ? exports[how & TABLES]
                                         : options[how & TABLES];
    bool is_text = chosen != exports[2] && chosen != exports[3]; /* pprof's */
    run(chosen, is_text, how & WITH_PROGRAM ? "./module.so" : NULL, path);
    return 0;
}
