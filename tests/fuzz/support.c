/* support.c - see fuzz.h. */
#define _GNU_SOURCE
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/base/utf8.h"

/* Memory that a file should not get is not given, as report/base/budget.h sees
 * to it in the command; nothing is wrong with asking for it. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1:max_allocation_size_mb=512:"
           "soft_rss_limit_mb=1024:allow_addr2line=1";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) {
    return "print_stacktrace=1";
}

const char *fuzz_file(const void *data, size_t size) {
    static int fd = -1;
    static char path[64];
    const char *from = data;
    if (fd >= 0)
        close(fd);
    fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_EXPECT(fd >= 0);
    for (ssize_t n; size > 0; from += n, size -= (size_t)n) {
        n = write(fd, from, size);
        FUZZ_EXPECT(n > 0);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

void fuzz_open(struct fuzz_text *text) {
    *text = (struct fuzz_text){NULL, 0, NULL};
    text->stream = open_memstream(&text->text, &text->length);
    FUZZ_EXPECT(text->stream);
}

void fuzz_close(struct fuzz_text *text) {
    FUZZ_EXPECT(fclose(text->stream) == 0);
}

void fuzz_free(struct fuzz_text *text) {
    free(text->text);
}

void fuzz_expect_visible(const struct fuzz_text *text) {
    char plain[128] = "\n";
    size_t n = 1;
    for (char c = ' '; c <= '~'; c++)
        plain[n++] = c;
    /* Nearly all is plain, and what libFuzzer watches is slow. */
    for (size_t at = 0; (at += strspn(text->text + at, plain)) < text->length;
         at += n) {
        uint32_t code;
        n = report__utf8(text->text + at, text->length - at, &code);
        FUZZ_EXPECT(n > 0);
        FUZZ_EXPECT(report__is_visible(code));
    }
    FUZZ_EXPECT(text->length == 0 || text->text[text->length - 1] == '\n');
}

void fuzz_expect_lines(const struct fuzz_text *text, int lines) {
    int found = 0;
    for (size_t i = 0; i < text->length; i++)
        found += text->text[i] == '\n';
    FUZZ_EXPECT(found == lines);
    FUZZ_EXPECT(text->length == 0 || text->text[text->length - 1] == '\n');
}
