/* c-cloned.c [fork] - a child by the system call clone, or by fork(),
 * allocates. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* So that fork() has handlers which allocate on both sides. */
static void allocate(void) {
    free(malloc(77));
}

static void __attribute__((constructor(101))) be_early(void) {
    pthread_atfork(allocate, allocate, allocate);
}

int main(int argc, char **argv) {
    int status = 0;
    char *text = strdup("hello");
    (void)argv;
    pid_t child =
        argc > 1 ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        for (int i = 0; i < 100; i++)
            free(malloc((size_t)i * 50));
        printf("child %s\n", text);
        exit(7);
    }
    waitpid(child, &status, 0);
    printf("parent %s, status %d\n", text, WEXITSTATUS(status));
    free(text);
    return 0;
}
