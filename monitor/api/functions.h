/* functions.h - the functions that mprof.h's functions call; see public.c. */
#ifndef MONITOR_API_FUNCTIONS_H
#define MONITOR_API_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct mprof_scope;
struct mprof_status;
struct mprof__heap_now;

struct mprof__functions {
    int (*start)(const char *file);
    int (*set_heaps)(unsigned heaps);
    int (*stop)(void);
    int (*restart)(const char *file);
    void (*set_autosave)(int count);
    int (*reset)(void);
    int (*save)(const char *file);
    int (*status)(struct mprof_status *status);
    void (*set_limit)(uint64_t bytes);
    void (*set_warnings)(int on);
    void (*heap)(bool reset, struct mprof__heap_now *now);
    void (*watch)(void (*function)(void *cookie, uint64_t current),
                  void *cookie);
    int (*resume)(void);
    int (*mark)(const char *name);
    int (*scope_begin)(struct mprof_scope *scope, unsigned heaps);
    int (*scope_end)(struct mprof_scope *scope);
    int (*scope_save)(const struct mprof_scope *scope, const char *file);
    void (*scope_free)(struct mprof_scope *scope);
    int (*set_live)(int mode);
    int (*snapshot)(unsigned *number);
    int (*keepers)(unsigned from, unsigned until);
    int (*save_alive)(const char *file, unsigned from, unsigned until);
    int (*set_sampling)(unsigned bytes);
};

/* Of this library's monitor (api.c). */
extern const struct mprof__functions mprof__own_functions;

/* From now on calls of the public functions of the library that has this one
 * go to OTHERS. */
void mprof_set_functions(const struct mprof__functions *others)
    __attribute__((visibility("default")));

#endif
