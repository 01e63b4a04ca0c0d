/* units.c - see units.h. */
#include "report/elf/units.h"

#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *text_of(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

/* What is no regular file may not be opened; what is not there cannot be. */
static bool is_harmless(const char *path) {
    struct stat status;
    return stat(path, &status) != 0 ? errno != EACCES : S_ISREG(status.st_mode);
}

/* Into PATH what libdw makes of FOLDER, DIRECTORY and NAME. */
static bool join(char *path, const char *folder, const char *directory,
                 const char *name) {
    bool absolute = *name == '/';
    if (absolute)
        folder = directory = "";
    else if (*directory == '/')
        folder = "";
    int n = snprintf(path, PATH_MAX, "%s%s%s%s", folder, directory,
                     absolute || !*directory ? "" : "/", name);
    return n > 0 && n < PATH_MAX;
}

/* May the file that the skeleton DIE names be opened, wherever it is sought? */
static bool may_be_opened(const struct report__elf_file *file, Dwarf_Die *die) {
    /* Of the file, or of one with its debug information. */
    static const char *const below[] = {"/", "/.debug/"};
    char whole[PATH_MAX] = "", folder[PATH_MAX], path[PATH_MAX];
    const char *name = text_of(die, DW_AT_dwo_name);
    const char *directory = text_of(die, DW_AT_comp_dir);

    if (!name)
        name = text_of(die, DW_AT_GNU_dwo_name);
    if (!name)
        return true;
    if (!file->path || !realpath(file->path, whole))
        return false;
    for (int i = 0; i < 2; i++) {
        int length = (int)(strrchr(whole, '/') - whole);
        int n =
            snprintf(folder, sizeof folder, "%.*s%s", length, whole, below[i]);
        if (n >= (int)sizeof folder || !join(path, folder, "", name) ||
            !is_harmless(path) ||
            !join(path, folder, directory ? directory : "", name) ||
            !is_harmless(path))
            return false;
    }
    return true;
}

bool report__next_unit(const struct report__elf_file *file, Dwarf *dwarf,
                       struct report__unit *unit) {
    memset(&unit->split, 0, sizeof unit->split);
    if (dwarf_get_units(dwarf, unit->cu, &unit->cu, NULL, &unit->type,
                        &unit->die, NULL) != 0)
        return false;
    if (unit->type == DW_UT_skeleton && may_be_opened(file, &unit->die) &&
        dwarf_cu_info(unit->cu, NULL, NULL, NULL, &unit->split, NULL, NULL,
                      NULL) != 0)
        memset(&unit->split, 0, sizeof unit->split);
    return true;
}
