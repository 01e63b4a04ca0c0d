/* c-hooked.c - a program whose library (c-hookedlib.c) comes before dlsym(). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

extern char *hooked_notes;

/* Far more than there can be behind what it was. */
static void enlarge(void) {
    hooked_notes = realloc(hooked_notes, (size_t)64 << 20);
}

int main(void) {
    if (dlsym(RTLD_DEFAULT, "puts") == NULL)
        return 1;
    enlarge();
    puts(hooked_notes);
    free(hooked_notes);
    return 0;
}
