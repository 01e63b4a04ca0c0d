/* c-executes.c - execute PROGRAM in FOLDER by each function that does so:
 *
 *     c-executes FOLDER PROGRAM
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { WAYS = 11 };

static char path[4096];
static const char *name;

static void execute(int way) {
    char *const arguments[] = {(char *)name, "7", NULL};
    switch (way) {
    case 0:
        execve(path, arguments, environ);
        break;
    case 1:
        execv(path, arguments);
        break;
    case 2:
        execvp(name, arguments);
        break;
    case 3:
        execvpe(name, arguments, environ);
        break;
    case 4:
        execl(path, name, "7", (char *)NULL);
        break;
    case 5:
        execlp(name, name, "7", (char *)NULL);
        break;
    case 6:
        execle(path, name, "7", (char *)NULL, environ);
        break;
    case 7:
        fexecve(open(path, O_RDONLY), arguments, environ);
        break;
    case 8:
        execveat(AT_FDCWD, path, arguments, environ, 0);
        break;
    }
    _exit(99);
}

static int status_of(pid_t child) {
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -status;
}

static pid_t spawn(int way) {
    char *const arguments[] = {(char *)name, "7", NULL};
    pid_t child = -1;
    int error =
        way % 2 ? posix_spawn(&child, path, NULL, NULL, arguments, environ)
                : posix_spawnp(&child, name, NULL, NULL, arguments, environ);
    return error == 0 ? child : -1;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    name = argv[2];
    snprintf(path, sizeof path, "%s/%s", argv[1], name);
    for (int way = 0; way < WAYS; way++) {
        pid_t child;
        if (way >= WAYS - 2)
            child = spawn(way);
        else if (way % 2)
            child = vfork();
        else
            child = fork();
        if (child == 0)
            execute(way);
        printf("way %d: status %d\n", way, status_of(child));
        fflush(stdout);
    }
    return 0;
}
