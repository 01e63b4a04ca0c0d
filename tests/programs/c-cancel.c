/* c-cancel.c - threads that leave through all their frames at once, cleanup
 * handlers on the way, and what backtrace() sees of frames that allocate. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 20, DEPTH = 30 };

static int waiting;

static void clean_up(void *block) {
    free(block);
    free(malloc(25));
}

static void give_up(int depth, int by_cancel) {
    pthread_cleanup_push(clean_up, malloc(26));
    if (depth < DEPTH)
        give_up(depth + 1, by_cancel);
    else if (!by_cancel)
        pthread_exit((void *)5);
    __atomic_store_n(&waiting, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&waiting, __ATOMIC_RELAXED) >= 0)
        pause();
    pthread_cleanup_pop(0);
}

static void *exits(void *unused) {
    give_up(1, 0);
    return unused;
}

static void *is_cancelled(void *unused) {
    give_up(1, 1);
    return unused;
}

static long leave(void *(*body)(void *), int cancel) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, body, NULL);
    while (cancel && !__atomic_load_n(&waiting, __ATOMIC_ACQUIRE))
        usleep(50);
    waiting = 0;
    if (cancel)
        pthread_cancel(thread);
    pthread_join(thread, &result);
    return (long)result;
}

/* In the dynamic symbol table, for dladdr(). */
__attribute__((visibility("default"))) void look(int depth) {
    void *frames[50];
    free(malloc(27));
    if (depth > 0) {
        look(depth - 1);
        free(malloc(28));
        return;
    }
    int n = backtrace(frames, 50), looks = 0;
    for (int i = 0; i < n; i++) {
        Dl_info info = {0};
        dladdr((char *)frames[i] - 1, &info);
        looks += info.dli_sname != NULL && strcmp(info.dli_sname, "look") == 0;
    }
    printf("%d frames, of them %d look\n", n, looks);
}

int main(void) {
    long sum = 0;
    for (int i = 0; i < THREADS; i++) {
        sum += leave(exits, 0);
        sum += leave(is_cancelled, 1);
    }
    printf("%ld\n", sum);
    for (int i = 0; i < 3; i++)
        look(10);
    return 0;
}
