/* c-entries.c [overflow] - every way to ask for memory, one function for each;
 * or only for more than there are numbers for. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static unsigned refused;
static volatile size_t huge = PTRDIFF_MAX; /* hidden from the compiler */

static void check(int good, const char *what) {
    if (!good)
        printf("%s is wrong\n", what);
}

static void refuse(void *block, const char *what) {
    check(block == NULL, what);
    check(errno == ENOMEM, what);
    refused += block == NULL;
    errno = 0;
}

static int aligned(const void *block, size_t alignment) {
    return block != NULL && (uintptr_t)block % alignment == 0;
}

static void by_malloc(void) {
    char *block = malloc(100);
    memset(block, 1, 100);
    check(malloc_usable_size(block) >= 100, "malloc_usable_size");
    memset(block, 2, malloc_usable_size(block));
    free(block);
    check(malloc_usable_size(NULL) == 0, "malloc_usable_size(NULL)");
    free(NULL);
    errno = 77;
    free(malloc(10));
    check(errno == 77, "errno after free");
    refuse(malloc(huge + 1), "malloc(PTRDIFF_MAX + 1)");
    refuse(malloc(2 * huge + 1), "malloc(SIZE_MAX)");
}

static void by_zero(void) {
    void *a = malloc(0), *b = malloc(0), *c = calloc(0, 5);
    check(a != NULL && b != NULL && a != b, "malloc(0)");
    check(c != NULL, "calloc(0)");
    free(a);
    free(c);
}

static void by_calloc(void) {
    char *block = calloc(3, 5);
    for (int i = 0; i < 15; i++)
        check(block[i] == 0, "calloc");
    block[14] = 1;
    free(block);
    refuse(calloc(huge / 2 + 1, 4), "calloc that overflows");
    refuse(calloc(huge + 1, 1), "calloc(PTRDIFF_MAX + 1, 1)");
    block = calloc(1, 1 << 20);
    check(block[0] == 0 && block[(1 << 20) - 1] == 0, "large calloc");
    free(block);
}

static void by_realloc(void) {
    char *block = realloc(NULL, 20);
    strcpy(block, "nineteen characters");
    for (size_t n = 21; n < 40; n++)
        block = realloc(block, n);
    check(strcmp(block, "nineteen characters") == 0, "realloc");
    block = realloc(block, 1 << 21);
    block = realloc(block, 1 << 22);
    check(strcmp(block, "nineteen characters") == 0, "large realloc");
    char *volatile same = block;
    refuse(realloc(block, huge + 1), "realloc(PTRDIFF_MAX + 1)");
    check(strcmp(same, "nineteen characters") == 0, "realloc that failed");
    check(realloc(same, 0) == NULL, "realloc to 0");
    errno = 0;
}

static void by_reallocarray(void) {
    int *block = reallocarray(NULL, 10, sizeof *block);
    block[9] = 9;
    block = reallocarray(block, 20, sizeof *block);
    check(block[9] == 9, "reallocarray");
    int *volatile same = block;
    refuse(reallocarray(block, huge / 2, 4), "reallocarray(SIZE_MAX - 3)");
    check(same[9] == 9, "reallocarray that failed");
    free(same);
}

/* No allocator is asked for that. */
static void by_overflow(void) {
    char *block = malloc(40);
    strcpy(block, "stays");
    refuse(reallocarray(NULL, huge / 2 + 1, 4), "reallocarray that overflows");
    refuse(reallocarray(block, 4, huge / 2 + 1), "reallocarray that overflows");
    check(strcmp(block, "stays") == 0, "reallocarray that failed");
    free(block);
}

/* More than 32 bits can tell, if there is so much. */
static void by_large(void) {
    size_t gigabyte = (size_t)1 << 30;
    char *block = malloc(5 * gigabyte);
    char *larger = block == NULL ? NULL : realloc(block, 6 * gigabyte);
    printf("6 GiB: %s\n", larger == NULL ? "no" : "yes");
    free(larger != NULL ? larger : block);
    errno = 0;
}

static void by_posix_memalign(void) {
    void *block = &block, *same = block;
    check(posix_memalign(&block, 3, 50) == EINVAL, "alignment 3");
    check(posix_memalign(&block, 0, 50) == EINVAL, "alignment 0");
    check(posix_memalign(&block, 4, 50) == EINVAL, "alignment 4");
    check(posix_memalign(&block, 64, huge + 1) == ENOMEM, "posix_memalign");
    check(block == same, "posix_memalign that failed");
    refused += 4;
    check(posix_memalign(&block, 256, 50) == 0, "posix_memalign");
    check(aligned(block, 256), "alignment 256");
    free(block);
}

static void by_aligned(void) {
    void *a = aligned_alloc(128, 256), *b = memalign(4096, 30), *c = valloc(31),
         *d = pvalloc(32);
    check(aligned(a, 128), "aligned_alloc");
    check(aligned(b, 4096), "memalign");
    check(aligned(c, 4096) && aligned(d, 4096), "valloc");
    check(malloc_usable_size(d) >= 4096, "pvalloc");
    b = realloc(b, 60);
    refuse(memalign(64, huge + 1), "memalign(PTRDIFF_MAX + 1)");
    free(a);
    free(b);
    free(c);
    free(d);
}

static void by_library(void) {
    char *text = strdup("four"), *start = strndup("some text", 4), *printed;
    wchar_t *wide = wcsdup(L"wide");
    check(asprintf(&printed, "%d-%s", 12345, text) == 10, "asprintf");
    check(strcmp(printed, "12345-four") == 0, "asprintf");
    free(text);
    free(start);
    free(wide);
    free(printed);
}

static void by_stream(void) {
    char *line = NULL, *memory = NULL;
    size_t room = 0, size = 0;
    FILE *file = fopen("/etc/passwd", "r");
    ssize_t length = getline(&line, &room, file);
    check(length > 0 && line[length - 1] == '\n', "getline");
    free(line);
    fclose(file);
    file = open_memstream(&memory, &size);
    for (int i = 0; i < 1000; i++)
        fprintf(file, "line %d\n", i);
    fclose(file);
    check(size == 8890, "open_memstream");
    free(memory);
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) {
        by_overflow();
        return 0;
    }
    by_malloc();
    by_zero();
    by_calloc();
    by_realloc();
    by_reallocarray();
    by_large();
    by_posix_memalign();
    by_aligned();
    by_library();
    by_stream();
    printf("%u refused\n", refused);
    return 0;
}
