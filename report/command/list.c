/* list.c - the command `mprof list`: whose the data files are. */
#include "report/command/command.h"
#include "report/data/profile.h"

/* Find the files of CALL; without any, the data files that a run leaves here.
 */
static const char **find_files(struct report__call *call, uint32_t *count) {
    glob_t *found = &call->found;

    *count = (uint32_t)call->options.file_count;
    if (*count > 0)
        return call->options.files;
    glob("mprof.data", 0, NULL, found);
    glob("mprof.data.*", GLOB_APPEND, NULL, found);
    const char **files =
        report__alloc(&call->pool, found->gl_pathc + 1, sizeof *files);
    for (size_t i = 0; i < found->gl_pathc; i++)
        if (report__is_data(found->gl_pathv[i]))
            files[(*count)++] = found->gl_pathv[i];
    if (*count == 0)
        files[(*count)++] = "mprof.data";
    return files;
}

/* A line on standard error for each that cannot be read.  Returns how many
 * were. */
static uint32_t read_files(struct report__call *call, const char **files,
                           uint32_t count, struct report__listed *list,
                           bool *failed) {
    /* Keep only the listed parts of a profile. */
    struct report__part *parts = report__alloc(&call->pool, 1, sizeof *parts);
    struct report__pool *part = &parts->pool;
    uint32_t n = 0;

    part->nomem = call->pool.nomem;
    call->parts = parts;
    call->part_count = 1;
    for (uint32_t i = 0; i < count; i++) {
        const char *error = NULL;
        if (report__is_group(files[i]))
            continue;
        const struct report__profile *profile =
            report__read(part, files[i], &error);
        if (profile)
            list[n++] = report__listed_of(&call->pool, files[i], profile);
        else
            fprintf(call->err, "mprof: %s\n", error);
        *failed |= !profile;
        report__pool_free(part);
    }
    return n;
}

int report__run_list(struct report__call *call) {
    uint32_t count;
    bool failed = false;
    const char **files = find_files(call, &count);

    if (call->options.file_count == 0 && !report__is_data(files[0]) &&
        !report__has_default_data(call))
        return 1;
    struct report__listed *list =
        report__alloc(&call->pool, count, sizeof *list);
    const uint32_t n = read_files(call, files, count, list, &failed);

    if (report__begin_output(call) && n > 0)
        report__print_listing(call->output.stream, list, n, call->options.order,
                              &call->pool);
    return failed;
}
