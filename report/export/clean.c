/* clean.c - names as other tools take them. */
#include <inttypes.h>
#include <string.h>

#include "report/base/utf8.h"
#include "report/export/export.h"

const char **report__clean_names(struct report__pool *pool,
                                 const struct report__functions *names,
                                 bool plain) {
    const char **clean =
        report__alloc(pool, report__all_functions(names), sizeof *clean);

    clean[report__deeper(names)] = "...";
    clean[report__summed(names)] = "<folded>";
    for (uint32_t i = 0; i < names->count; i++) {
        const char *name = names->list[i].name;
        if (plain && names->list[i].is_inlined)
            name =
                report__copy(pool, name, strlen(name) - strlen(MPROF_INLINED));
        clean[i] = report__clean_name(pool, name);
    }
    return clean;
}

const char *const report__class_names[MPROF_HEAPS][MPROF_CLASSES] = {
    [MPROF_LISP_HEAP] = {"cons", "float", "struct", "other"},
    [MPROF_C_HEAP] = {"small", "medium", "large", "extra"}};

const char *report__thread_name(struct report__pool *pool,
                                const struct report__thread *thread) {
    const char *name =
        thread->name ? report__clean_name(pool, thread->name) : "without name";
    return report__format(pool, "%s (%" PRIu32 ")", name, thread->tid);
}

const char *report__build_id(struct report__pool *pool,
                             const struct report__module *module) {
    static const char digits[] = "0123456789abcdef";
    char *id = report__alloc(pool, 2 * sizeof module->build_id + 1, 1);

    for (uint32_t i = 0; i < module->build_id_bytes; i++) {
        id[2 * i] = digits[module->build_id[i] >> 4];
        id[2 * i + 1] = digits[module->build_id[i] & 15];
    }
    return id;
}

const char *report__what_ran(struct report__pool *pool,
                             const struct report__profile *profile) {
    const char *ran = *profile->command ? profile->command : profile->program;

    if (*ran == '\0' && profile->process_count > 0)
        return report__format(pool, "%" PRIu32 " processes",
                              profile->process_count);
    return report__clean_name(pool, ran);
}
