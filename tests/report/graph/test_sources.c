/* test_sources.c - lines of Lisp functions in their source files. */
#define _GNU_SOURCE
#include "tests/support/parsed.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/graph/call_sites.h"

static char folder[] = "/tmp/mprof-XXXXXX";
static char path[64];
static uint64_t recorded = UINT64_MAX / 2; /* when it was */

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/x.lsp", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void put(const char *text, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), size);
    close(fd);
}

/* The line of a function at POSITION of the file, and of another one that is
 * further on. */
static uint32_t line_at(struct fixture *f, int64_t position) {
    datafile_free(&f->file);
    datafile_start(&f->file);
    datafile_lisp(&f->file, "PLAIN");
    mprof_ref other = datafile_lisp(&f->file, "OTHER");
    mprof_ref lisp = datafile_lisp(&f->file, "F");
    datafile_source(&f->file, other, path, 1 << 30);
    datafile_source(&f->file, lisp, path, position);
    datafile_header(&f->file)->recorded = recorded;
    struct report__profile *p = parse(f);
    assert_non_null(p);
    const struct report__place *places = report__find_sources(&f->pool, p);
    assert_null(places[0].file);
    assert_string_equal(places[1].file, path);
    assert_int_equal(places[1].line, 0);
    assert_string_equal(places[2].file, path);
    return places[2].line;
}

static void a_form_begins_behind_blanks_and_comments(void **state) {
    struct fixture *f = *state;
    put("\n\n(a)", 5);
    assert_int_equal(line_at(f, 0), 3);
    put("(a)\n(b)\n", 8);
    assert_int_equal(line_at(f, 0), 1);
    assert_int_equal(line_at(f, 3), 2);
    assert_int_equal(line_at(f, 4), 2);
    assert_int_equal(line_at(f, 7), 0);
    put("(a) ; one\n; two\n\t\r\n  (b)\n", 25);
    assert_int_equal(line_at(f, 3), 4);
    put("#|\n #| |# \n|#\n(b) #\n", 21);
    assert_int_equal(line_at(f, 0), 4);
    put("#| |#|\n", 7);
    assert_int_equal(line_at(f, 0), 1);
    put("#|\n #| |# \n", 11);
    assert_int_equal(line_at(f, 0), 0);
    put("#|# (a) |#\n(b)", 14);
    assert_int_equal(line_at(f, 0), 2);
    put("#\n|", 3);
    assert_int_equal(line_at(f, 0), 1);
    put("; none", 6);
    assert_int_equal(line_at(f, 0), 0);
    put("\0\n(a)", 5);
    assert_int_equal(line_at(f, 0), 1);
    assert_int_equal(line_at(f, 1), 2);
}

static void what_is_no_source_has_no_line(void **state) {
    struct fixture *f = *state;
    put("(a)\n", 4);
    assert_int_equal(line_at(f, MPROF_NO_POSITION), 0);
    assert_int_equal(line_at(f, INT64_MAX), 0);
    put("", 0);
    assert_int_equal(line_at(f, 0), 0);
    /* As large as no source is. */
    put("(a)\n", 4);
    assert_int_equal(truncate(path, (16 << 20) + 1), 0);
    assert_int_equal(line_at(f, 0), 0);
    assert_int_equal(truncate(path, 16 << 20), 0);
    assert_int_equal(line_at(f, 0), 1);
    unlink(path);
    assert_int_equal(line_at(f, 0), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(line_at(f, 0), 0);
    rmdir(path);
    /* Nobody writes to it. */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(line_at(f, 0), 0);
    unlink(path);
    assert_int_equal(symlink("/dev/zero", path), 0);
    assert_int_equal(line_at(f, 0), 0);
    unlink(path);
}

static void what_has_changed_has_no_line(void **state) {
    struct fixture *f = *state;
    struct stat status;
    put("(a)\n", 4);
    assert_int_equal(stat(path, &status), 0);
    uint64_t ns = (uint64_t)status.st_mtim.tv_sec * 1000000000u +
                  (uint64_t)status.st_mtim.tv_nsec;
    recorded = ns;
    assert_int_equal(line_at(f, 0), 1);
    recorded = ns - 1;
    assert_int_equal(line_at(f, 0), 0);
    recorded = UINT64_MAX / 2;
}

/* One file that is asked for under many names is read no more than others. */
static void there_is_an_end_to_reading(void **state) {
    enum { MANY = 20 };
    struct fixture *f = *state;
    char other[96];
    mprof_ref lisp[MANY];
    uint32_t lines = 0;
    put("(a)\n", 4);
    assert_int_equal(truncate(path, 16 << 20), 0);
    for (int i = 0; i < MANY; i++)
        lisp[i] = datafile_lisp(&f->file, "F");
    for (int i = 0; i < MANY; i++) {
        snprintf(other, sizeof other, "%s/%.*sx.lsp", folder, 2 * i,
                 "././././././././././././././././././././");
        datafile_source(&f->file, lisp[i], other, 0);
    }
    datafile_header(&f->file)->recorded = recorded;
    struct report__profile *p = parse(f);
    assert_non_null(p);
    const struct report__place *places = report__find_sources(&f->pool, p);
    for (int i = 0; i < MANY; i++)
        lines += places[i].line;
    assert_int_equal(lines, 16);
}

/* As it is of what many functions have in common. */
static void there_is_an_end_to_blanks(void **state) {
    enum { MANY = 1000, BLANKS = 1 << 20 };
    struct fixture *f = *state;
    char *blank = malloc(BLANKS);
    mprof_ref lisp[MANY];
    uint32_t known = 0;
    assert_non_null(blank);
    memset(blank, ' ', BLANKS);
    blank[BLANKS - 1] = 'a';
    put(blank, BLANKS);
    free(blank);
    for (int i = 0; i < MANY; i++)
        lisp[i] = datafile_lisp(&f->file, "F");
    for (int i = 0; i < MANY; i++)
        datafile_source(&f->file, lisp[i], path, i);
    datafile_header(&f->file)->recorded = recorded;
    struct report__profile *p = parse(f);
    assert_non_null(p);
    const struct report__place *places = report__find_sources(&f->pool, p);
    for (int i = 0; i < MANY; i++)
        known += places[i].line;
    assert_int_equal(known, 256);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_form_begins_behind_blanks_and_comments),
        TEST(what_is_no_source_has_no_line),
        TEST(what_has_changed_has_no_line),
        TEST(there_is_an_end_to_reading),
        TEST(there_is_an_end_to_blanks),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
