/* c-keys.c - destructors of thread-specific data that allocate, again and
 * again, after all others have run. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 20, KEYS = 40 };

static pthread_key_t keys[KEYS];
static long calls;

/* Comes back as often as the library allows it. */
static void last_wish(void *old) {
    for (int i = 0; i < KEYS; i++)
        if (pthread_getspecific(keys[i]) == NULL) {
            __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
            pthread_setspecific(keys[i], malloc(72));
            break;
        }
    free(old);
}

static void *body(void *argument) {
    (void)argument;
    pthread_setspecific(keys[0], malloc(24));
    pthread_setspecific(keys[KEYS - 1], malloc(24));
    return NULL;
}

int main(void) {
    for (int i = 0; i < KEYS; i++)
        pthread_key_create(&keys[i], i % (KEYS - 1) == 0 ? last_wish : NULL);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, body, NULL);
        pthread_join(thread, NULL);
    }
    printf("%ld calls\n", calls);
    return 0;
}
