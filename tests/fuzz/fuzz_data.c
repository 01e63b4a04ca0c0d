/* fuzz_data.c - the command, with a data file.
 *
 * The first byte says how: which tables, export, page, difference or limits,
 * and what is made right first, so that what comes after the first checks is
 * reached, too; a diff is that of the file with itself.  Then come FUZZ_FIELDS
 * bytes of the header, without the zeros that fill it up, and the records.
 * Modules may be ./module.so, which is in the working folder.
 */
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "monitor/format/format.h"
#include "report/command/command.h"

enum {
    TABLES = 7,
    CLOSED = 8,
    WITH_PROGRAM = 16,
    AS_IT_IS = 32,
    EXPORT = 64,
    OTHER = 128,
    MORE = OTHER | EXPORT
};
enum { MOST_OPTIONS = 5, EXCEEDED = 3 };

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

static char *const others[TABLES + 1][MOST_OPTIONS] = {
    {"html"},
    {"html", "--nodes=4", "--all-frames", "--depth=3"},
    {"--table=paths,tree", "--focus=m", "--ignore=q", "--verbose"},
    {"--table=tree,direct", "--inverted", "--only=o", "--limit-rows=2"},
    {"diff", "--verbose", "--by=chain", "--depth=2"},
    {"diff", "--verbose", "--by=line", "--all-frames"},
    {"diff", "--format=html", "--normalize=2.5"},
    {"diff", "--verbose", "--by=type", "--fail-on-growth=1%"}};

static char *const by_type[][MOST_OPTIONS] = {
    {"--table=bins,types,graph,direct", "--type=x", "--all-frames"},
    {"--table=types", "--type=structure,cons", "--threads", "--verbose"},
    {"html", "--type=x"},
    {"export", "--format=json", "--heap=lisp", "--type=x"}};

static char *const checks[][MOST_OPTIONS] = {
    {"check", "--max-bytes=0", "--max=m:peak=0", "--heap=c"},
    {"check", "--max-allocs=0", "--verbose", "--heap=lisp"},
    {"check", "--max=a:kept=1", "--max=q:allocs=0", "--format=junit"},
    {"check", "--max=m:self-kept=0", "--format=tap", "--all-frames"}};
enum { CHECKS = 3 };

/* Of the file and a copy of it, as one report. */
static char *const together[][MOST_OPTIONS] = {
    {"--verbose", "--threads", "--by=line"},
    {"--terse", "--by=site", "--color=always", "--limit-rows=3"},
    {"export", "--format=json", "--heap=c"},
    {"list"}};

_Static_assert(sizeof(struct mprof_header) <= FUZZ_FIELDS, "more fields");

/* The file that DATA stands for; *SIZE is its size. */
static unsigned char *make_file(const uint8_t *data, size_t *size) {
    const size_t fields = FUZZ_FIELDS;
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
                const char *path, const char *copy) {
    char *argv[MOST_OPTIONS + 6] = {(char[]){"mprof"}};
    struct fuzz_text out, err;
    const bool is_check = strcmp(*chosen, "check") == 0;
    const bool is_diff = strcmp(*chosen, "diff") == 0;
    const bool is_list = strcmp(*chosen, "list") == 0;
    const bool is_same = is_diff && strcmp(chosen[1], "--verbose") == 0;
    int argc = 1;
    while (*chosen)
        argv[argc++] = *chosen++;
    for (int i = 0; i <= is_diff; i++) {
        if (program)
            argv[argc++] = (char *)(uintptr_t)program;
        argv[argc++] = (char *)(uintptr_t)path;
    }
    if (copy)
        argv[argc++] = (char *)(uintptr_t)copy;
    fuzz_open(&out);
    fuzz_open(&err);
    int status = report__main(argc, argv, out.stream, err.stream);
    fuzz_close(&out);
    fuzz_close(&err);
    /* A file may look like a program: then there is no data. */
    FUZZ_EXPECT(status == 0 || status == 1 || (is_diff && status == 2) ||
                (is_check && status == EXCEEDED));
    /* `mprof list` has a line for each. */
    bool is_told = status == 1 || status == 2;
    fuzz_expect_lines(&err, is_list ? 2 * status : is_told);
    FUZZ_EXPECT(!is_same || status != 0 ||
                strstr(out.text, "\nNothing changed.\n"));
    if (is_text)
        fuzz_expect_visible(&out);
    fuzz_free(&out);
    fuzz_free(&err);
}

static const char *copy_of(const unsigned char *file, size_t size) {
    static const char name[] = "copy.data";
    FILE *out = fopen(name, "w");
    FUZZ_EXPECT(out && fwrite(file, 1, size, out) == size && !fclose(out));
    return name;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    uint8_t how = data[0];
    size--;
    unsigned char *file = make_file(data + 1, &size);
    if (!(how & AS_IT_IS))
        make_right(file, &size, how & CLOSED);
    const char *path = fuzz_file(file, size), *copy = NULL;
    const unsigned table = how & TABLES;
    if ((how & MORE) == MORE && table > CHECKS)
        copy = copy_of(file, size);
    free(file);
    const bool is_typed = how & OTHER && how & WITH_PROGRAM && table > CHECKS;
    char *const *chosen = copy                   ? together[table & CHECKS]
                          : (how & MORE) == MORE ? checks[table]
                          : is_typed             ? by_type[table & CHECKS]
                          : how & OTHER          ? others[table]
                          : how & EXPORT         ? exports[table]
                                                 : options[table];
    /* Not pprof's, and no colours. */
    bool is_text =
        chosen != exports[2] && chosen != exports[3] && chosen != together[1];
    bool with_program = how & WITH_PROGRAM && chosen != together[3];
    run(chosen, is_text, with_program ? "./module.so" : NULL, path, copy);
    if (copy)
        unlink(copy);
    return 0;
}
