/* together.c - the data files of a command as one profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/format/group.h"
#include "report/base/pairs.h"
#include "report/command/command.h"
#include "report/data/alive.h"
#include "report/data/group.h"
#include "report/elf/elf_file.h"

/* Files that were seen, by device and number. */
struct seen {
    struct report__pool *pool;
    struct report__pairs devices, numbers, files;
    struct report__pairs programs; /* data and program */
};

/* Whether FILE is there and was not seen before. */
static bool is_old(struct seen *s, const char *file) {
    struct stat st;

    if (stat(file, &st) != 0)
        return false;
    uint64_t device = (uint64_t)st.st_dev, number = (uint64_t)st.st_ino;
    uint32_t count = s->files.count;
    uint32_t found = report__pair_number(
        s->pool, &s->files,
        report__pair_number(s->pool, &s->devices, (uint32_t)device,
                            (uint32_t)(device >> 32)),
        report__pair_number(s->pool, &s->numbers, (uint32_t)number,
                            (uint32_t)(number >> 32)));
    return found < count;
}

bool report__is_data(const char *file) {
    char magic[sizeof MPROF_MAGIC - 1] = "";
    FILE *stream = fopen(file, "re");
    size_t n = stream ? fread(magic, 1, sizeof magic, stream) : 0;

    if (stream)
        fclose(stream);
    return n == sizeof magic && memcmp(magic, MPROF_MAGIC, n) == 0;
}

/* A file that cannot be read is none; whoever opens it says why. */
static bool is_program(const char **files, int count, int i) {
    return report__is_elf(files[i]) ||
           (count == 2 && i == 0 && !report__is_data(files[0]) &&
            report__is_data(files[1]));
}

struct report__input *report__choose_inputs(struct report__pool *pool,
                                            const char **files, int count,
                                            uint32_t *inputs) {
    struct report__input *list =
        report__alloc(pool, (size_t)count + 1, sizeof *list);
    struct seen seen = {.pool = pool};
    const char *program = NULL;
    uint32_t n = 0;

    for (int i = 0; i < count; i++) {
        if (is_program(files, count, i)) {
            program = files[i];
            continue;
        }
        /* What `mprof run --group` leaves beside the data files of a run is
         * the sum of these. */
        if (count == 1 ||
            !(is_old(&seen, files[i]) || report__is_group(files[i])))
            list[n++] = (struct report__input){program, files[i]};
        program = NULL;
    }
    if (n == 0 || program)
        list[n++] = (struct report__input){program, "mprof.data"};
    *inputs = n;
    return list;
}

/* Leave in PROFILE, of INPUT, what is alive in place of all that was allocated.
 * False if that is not known: *ERROR is a sentence. */
static bool leave_alive(struct report__pool *pool,
                        const struct report__input *input,
                        struct report__profile *profile, const char **error) {
    if (profile->alive)
        report__keep_alive(profile);
    else
        *error = report__format(pool,
                                "%s: it was not recorded what is alive: "
                                "(mprof:start :live t), or ecl --mprof --live",
                                input->data);
    return profile->is_alive;
}

/* The profile of INPUT in POOL. */
static struct report__profile *read_one(struct report__pool *pool,
                                        const struct report__together *together,
                                        const struct report__input *input,
                                        struct report__pool *errors,
                                        const char **error) {
    struct report__profile *profile =
        report__read(pool, input->data, together->calls, error);

    if (profile &&
        (!report__check_program(input, profile, pool, error) ||
         (together->alive && !leave_alive(pool, input, profile, error))))
        profile = NULL;
    if (profile && together->no_arguments)
        report__leave_out_arguments(pool, profile);
    /* That pool goes before the error is printed. */
    if (!profile && pool != errors)
        *error = report__copy(errors, *error, strlen(*error));
    return profile;
}

const struct report__profile *
report__read_together(struct report__together *together,
                      struct report__pool *pool,
                      const struct report__input *inputs, uint32_t count,
                      struct report__input *input, const char **error) {
    *input = inputs[0];
    if (count == 1)
        return read_one(pool, together, input, pool, error);
    together->parts = report__alloc(pool, count, sizeof *together->parts);
    for (uint32_t i = 0; i < count; i++) {
        struct report__part *part = &together->parts[together->count++];
        part->pool.nomem = pool->nomem;
        part->program = inputs[i].program;
        part->profile =
            read_one(&part->pool, together, &inputs[i], pool, error);
        if (!part->profile)
            return NULL;
        if (inputs[i].program && !input->program)
            input->program = inputs[i].program;
    }
    const struct report__profile *whole =
        report__merge(pool, together->parts, count);
    if (!whole)
        *error = report__format(pool, "%s and %u more: too much for one report",
                                input->data, (unsigned)count - 1);
    input->data = report__format(pool, "%s and %u more", input->data,
                                 (unsigned)count - 1);
    return whole;
}

void report__together_free(struct report__together *together) {
    for (uint32_t i = 0; i < together->count; i++)
        report__pool_free(&together->parts[i].pool);
    together->count = 0;
}

bool report__has_default_data(const char **error) {
    if (access("mprof.data", F_OK) != 0 && errno == ENOENT)
        *error = "no mprof.data here; record one with: mprof run PROGRAM";
    return *error == NULL;
}

const struct report__profile *report__read_files(struct report__call *call,
                                                 bool calls,
                                                 struct report__input *input,
                                                 const char **error) {
    const struct report__options *o = &call->options;
    uint32_t count;
    const struct report__input *inputs =
        report__choose_inputs(&call->pool, o->files, o->file_count, &count);

    call->together.alive = o->alive;
    call->together.calls = calls;
    if (o->file_count == 0 && !report__has_default_data(error))
        return NULL;
    return report__read_together(&call->together, &call->pool, inputs, count,
                                 input, error);
}

unsigned report__choose_heaps(struct report__call *call,
                              const struct report__input *input,
                              const struct report__profile *profile,
                              const char **error) {
    const struct report__options *o = &call->options;
    const bool typed = o->focus.types.count > 0;
    unsigned heaps = profile->heaps;

    if (typed && o->heaps == 1u << MPROF_C_HEAP) {
        *error = "--type is of the Lisp heap, not of C's";
        return 0;
    }
    if (typed && !(heaps & 1u << MPROF_LISP_HEAP)) {
        *error = report__format(
            &call->pool,
            "%s: the Lisp heap was not recorded, which alone has types",
            input->data);
        return 0;
    }
    if (typed)
        heaps = 1u << MPROF_LISP_HEAP;
    if (o->heaps)
        heaps &= o->heaps;
    if (!heaps)
        *error = report__format(&call->pool, "%s: the %s heap was not recorded",
                                input->data,
                                o->heaps >> MPROF_C_HEAP & 1 ? "C" : "Lisp");
    return heaps;
}

enum mprof_heap report__choose_heap(struct report__call *call,
                                    const struct report__input *input,
                                    unsigned heaps, const char **error) {
    const enum mprof_heap heap =
        heaps == 1u << MPROF_C_HEAP ? MPROF_C_HEAP : MPROF_LISP_HEAP;

    if (heaps != 1u << heap)
        *error = report__format(&call->pool,
                                "%s: there are two heaps: choose one by --heap",
                                input->data);
    return heap;
}
