/* c-address-limit.c - the program limits its own addresses, and then asks for
 * what it must get. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static void *nothing(void *unused) {
    return unused;
}

int main(void) {
    const struct rlimit most = {256u << 20, 256u << 20};
    pthread_t thread;
    free(malloc(10));
    setrlimit(RLIMIT_AS, &most);
    int error = pthread_create(&thread, NULL, nothing, NULL);
    if (error == 0)
        pthread_join(thread, NULL);
    char *large = malloc(128u << 20);
    printf("thread: %d, memory: %s\n", error, large != NULL ? "yes" : "no");
    free(large);
    return 0;
}
