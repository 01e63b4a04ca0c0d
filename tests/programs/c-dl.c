/* c-dl.c DIRECTORY [threads] - libraries that come and go, one in another's
 * place; or each on a thread of its own, at the same time.
 *
 * With MAPS in the environment it tells on stderr how often a library came to
 * an address that another one had had. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 20 };

static unsigned moved_in;

static void note_address(void *function) {
    static uintptr_t last;
    uintptr_t page = (uintptr_t)function & ~(uintptr_t)4095;
    moved_in += page == last;
    last = page;
}

static void *use(const char *directory, const char *name, int keep) {
    char text[4200];
    snprintf(text, sizeof text, "%s/%s.so", directory, name);
    void *library = dlopen(text, RTLD_NOW);
    if (library == NULL) {
        printf("%s\n", dlerror());
        exit(1);
    }
    snprintf(text, sizeof text, "%s_make", name);
    void *(*make)(size_t) = (void *(*)(size_t))dlsym(library, text);
    note_address((void *)make);
    free(make(100));
    make(8);
    if (keep)
        return library;
    dlclose(library);
    return NULL;
}

struct user {
    const char *directory, *name;
};

static void *use_often(void *argument) {
    const struct user *user = argument;
    for (int i = 0; i < 50 * ROUNDS; i++)
        use(user->directory, user->name, 0);
    return NULL;
}

static void on_threads(const char *directory) {
    struct user users[] = {
        {directory, "one"}, {directory, "two"}, {directory, "three"}};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, use_often, &users[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    if (argc > 2) {
        on_threads(argv[1]);
        puts("on threads");
        return 0;
    }
    for (int i = 0; i < ROUNDS; i++) {
        use(argv[1], "one", 0);
        use(argv[1], "two", 0);
    }
    /* Opened twice and closed once it stays where it is. */
    void *kept = use(argv[1], "one", 1);
    use(argv[1], "one", 0);
    use(argv[1], "two", 0);
    dlclose(kept);
    printf("%d rounds\n", ROUNDS);
    if (getenv("MAPS") != NULL)
        fprintf(stderr, "%u moved in\n", moved_in);
    return 0;
}
