/* together.c - the data files of a command as one profile. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/dictionary.h"
#include "report/command/command.h"
#include "report/data/alive.h"
#include "report/data/profile.h"
#include "report/elf/elf_file.h"

/* The module that is the program of PROFILE, which is of one process. */
static const struct report__module *
main_module(const struct report__profile *profile) {
    for (uint32_t i = 0; i < profile->module_count && *profile->program; i++)
        if (strcmp(profile->modules[i].path, profile->program) == 0)
            return &profile->modules[i];
    return NULL;
}

/* Whether PATH is the file of MODULE, or for NULL of any; MPROF__ELF_GONE: it
 * cannot be read. */
static enum report__elf_state ask(const char *path,
                                  const struct report__module *module) {
    struct report__elf_file file;

    if (access(path, R_OK) != 0)
        return MPROF__ELF_GONE;
    enum report__elf_state state = report__elf_open(&file, path, module);
    report__elf_close(&file);
    return state == MPROF__ELF_GONE ? MPROF__ELF_OTHER : state;
}

/* Whether the program of INPUT, if it has one, is the one of PROFILE.  If not,
 * *ERROR is a sentence. */
static bool check_program(const struct report__input *input,
                          const struct report__profile *profile,
                          struct report__pool *pool, const char **error) {
    const char *program = input->program;
    const enum report__elf_state state =
        program ? ask(program, main_module(profile)) : MPROF__ELF_OPEN;

    if (state == MPROF__ELF_GONE)
        *error = report__format(pool, "cannot open %s: %s", program,
                                strerror(errno));
    else if (state == MPROF__ELF_CHANGED)
        *error = report__format(
            pool, "%s is not the program that %s was recorded with", program,
            input->data);
    else if (state != MPROF__ELF_OPEN)
        *error = report__format(pool, "%s is not a program", program);
    return state == MPROF__ELF_OPEN;
}

bool report__has_program(const struct report__input *input,
                         const struct report__profile *profile) {
    const struct report__module *module = main_module(profile);

    return input->program || !module ||
           ask(module->path, module) == MPROF__ELF_OPEN;
}

/* Whether the names of functions in module NUMBER were recorded. */
static bool has_names(const struct report__profile *profile, uint32_t number) {
    for (uint32_t i = 0; i < profile->function_count; i++)
        if (profile->functions[i].module == number &&
            profile->functions[i].copied)
            return true;
    return false;
}

static void print_trouble(FILE *out, const struct report__profile *profile,
                          const struct report__module *module) {
    const enum report__elf_state state = ask(module->path, module);

    if (state == MPROF__ELF_OPEN)
        return;
    fputs("The file ", out);
    report__print_name(out, module->path);
    fprintf(
        out,
        " %s: its %s.  If you have the old file, name it before its data.\n",
        state == MPROF__ELF_GONE ? "is not there any more, or not readable"
                                 : "was changed since the recording",
        has_names(profile, (uint32_t)(module - profile->modules))
            ? "lines are not known"
            : "functions have no names");
}

void report__print_trouble(FILE *out, const struct report__input *input,
                           const struct report__profile *profile) {
    const struct report__module *module =
        input->program || profile->process_count > 0 ? NULL
                                                     : main_module(profile);

    if (module)
        print_trouble(out, profile, module);
    for (uint32_t i = 0; i < profile->module_count; i++)
        if (profile->modules[i].is_program && !profile->modules[i].given)
            print_trouble(out, profile, &profile->modules[i]);
}

bool report__is_data(const char *file) {
    char magic[sizeof MPROF_MAGIC - 1] = "";
    FILE *stream = fopen(file, "re");
    size_t n = stream ? fread(magic, 1, sizeof magic, stream) : 0;

    if (stream)
        fclose(stream);
    return n == sizeof magic && memcmp(magic, MPROF_MAGIC, n) == 0;
}

/* Whether FILE number I is there and was SEEN before. */
static bool is_old(struct report__pool *pool, struct report__dictionary *seen,
                   const char *file, uint32_t i) {
    struct stat st;

    return stat(file, &st) == 0 &&
           report__intern(pool, seen,
                          report__format(pool, "%jx:%jx", (uintmax_t)st.st_dev,
                                         (uintmax_t)st.st_ino),
                          i) != i;
}

/* A file that cannot be read is none; whoever opens it says why. */
static bool is_program(const char **files, int count, int i) {
    return report__is_elf(files[i]) ||
           (count == 2 && i == 0 && !report__is_data(files[0]) &&
            report__is_data(files[1]));
}

/* Sort the files of CALL, each once: *INPUTS data files, at least one.  A
 * program comes before its data: an ELF file, or the first of two files when it
 * is no data file. */
static struct report__input *choose_inputs(struct report__call *call,
                                           uint32_t *inputs) {
    const char **files = call->options.files, *program = NULL;
    const int count = call->options.file_count;
    struct report__input *list =
        report__alloc(&call->pool, (size_t)count + 1, sizeof *list);
    struct report__dictionary seen = {.slots = NULL};
    uint32_t n = 0;

    for (int i = 0; i < count; i++) {
        if (is_program(files, count, i)) {
            program = files[i];
            continue;
        }
        /* The file of `mprof run --stats=group` beside the data files of a run
         * is the sum of these. */
        if (count == 1 || !(is_old(&call->pool, &seen, files[i], (uint32_t)i) ||
                            report__is_group(files[i])))
            list[n++] = (struct report__input){program, files[i]};
        program = NULL;
    }
    if (n == 1 && program && !list[0].program)
        list[0].program = program; /* it was named behind its data */
    else if (n == 0 || program)
        list[n++] = (struct report__input){program, "mprof.data"};
    *inputs = n;
    return list;
}

struct report__profile *report__read_input(struct report__pool *pool,
                                           const struct report__input *input,
                                           bool brief, const char **error) {
    struct report__profile *profile = report__read(pool, input->data, error);

    if (!profile || !check_program(input, profile, pool, error))
        return NULL;
    if (brief)
        report__leave_out_arguments(pool, profile);
    return profile;
}

/* The profile of INPUT in POOL, which may go before the error is printed. */
static struct report__profile *read_one(struct report__call *call,
                                        struct report__pool *pool,
                                        const struct report__input *input,
                                        bool brief) {
    struct report__profile *profile =
        report__read_input(pool, input, brief, &call->error);

    if (!profile && pool != &call->pool)
        call->error =
            report__copy(&call->pool, call->error, strlen(call->error));
    if (!profile || !call->options.alive)
        return profile;
    /* Live objects in place of all allocations. */
    if (profile->alive)
        report__keep_alive(profile);
    else
        call->error = report__format(
            &call->pool,
            "%s: no live objects were recorded; record them with: ecl --mprof "
            "--live, or (mprof:start :live t); for C see: mprof --table=leaks",
            input->data);
    return profile->is_alive ? profile : NULL;
}

bool report__has_default_data(struct report__call *call) {
    if (access("mprof.data", F_OK) != 0 && errno == ENOENT)
        call->error = "no mprof.data here; record one with: mprof run PROGRAM";
    return !call->error;
}

bool report__read_files(struct report__call *call, bool brief) {
    struct report__input *input = &call->input;
    uint32_t count;
    const struct report__input *inputs = choose_inputs(call, &count);

    *input = inputs[0];
    if (call->options.file_count == 0 && !report__has_default_data(call))
        return false;
    if (count == 1)
        return (call->profile = read_one(call, &call->pool, input, brief));
    call->parts = report__alloc(&call->pool, count, sizeof *call->parts);
    for (uint32_t i = 0; i < count; i++) {
        struct report__part *part = &call->parts[call->part_count++];
        part->pool.nomem = call->pool.nomem;
        part->program = inputs[i].program;
        part->profile = read_one(call, &part->pool, &inputs[i], brief);
        if (!part->profile)
            return false;
        if (!input->program)
            input->program = inputs[i].program;
    }
    call->profile = report__merge(&call->pool, call->parts, count);
    input->data = report__format(&call->pool, "%s and %u more", input->data,
                                 (unsigned)count - 1);
    return call->profile ||
           report__fail(call, "%s: too much for one report", input->data);
}

const char *const report__heap_names[MPROF_HEAPS] = {
    [MPROF_LISP_HEAP] = "Lisp", [MPROF_C_HEAP] = "C"};

unsigned report__choose_heaps(struct report__call *call) {
    const struct report__options *o = &call->options;
    const bool typed = o->focus.types.count > 0;
    unsigned heaps = call->profile->heaps;

    if (typed && o->heaps == 1u << MPROF_C_HEAP)
        return report__fail(call, "--type is of the Lisp heap, not of C's");
    if (typed && !(heaps & 1u << MPROF_LISP_HEAP))
        return report__fail(
            call, "%s: the Lisp heap was not recorded, which alone has types",
            call->input.data);
    if (typed)
        heaps = 1u << MPROF_LISP_HEAP;
    if (o->heaps)
        heaps &= o->heaps;
    if (!heaps)
        call->error = report__format(
            &call->pool, "%s: the %s heap was not recorded", call->input.data,
            report__heap_names[o->heaps >> MPROF_C_HEAP & 1]);
    return heaps;
}

enum mprof_heap report__choose_heap(struct report__call *call) {
    const unsigned heaps = report__choose_heaps(call);
    const enum mprof_heap heap =
        heaps == 1u << MPROF_C_HEAP ? MPROF_C_HEAP : MPROF_LISP_HEAP;

    if (heaps && heaps != 1u << heap)
        call->error = report__format(
            &call->pool, "%s: there are two heaps: choose one by --heap",
            call->input.data);
    return heap;
}
