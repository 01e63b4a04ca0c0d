/* golden.c - run the command and compare. */
#include "tests/support/golden.h"

#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/command/command.h"

void golden_save(const struct datafile *d, const char *name) {
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(d->data, 1, d->size, file), d->size);
    assert_int_equal(fclose(file), 0);
}

char *golden_read(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t capacity = 0;
    if (!file)
        return NULL;
    if (getdelim(&text, &capacity, '\0', file) < 0) {
        free(text);
        text = strdup("");
    }
    fclose(file);
    return text;
}

int golden_run(const char *const *arguments, char **out, char **err) {
    size_t out_size, err_size;
    char *argv[10] = {(char[]){"mprof"}};
    int argc = 1;
    FILE *out_stream = open_memstream(out, &out_size);
    FILE *err_stream = open_memstream(err, &err_size);

    for (; *arguments; arguments++)
        argv[argc++] = (char *)(uintptr_t)*arguments;
    int status = report__main(argc, argv, out_stream, err_stream);
    fclose(out_stream);
    fclose(err_stream);
    return status;
}

void golden_check(const char *text, const char *name) {
    char path[4096];
    const char *srcdir = getenv("srcdir");

    snprintf(path, sizeof path, "%s/tests/data/%s.golden",
             srcdir ? srcdir : ".", name);
    char *golden = golden_read(path);
    if (!golden || strcmp(text, golden) != 0) {
        char result[256];
        snprintf(result, sizeof result, "%s.result", name);
        FILE *file = fopen(result, "wb");
        if (file) {
            fputs(text, file);
            fclose(file);
        }
        fail_msg("%s differs from %s", result, path);
    }
    free(golden);
}
