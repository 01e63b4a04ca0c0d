/* groups.c - see groups.h. */
#include "report/graph/groups.h"

#include <string.h>

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

/* The first package in NAME but for Lisp's own, unless OWN; NULL: there is
 * none.
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

/* Of the Lisp function NAME: where nothing is said it is the user's.  A method
 * is the package's for whose classes it is. */
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

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
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
                        ? base_of(profile->modules[modules[i]].path)
                        : "";
    }
    return groups;
}
