/* naming.c - see naming.h. */
#include "monitor/format/naming.h"

#include <string.h>

bool mprof__is_anonymous(const char *name) {
    static const char lambda[] = "(LAMBDA";
    size_t length = sizeof lambda - 1;
    return strncmp(name, lambda, length) == 0 &&
           (name[length] == ' ' || name[length] == ')');
}

size_t mprof__base_length(const char *symbol) {
    static const char *const endings[] = {".cold",      ".constprop.",
                                          ".isra.",     ".localalias",
                                          ".lto_priv.", ".part."};
    for (const char *dot = strchr(symbol, '.'); dot; dot = strchr(dot + 1, '.'))
        for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
            if (dot > symbol &&
                strncmp(dot, endings[i], strlen(endings[i])) == 0)
                return (size_t)(dot - symbol);
    return strlen(symbol);
}

enum mprof__same_as mprof__same_by(enum mprof_function_kind kind,
                                   const char *name, const char *symbol) {
    if (name[0] == '\0')
        return MPROF__SAME_CODE;
    if (kind == MPROF_ENTRY)
        return MPROF__SAME_ENTRY;
    if (kind != MPROF_LISP && kind != MPROF_INTERPRETED)
        return MPROF__SAME_CODE;
    if (!mprof__is_anonymous(name))
        return MPROF__SAME_NAME;
    return kind == MPROF_INTERPRETED && symbol[0] != '\0' ? MPROF__SAME_SYMBOL
                                                          : MPROF__SAME_CODE;
}
