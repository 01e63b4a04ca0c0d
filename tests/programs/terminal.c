/* terminal.c - run a command on a terminal: terminal COLUMNS COMMAND...
 *
 * Prints what appears there, and ends with the command's status. */
#define _GNU_SOURCE
#include <errno.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct winsize size = {.ws_row = 24};
    char text[65536];
    int terminal, status;
    ssize_t n;

    if (argc < 3)
        return 99;
    size.ws_col = (unsigned short)atoi(argv[1]);
    pid_t pid = forkpty(&terminal, NULL, NULL, &size);
    if (pid < 0)
        return 99;
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        _exit(99);
    }
    /* At the end Linux says EIO. */
    while ((n = read(terminal, text, sizeof text)) > 0 ||
           (n < 0 && errno == EINTR))
        for (ssize_t i = 0; i < n; i++)
            if (text[i] != '\r')
                putchar(text[i]);
    if (waitpid(pid, &status, 0) != pid)
        return 99;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
