/* clean.c - names as other tools take them, and JSON. */
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

const char *report__what_ran(struct report__pool *pool,
                             const struct report__profile *profile) {
    const char *ran = *profile->command ? profile->command : profile->program;

    if (*ran == '\0' && profile->process_count > 0)
        return report__format(pool, "%" PRIu32 " processes",
                              profile->process_count);
    return report__clean_name(pool, ran);
}

/* `<` may not end the script of a page. */
void report__put_json_part(FILE *out, const char *text) {
    for (; *text != '\0'; text++)
        if (*text == '<')
            fputs("\\u003c", out);
        else {
            if (*text == '"' || *text == '\\')
                putc('\\', out);
            putc(*text, out);
        }
}

void report__put_json(FILE *out, const char *text) {
    putc('"', out);
    report__put_json_part(out, text);
    putc('"', out);
}

void report__put_text(FILE *out, struct report__pool *pool, const char *text) {
    report__put_json(out, report__clean_name(pool, text));
}

bool report__put_list(FILE *out, const char *key, uint32_t i, uint32_t count) {
    if (i == 0)
        fprintf(out, ",\n\"%s\":[", key);
    fputs(i >= count ? "]" : i > 0 ? ",\n" : "\n", out);
    return i < count;
}

void report__put_comma(FILE *out, unsigned long *count) {
    if ((*count)++ > 0)
        putc(',', out);
}
