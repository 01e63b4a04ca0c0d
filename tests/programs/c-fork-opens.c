/* c-fork-opens.c - fork() while another thread opens and closes libraries. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 200 };

static volatile int stop;
static void *volatile sink;

static void *open_and_close(void *unused) {
    while (!stop) {
        void *library = dlopen("libresolv.so.2", RTLD_NOW);
        if (library != NULL)
            dlclose(library);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    int good = 0;
    if (pthread_create(&thread, NULL, open_and_close, NULL) != 0)
        return 1;
    for (int i = 0; i < FORKS; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            sink = malloc(10);
            _exit(3);
        }
        good += waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                WEXITSTATUS(status) == 3;
    }
    stop = 1;
    pthread_join(thread, NULL);
    printf("%d children\n", good);
    return 0;
}
