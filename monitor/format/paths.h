/* paths.h - parts of the path of a file. */
#ifndef MONITOR_FORMAT_PATHS_H
#define MONITOR_FORMAT_PATHS_H

#include <string.h>

/* The file of PATH, without its folders. */
static inline const char *mprof__base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* The same of a file that the loader has, by its name there: the program has
 * none. */
static inline const char *mprof__loaded_name(const char *path) {
    return *path == '\0' ? "the program" : mprof__base_name(path);
}

#endif
