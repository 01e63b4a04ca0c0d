/* c-hookedlib.c - sees who asks for symbols, and takes notes in memory that it
 * is given while the monitor looks for malloc(). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

char *hooked_notes;

static void *(*next_dlsym(void))(void *, const char *) {
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17",
                                           "GLIBC_2.2.5"};
    void *found = NULL;
    for (int i = 0; i < 3 && found == NULL; i++)
        found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    return found;
}

void *dlsym(void *handle, const char *name) {
    static void *(*next)(void *, const char *);
    if (next == NULL)
        next = next_dlsym();
    if (hooked_notes == NULL)
        hooked_notes = strcpy(malloc(20), "notes");
    return next(handle, name);
}
