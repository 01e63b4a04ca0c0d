/* own.c - see own.h. */
#include "report/graph/own.h"

#include <string.h>

#include "report/graph/groups.h"
#include "report/graph/inlining.h"

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
        else if (*at == ' ' && depth == 0)
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

/* Headers of the system hold templates of libraries. */
static bool is_systems_file(const char *file) {
    return file && strncmp(file, "/usr/include/", 13) == 0;
}

void report__hide_standard(struct report__pool *pool,
                           const struct report__profile *profile,
                           struct report__functions *names) {
    bool is_whole = profile->total_count == 0, is_cxx = false;

    for (uint32_t i = 0; i < profile->counter_count; i++)
        is_whole &= !profile->counters[i].is_spill;
    for (uint32_t i = 0; i < names->count; i++)
        is_cxx |= names->list[i].is_cxx;
    if (!is_whole || !is_cxx)
        return;
    const char **files = report__source_files(pool, profile, names);
    for (uint32_t i = 0; i < names->count; i++)
        if (names->list[i].kind == MPROF_C &&
            (is_standard(names->list[i].name) || is_systems_file(files[i])))
            names->list[i].plumbing = true;
}

bool report__is_load(const char *name) {
    return strncmp(name, "<load of ", 9) == 0 ||
           strncmp(name, "<load by ", 9) == 0;
}

static enum report__origin origin_of(const struct report__shown *function,
                                     const char *path) {
    const char *slash = strrchr(path, '/');
    const bool runtime = is_runtime(slash ? slash + 1 : path);

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
