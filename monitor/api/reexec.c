/* reexec.c - start the program again, with malloc() seen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/format/process.h"
#include "monitor/include/mprof.h"

extern char **environ;

/* All of FILE, with a NUL behind it, to be freed; NULL: see errno. */
static char *read_all(const char *file, size_t *size) {
    size_t room = 4096;
    char *text = malloc(room);
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t n = 0;
    *size = 0;
    while (fd >= 0 && text != NULL &&
           (n = read(fd, text + *size, room - *size - 1)) > 0) {
        *size += (size_t)n;
        if (*size + 1 < room)
            continue;
        char *more = realloc(text, room *= 2);
        if (more == NULL)
            break;
        text = more;
    }
    if (fd < 0 || text == NULL || n < 0) {
        free(text);
        text = NULL;
    } else {
        text[*size] = '\0';
    }
    if (fd >= 0)
        close(fd);
    return text;
}

/* The arguments of this process. */
static char **read_arguments(void) {
    size_t size, count = 0;
    char *text = read_all("/proc/self/cmdline", &size);
    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < size; i++)
        count += text[i] == '\0';
    char **arguments = calloc(count + 2, sizeof *arguments);
    if (arguments == NULL)
        return NULL;
    char *at = text;
    for (size_t i = 0; at < text + size; i++) {
        arguments[i] = at;
        at += strlen(at) + 1;
    }
    return arguments;
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
        const char *slash = strrchr(us.dli_fname, '/');
        int folder = slash == NULL ? 0 : (int)(slash + 1 - us.dli_fname);
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
