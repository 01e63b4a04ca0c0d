/* c-replaced.c DIRECTORY - next.so comes where lib.so was, by its name. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uintptr_t use(const char *path, const char *function) {
    void *library = dlopen(path, RTLD_NOW);
    void *(*make)(size_t);
    if (library == NULL) {
        printf("%s\n", dlerror());
        exit(1);
    }
    make = (void *(*)(size_t))dlsym(library, function);
    for (int i = 0; i < 3; i++)
        free(make(10));
    dlclose(library);
    return (uintptr_t)make;
}

int main(int argc, char **argv) {
    char path[4200], other[4200];
    if (argc < 2)
        return 2;
    snprintf(path, sizeof path, "%s/lib.so", argv[1]);
    snprintf(other, sizeof other, "%s/next.so", argv[1]);
    uintptr_t first = use(path, "one_make");
    if (rename(other, path) != 0)
        return 3;
    printf("at %s address\n",
           use(path, "two_make") == first ? "the same" : "another");
    return 0;
}
