/* folder.h - a folder for data files, and the status of the recording. */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "monitor/format/crc.h"
#include "monitor/format/format.h"
#include "monitor/include/mprof.h"

static char folder[] = "/tmp/mprof-test-XXXXXX";

static inline const char *in_folder(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static inline int set_up(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL;
}

static inline int tear_down(void **state) {
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static inline struct mprof_status status(void) {
    struct mprof_status s;
    assert_int_equal(mprof_status(&s), 0);
    return s;
}

/* Its bytes, for the caller to free. */
static inline void *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    void *data = malloc(*size);
    assert_int_equal(fread(data, 1, *size, file), *size);
    fclose(file);
    return data;
}

/* The file at PATH is closed, and its sum is right. */
static inline void check_complete(const char *path) {
    size_t size;
    struct mprof_header *header = read_file(path, &size);
    assert_int_equal(header->state, MPROF_CLOSED);
    assert_int_equal(header->used, size);
    uint32_t crc = header->crc;
    header->crc = 0;
    assert_int_equal(mprof__crc32(0, header, size), crc);
    free(header);
}

#endif
