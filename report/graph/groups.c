/* groups.c - see groups.h. */
#include "report/graph/groups.h"

#include <string.h>

#include "monitor/format/paths.h"
#include "report/base/utf8.h"
#include "report/graph/inlining.h"

uint32_t *report__modules_of(struct report__pool *pool,
                             const struct report__profile *profile,
                             const struct report__functions *names,
                             uint32_t count) {
    uint32_t *modules = report__alloc(pool, count, sizeof *modules);

    if (count > 0)
        memset(modules, 0xff, count * sizeof *modules);
    for (uint32_t i = profile->function_count; i-- > 0;)
        if (profile->functions[i].module != MPROF_NONE)
            modules[names->shown[i]] =
                names->module_id[profile->functions[i].module];
    for (uint32_t i = 0; i < names->count; i++)
        if (names->list[i].is_inlined)
            modules[i] = names->list[i].module;
    return modules;
}

/* Return the first package in NAME, except Lisp's own unless OWN; NULL: none.
 */
static const char *package_in(struct report__pool *pool, const char *name,
                              bool own) {
    static const char ends[] = " ()'\"#;,`";

    while (*name != '\0') {
        size_t length = strcspn(name, ends);
        const char *colon = memchr(name, ':', length);
        if (colon != NULL && colon > name &&
            (own || strncmp(name, "CL:", 3) != 0))
            return report__copy(pool, name, (size_t)(colon - name));
        name += length + (name[length] != '\0');
    }
    return NULL;
}

/* Return the package of the Lisp function NAME: without one, the user's.  A
 * method belongs to the package of its classes. */
static const char *package_of(struct report__pool *pool, const char *name) {
    static const char method[] = "(METHOD ";
    const char *classes = NULL, *package = NULL;

    if (strncmp(name, method, strlen(method)) == 0)
        classes = strrchr(name, '(');
    if (classes != NULL && classes > name)
        package = package_in(pool, classes, false);
    return package != NULL ? package : package_in(pool, name, true);
}

bool report__is_systems(const char *name) {
    static const char ends[] = " ()'\"#;,`", anonymous[] = "(LAMBDA ";
    static const char *const packages[] = {
        "CL:",   "CLOS:", "SI:", "EXT:", "MP:",
        "GRAY:", "FFI:",  "C:",  "CMP:", "SEQUENCE:"};
    bool any = false;

    for (const char *at = name; *at != '\0';) {
        size_t length = strcspn(at, ends);
        const char *colon = memchr(at, ':', length);
        bool systems = false;
        for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
            systems |= strncmp(at, packages[i], strlen(packages[i])) == 0;
        if (colon != NULL && colon > at && !systems)
            return false;
        any |= colon != NULL && colon > at;
        at += length + (at[length] != '\0');
    }
    return any || strncmp(name, anonymous, strlen(anonymous)) == 0;
}

const char **report__groups_of(struct report__pool *pool,
                               const struct report__profile *profile,
                               const struct report__functions *names) {
    const uint32_t *modules =
        report__modules_of(pool, profile, names, names->count);
    const char **groups = report__alloc(pool, names->count, sizeof *groups);

    for (uint32_t i = 0; i < names->count; i++) {
        const struct report__shown *function = &names->list[i];
        const char *package = NULL;
        if (function->kind != MPROF_C && !function->is_inlined)
            package = package_of(pool, function->name);
        bool is_users =
            function->kind == MPROF_INTERPRETED || function->kind == MPROF_LISP;
        groups[i] = package    ? package
                    : is_users ? "CL-USER"
                    : modules[i] != MPROF_NONE
                        ? mprof__base_name(profile->modules[modules[i]].path)
                        : "";
    }
    return groups;
}

/* Whose they are */

/* Libraries that a program has without asking for them. */
static bool is_runtime(const char *file) {
    static const char *const names[] = {
        "libecl.",    "libgc.",   "libffi.",  "libgmp.",    "libc.",
        "ld-linux",   "libm.",    "libdl.",   "libpthread", "librt.",
        "libstdc++.", "libc++",   "libgcc_s", "libmprof",   "linux-vdso",
        "libatomic.", "libasan.", "ld-musl"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(file, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Where the qualified name of the C++ function NAME begins: behind what it
 * returns, which templates have. */
static const char *qualified(const char *name) {
    const char *start = name;
    int depth = 0;

    for (const char *at = name; *at != '\0'; at++) {
        if (strchr("<([{", *at))
            depth++;
        else if (strchr(">)]}", *at))
            depth--;
        else if (*at == ' ' && depth == 0 && strcmp(at, MPROF_INLINED) != 0)
            start = at + 1;
        if (*at == '(' && depth == 1)
            break;
        if (strncmp(at, "operator", 8) == 0)
            break;
    }
    return start;
}

/* Whether NAME is of the library of C++, whose templates are compiled into
 * programs. */
static bool is_standard(const char *name) {
    static const char *const spaces[] = {
        "std::", "__gnu_cxx::", "__cxxabiv1::"};
    const char *start = qualified(name);

    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (strncmp(start, spaces[i], strlen(spaces[i])) == 0)
            return true;
    return false;
}

static bool is_systems_file(const char *file) {
    return file && (strncmp(file, "/usr/include/", 13) == 0 ||
                    strncmp(file, "/usr/lib/", 9) == 0);
}

void report__hide_standard(struct report__pool *pool,
                           const struct report__profile *profile,
                           struct report__functions *names) {
    bool is_whole = profile->total_count == 0, is_cxx = false;

    for (uint32_t i = 0; i < profile->counter_count; i++)
        is_whole &= !profile->counters[i].is_spill;
    for (uint32_t i = 0; i < names->count; i++)
        is_cxx |= names->list[i].is_cxx;
    if (!is_whole || (!is_cxx && !names->inlining))
        return;
    const char **files = report__source_files(pool, profile, names);
    for (uint32_t i = 0; i < names->count; i++)
        if (names->list[i].kind == MPROF_C &&
            (is_cxx || names->list[i].is_inlined) &&
            (is_standard(names->list[i].name) || is_systems_file(files[i])))
            names->list[i].plumbing = true;
}

bool report__is_load(const char *name) {
    return strncmp(name, "<load of ", 9) == 0 ||
           strncmp(name, "<load by ", 9) == 0;
}

static enum report__origin origin_of(const struct report__shown *function,
                                     const char *path) {
    const bool runtime = is_runtime(mprof__base_name(path));

    switch (function->kind) {
    case MPROF_INTERPRETED:
        return MPROF_FROM_INTERPRETED;
    case MPROF_LISP:
    case MPROF_ENTRY:
        return runtime ? MPROF_FROM_RUNTIME : MPROF_FROM_LISP;
    case MPROF_C:
        return runtime || is_standard(function->name) ? MPROF_FROM_RUNTIME
                                                      : MPROF_FROM_C;
    default:
        return MPROF_FROM_NOWHERE;
    }
}

enum report__origin *report__origins(struct report__pool *pool,
                                     const struct report__profile *profile,
                                     const struct report__functions *names) {
    const uint32_t *modules =
        report__modules_of(pool, profile, names, names->count);
    enum report__origin *origins =
        report__alloc(pool, names->count, sizeof *origins);

    for (uint32_t i = 0; i < names->count; i++)
        origins[i] = origin_of(
            &names->list[i],
            modules[i] == MPROF_NONE ? "" : profile->modules[modules[i]].path);
    return origins;
}
