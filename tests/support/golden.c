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

void golden_widgets(struct datafile *d) {
    datafile_start(d);
    mprof_ref thread = datafile_thread(d, 100, "SI:TOP-LEVEL");
    mprof_ref root = datafile_node(d, thread, 0, 0);
    mprof_ref widget = datafile_lisp(d, "MAKE-WIDGET");
    mprof_ref main_ = datafile_node(d, thread, root, datafile_lisp(d, "MAIN"));
    mprof_ref red =
        datafile_node(d, thread, main_, datafile_lisp(d, "MAKE-RED-WIDGET"));
    mprof_ref blue =
        datafile_node(d, thread, main_, datafile_lisp(d, "MAKE-BLUE-WIDGET"));
    datafile_count(d, datafile_node(d, thread, red, widget), MPROF_STRUCT, 5019,
                   5019 * 204);
    datafile_count(d, datafile_node(d, thread, blue, widget), MPROF_STRUCT,
                   4981, 4981 * 204);
    datafile_bin(d, thread, MPROF_STRUCT, "structure", "WIDGET",
                 (struct mprof_count){10000, 2040000},
                 (struct mprof_count){0, 0});
    mprof_ref program = datafile_string(d, "/usr/bin/ecl");
    mprof_ref command = datafile_string(d, "ecl --mprof widgets.lsp");
    mprof_ref runtime = datafile_string(d, "ECL 21.2.1");
    struct mprof_header *header = datafile_header(d);
    header->program = program;
    header->command = command;
    header->runtime = runtime;
    header->start_time = 584193600u * (uint64_t)1000000000; /* July 1988 */
    header->duration = 3214000000;
    header->memory = 1258291;
}
