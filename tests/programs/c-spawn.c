/* c-spawn.c WAY - start another program: `spawn`, `vfork`, `system`, `popen`,
 * `exec` (in place of this one), `environment` (exec with an environment of its
 * own); or try it and go on: `exec-fails`, `spawn-fails`.  `child` is that
 * other program. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *volatile sink;

static void parent_works(void) {
    for (int i = 0; i < 10; i++)
        sink = malloc(60);
}

static void child_works(void) {
    for (int i = 0; i < 20; i++)
        sink = malloc(70);
    free(sink);
}

/* A child of vfork() shares the memory: what it allocates is the parent's. */
static void in_vfork(void) {
    sink = malloc(80);
}

static int wait_for(pid_t child) {
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

static int spawn(char **argv) {
    pid_t child;
    if (posix_spawn(&child, argv[0], NULL, NULL, argv, environ) != 0)
        return -1;
    return wait_for(child);
}

static int by_vfork(char **argv) {
    pid_t child = vfork();
    if (child == 0) {
        in_vfork();
        execve(argv[0], argv, environ);
        _exit(99);
    }
    return wait_for(child);
}

static int by_system(const char *program) {
    char command[4200];
    snprintf(command, sizeof command, "'%s' child; exit $?", program);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

static int by_popen(const char *program) {
    char command[4200], line[100] = "";
    snprintf(command, sizeof command, "exec '%s' child", program);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL || fgets(line, sizeof line, pipe) == NULL)
        return -1;
    printf("it said: %s", line);
    return WEXITSTATUS(pclose(pipe));
}

static int run(const char *way, char **child) {
    if (strcmp(way, "spawn") == 0)
        return spawn(child);
    if (strcmp(way, "vfork") == 0)
        return by_vfork(child);
    if (strcmp(way, "system") == 0)
        return by_system(child[0]);
    if (strcmp(way, "popen") == 0)
        return by_popen(child[0]);
    if (strcmp(way, "exec") == 0)
        execv(child[0], child);
    if (strcmp(way, "exec-fails") == 0)
        execl("/nonexistent", "nonexistent", (char *)NULL);
    if (strcmp(way, "spawn-fails") == 0)
        posix_spawn(&(pid_t){0}, "/nonexistent", NULL, NULL, child, environ);
    if (strcmp(way, "environment") == 0) {
        char *mine[] = {strdup("ONLY=this"), NULL};
        execve(child[0], child, mine);
    }
    parent_works();
    return -3;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "child";
    if (strcmp(way, "child") == 0) {
        child_works();
        puts("the child works");
        return 4;
    }
    char *child[] = {argv[0], strdup("child"), NULL};
    parent_works();
    printf("%s\n", way);
    fflush(stdout);
    printf("status %d\n", run(way, child));
    return 0;
}
