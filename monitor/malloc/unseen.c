/* unseen.c - see unseen.h.
 *
 * Nothing here allocates.  Before there is a second thread, and then within
 * dl_iterate_phdr(), one thread at a time comes here to write.
 */
#define _GNU_SOURCE
#include "monitor/malloc/unseen.h"

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "monitor/format/paths.h"
#include "monitor/malloc/definitions.h"

/* The library with the program's own malloc(); "": the program; NULL: none. */
static const char *own_library;
static char first[80]; /* function, of several that are not seen */
static int more;       /* of them */
static char late[120]; /* functions that were not seen for a time */

/* As the programmer writes it. */
static const char *readable(const char *name) {
    static char text[64];
    if (strncmp(name, "_Zn", 3) == 0)
        return "operator new";
    if (strncmp(name, "_Zd", 3) == 0)
        return "operator delete";
    snprintf(text, sizeof text, "%s()", name);
    return text;
}

void mprof__unseen_malloc(const struct mprof__definition *definition) {
    const char *path = definition->file->l_name;
    /* The program itself has no name there. */
    own_library = strstr(path, ".so") != NULL ? mprof__base_name(path) : "";
}

void mprof__unseen_function(const char *name) {
    if (first[0] == '\0')
        snprintf(first, sizeof first, "%s", readable(name));
    else if (strcmp(first, readable(name)) != 0)
        more++;
}

void mprof__unseen_before(const char *library, const char *name) {
    if (late[0] == '\0')
        snprintf(late, sizeof late,
                 "%s as %.60s calls it, which was opened late", readable(name),
                 mprof__base_name(library));
}

/* Are there libraries that dlmopen() opened with a C library of their own?  The
 * loader has a list of its namespaces since glibc 2.35. */
static bool has_namespaces(void) {
    const struct r_debug_extended *list;
    /* It is larger than the compiler knows. */
    __asm__("" : "=r"(list) : "0"(&_r_debug));
    if (list->base.r_version < 2)
        return false;
    for (list = list->r_next; list != NULL; list = list->r_next)
        if (list->base.r_map != NULL)
            return true;
    return false;
}

void mprof__unseen(char *text, size_t size) {
    char own[120] = "", several[40] = "";
    size_t n;
    if (own_library != NULL)
        snprintf(own, sizeof own,
                 "malloc() of %.60s, except what that asks of the next one",
                 own_library[0] != '\0' ? own_library
                                        : program_invocation_short_name);
    if (more > 0)
        snprintf(several, sizeof several, " and %d more", more);
    snprintf(text, size, "%s%s%s%s%s%s", own,
             own[0] && (first[0] || late[0]) ? "; " : "", first, several,
             first[0] && late[0] ? "; " : "", late);
    n = strlen(text);
    if (has_namespaces())
        snprintf(text + n, size - n, "%slibraries that dlmopen() opened apart",
                 n > 0 ? "; " : "");
}
