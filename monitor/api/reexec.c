/* reexec.c - start the program again, with malloc() seen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/format/paths.h"
#include "monitor/format/process.h"
#include "monitor/include/mprof.h"

extern char **environ;

/* The arguments of this process; NULL: no memory, or no /proc. */
static char **read_arguments(void) {
    FILE *file = fopen("/proc/self/cmdline", "re");
    char **arguments = NULL, **more;
    bool all = false;
    for (size_t count = 0; file != NULL; count++) {
        size_t room = 0;
        more = realloc(arguments, (count + 1) * sizeof *arguments);
        if (more == NULL)
            break;
        arguments = more;
        arguments[count] = NULL;
        if (getdelim(&arguments[count], &room, '\0', file) < 0) {
            arguments[count] = NULL;
            all = feof(file);
            break;
        }
    }
    if (file != NULL)
        fclose(file);
    return all ? arguments : NULL;
}

/* libmprof_malloc is installed beside this library. */
static int preload(void) {
    Dl_info us;
    char path[PATH_MAX];
    const char *library = getenv("MPROF_MALLOC_LIBRARY");
    const char *others = getenv("LD_PRELOAD");
    char *all = NULL;
    if (library == NULL) {
        if (dladdr((void *)mprof_start, &us) == 0)
            return MPROF_E_MALLOC;
        int folder = (int)(mprof__base_name(us.dli_fname) - us.dli_fname);
        snprintf(path, sizeof path, "%.*slibmprof_malloc.so.1", folder,
                 us.dli_fname);
        library = path;
    }
    if (access(library, R_OK) != 0)
        return MPROF_E_MALLOC;
    int n = others == NULL || *others == '\0'
                ? asprintf(&all, "%s", library)
                : asprintf(&all, "%s:%s", library, others);
    if (n < 0 || setenv("LD_PRELOAD", all, 1) != 0)
        return MPROF_E_MEMORY;
    free(all);
    return 0;
}

int mprof_reexec(void) {
    if (mprof__process_is_secure())
        return MPROF_E_MALLOC;
    int error = preload();
    char **arguments = error == 0 ? read_arguments() : NULL;
    if (error != 0)
        return error;
    if (arguments == NULL)
        return MPROF_E_MEMORY;
    /* It waits until it is started, and is not for what the program runs. */
    setenv("MPROF_START", "no", 1);
    setenv("MPROF_CHILDREN", "no", 1);
    execve("/proc/self/exe", arguments, environ);
    return MPROF_E_MALLOC;
}
