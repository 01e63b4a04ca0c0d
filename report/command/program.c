/* program.c - whether the program is the one that was recorded. */
#include "report/command/command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "report/elf/elf_file.h"

/* The module that is the program of PROFILE, which is of one process. */
static const struct report__module *
main_module(const struct report__profile *profile) {
    for (uint32_t i = 0; i < profile->module_count && *profile->program; i++)
        if (strcmp(profile->modules[i].path, profile->program) == 0)
            return &profile->modules[i];
    return NULL;
}

enum answer { SAME, OTHER, NO_PROGRAM, UNREADABLE };

/* Whether PATH is the file of MODULE; NULL: of any. */
static enum answer ask(const char *path, const struct report__module *module) {
    struct report__elf_file file;

    if (access(path, R_OK) != 0)
        return UNREADABLE;
    enum report__elf_state state = report__elf_open(&file, path, module);
    report__elf_close(&file);
    return state == MPROF__ELF_OPEN      ? SAME
           : state == MPROF__ELF_CHANGED ? OTHER
                                         : NO_PROGRAM;
}

bool report__check_program(const struct report__input *input,
                           const struct report__profile *profile,
                           struct report__pool *pool, const char **error) {
    const char *program = input->program;

    if (!program)
        return true;
    switch (ask(program, main_module(profile))) {
    case SAME:
        return true;
    case OTHER:
        *error = report__format(
            pool, "%s is not the program that %s was recorded with", program,
            input->data);
        return false;
    case NO_PROGRAM:
        *error = report__format(pool, "%s is not a program", program);
        return false;
    case UNREADABLE:
        break;
    }
    *error =
        report__format(pool, "cannot open %s: %s", program, strerror(errno));
    return false;
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
    enum answer answer = ask(module->path, module);

    if (answer == SAME)
        return;
    fputs("The file ", out);
    report__print_name(out, module->path);
    fprintf(out, " %s: its %s here, unless it is given before the data.\n",
            answer == UNREADABLE ? "is not there any more, or not readable"
                                 : "was changed since",
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
