/* test_base.c - characters, numbers of texts, output files and the budget. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "report/base/budget.h"
#include "report/base/dictionary.h"
#include "report/base/fitted.h"
#include "report/base/output.h"
#include "report/base/utf8.h"

static char folder[] = "/tmp/mprof-base-XXXXXX";

static int set_up(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ||
           chmod(folder, 0777) != 0;
}

static int tear_down(void **state) {
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return chdir("/") != 0 || system(command) != 0;
}

/* The ends of each range of characters that are not seen. */
static void hidden_characters(void **state) {
    static const uint32_t ends[][2] = {
        {0, 0x1f},          {0x7f, 0x9f},     {0xad, 0xad},
        {0x61c, 0x61c},     {0x180e, 0x180e}, {0x200b, 0x200f},
        {0x2028, 0x202e},   {0x2060, 0x206f}, {0xfeff, 0xfeff},
        {0xfff9, 0xfffb},   {0xfffe, 0xffff}, {0x1d173, 0x1d17a},
        {0xe0000, 0xe0fff},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        assert_true(i == 0 || report__is_visible(ends[i][0] - 1));
        assert_false(report__is_visible(ends[i][0]));
        assert_false(report__is_visible(ends[i][1]));
        assert_true(report__is_visible(ends[i][1] + 1));
    }
}

static void texts_of_lisp(void **state) {
    char *text;
    size_t length;
    (void)state;
    FILE *out = open_memstream(&text, &length);
    report__print_string(out, "a\"b\\c\n\x01\xc3\xa4\xff");
    report__print_string(out, NULL);
    report__print_name(out, "\"\\\n\x7f");
    fclose(out);
    assert_string_equal(
        text, "\"a\\\"b\\\\c\\\\n\\\\x{1}\xc3\xa4\\\\x{ff}\"nil\"\\\\n?");
    free(text);
}

static void each_text_has_its_number(void **state) {
    enum { TEXTS = 5000 };
    struct report__pool pool = {0};
    struct report__dictionary d = {0};
    (void)state;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < TEXTS; i++) {
            const char *key = report__format(&pool, "text %u", (unsigned)i);
            assert_int_equal(report__intern(&pool, &d, key, i + round * TEXTS),
                             i);
            assert_true(2 * d.used <= d.size + 1);
        }
    assert_int_equal(d.used, TEXTS);
    report__pool_free(&pool);
}

static bool writes(const char *name, const char *text) {
    struct report__pool pool = {0};
    struct report__output output = {.stream = NULL};
    const char *error = NULL;
    bool good = report__output_open(&output, name, &pool, &error);
    if (good)
        fputs(text, output.stream);
    good = good && report__output_finish(&output, &pool, &error);
    report__output_discard(&output);
    report__pool_free(&pool);
    return good;
}

static void make(const char *name, mode_t mode) {
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, "old", 3), 3);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void a_file_that_is_replaced_keeps_its_mode(void **state) {
    struct stat status;
    (void)state;
    make("tables", 0640);
    assert_true(writes("tables", "new text"));
    assert_int_equal(stat("tables", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_int_equal(status.st_size, 8);
}

/* Nobody, who may write in the folder, but not there. */
static void a_file_that_is_protected_stays(void **state) {
    struct stat status;
    int result;
    (void)state;
    make("protected", 0444);
    pid_t child = fork();
    if (child == 0)
        _exit((geteuid() == 0 && setuid(65534) != 0) ||
              writes("protected", "new text"));
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_int_equal(stat("protected", &status), 0);
    assert_int_equal(status.st_size, 3);
}

/* Of what is in a file, not of what may be. */
static bool counts_what_is_there(void) {
    struct rlimit before, hole, full;
    char block[65536];
    int sparse = open("sparse", O_RDWR | O_CREAT, 0600),
        file = open("file", O_RDWR | O_CREAT, 0600);
    memset(block, 1, sizeof block);
    if (ftruncate(sparse, (off_t)1 << 30) != 0 ||
        write(file, block, sizeof block) != sizeof block || fsync(file) != 0)
        return false;
    report__budget_begin();
    getrlimit(RLIMIT_AS, &before);
    if (before.rlim_cur == RLIM_INFINITY)
        return true; /* with a sanitizer */
    report__budget_add(sparse);
    getrlimit(RLIMIT_AS, &hole);
    report__budget_add(file);
    report__budget_add(file);
    getrlimit(RLIMIT_AS, &full);
    return hole.rlim_cur - before.rlim_cur < 1 << 20 &&
           full.rlim_cur - hole.rlim_cur == 64 * sizeof block;
}

static void memory_is_for_what_files_have(void **state) {
    int result;
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(counts_what_is_there() ? 0 : 1);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

/* What LINE becomes where WIDTH characters fit, with NAME behind it. */
static void fits(uint32_t width, const char *before, const char *name,
                 const char *after, const char *expected) {
    struct report__fit fit;
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    FILE *out = report__fit_open(&fit, memory, width, false);

    fputs(before, out);
    report__print_name(out, name);
    report__print_strong(out, "");
    fputs(after, out);
    assert_true(report__fit_close(&fit, out));
    fclose(memory);
    assert_string_equal(text, expected);
    free(text);
}

static void names_are_shortened_in_the_middle(void **state) {
    (void)state;
    const char *name = "abcdefghijklmnopqrstuvwxyz0123456789";
    fits(0, "1 ", name, "\n", "1 abcdefghijklmnopqrstuvwxyz0123456789\n");
    fits(38, "1 ", name, "\n", "1 abcdefghijklmnopqrstuvwxyz0123456789\n");
    fits(37, "1 ", name, "\n", "1 abcdefghijklmnop...uvwxyz0123456789\n");
    fits(30, "1 ", name, "]", "1 abcdefghijkl...yz0123456789]");
    /* Never to less than says something; then the line goes on below. */
    fits(10, "1 ", name, "]\n\n", "1\nabcdef...5\n6789]\n\n");
    fits(20, "", "f", " calls and others call it\n",
         "f calls and others\ncall it\n");
    /* Characters count, not bytes, and none is cut. */
    fits(24, "",
         "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4"
         "\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d"
         "\u4e2d\u4e2d\u4e2d",
         "\n",
         "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4"
         "...\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\n");
    fits(8, "------------", "", "--\nab\n", "--------\nab\n");
    /* What looks like a mark is none. */
    fits(0, "", "a\1b\2c", "\n", "a?b?c\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_characters),
        cmocka_unit_test(texts_of_lisp),
        cmocka_unit_test(each_text_has_its_number),
        cmocka_unit_test(a_file_that_is_replaced_keeps_its_mode),
        cmocka_unit_test(a_file_that_is_protected_stays),
        cmocka_unit_test(names_are_shortened_in_the_middle),
        cmocka_unit_test(memory_is_for_what_files_have),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
