/* environment.c - see environment.h. */
#define _GNU_SOURCE
#include "monitor/malloc/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool mprof__expand(const char *pattern, char *name, size_t size, bool *by_pid) {
    char text[32];
    size_t n = 0;
    for (const char *p = pattern; *p != '\0'; p++) {
        const char *part = text;
        text[0] = *p;
        text[1] = '\0';
        if (*p == '%' && p[1] != '\0')
            switch (*++p) {
            case 'p':
                snprintf(text, sizeof text, "%ld", (long)getpid());
                *by_pid = true;
                break;
            case 'n':
                part = program_invocation_short_name;
                break;
            case '%':
                break;
            default:
                text[0] = '%';
                text[1] = *p;
                text[2] = '\0';
            }
        size_t length = strlen(part);
        if (n + length >= size)
            return false;
        memcpy(name + n, part, length);
        n += length;
    }
    name[n] = '\0';
    return true;
}

bool mprof__read_run(const char *text, pid_t *pid, uint64_t *since) {
    char *end;
    pid_t first = (pid_t)strtol(text, &end, 10);
    if (*end != ':' || first <= 0)
        return false;
    *pid = first;
    *since = strtoull(end + 1, NULL, 10);
    return true;
}

static void drop_variable(char **at) {
    do
        at[0] = at[1];
    while (*at++ != NULL);
}

static bool begins(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* Is VARIABLE ours, and not for who starts later? */
static bool is_ours(const char *variable, bool start) {
    return start ? begins(variable, "MPROF_")
                 : begins(variable, "MPROF_START=") ||
                       begins(variable, "MPROF_CHILDREN=") ||
                       begins(variable, "MPROF_RUN=");
}

/* Take LIBRARY out of VARIABLE; false: then nothing is left of that. */
static bool leave_library(char *variable, const char *library) {
    static const char name[] = "LD_PRELOAD=";
    size_t length = strlen(library);
    if (!begins(variable, name) || !begins(variable + sizeof name - 1, library))
        return true;
    char *value = variable + sizeof name - 1;
    char after = value[length];
    if (after == ':')
        memmove(value, value + length + 1, strlen(value + length + 1) + 1);
    return after != '\0';
}

char *const *mprof__without_library(const char *preload, const char *library,
                                    char *const *variables, char **copy,
                                    char *text) {
    const char *at = strstr(preload, library);
    size_t before = (size_t)(at - preload), n = 0;
    const char *after = at + strlen(library);
    if (*after == ':' || *after == ' ')
        after++;
    else if (before > 0 && (preload[before - 1] == ':'))
        before--;
    memcpy(text, preload, before);
    strcpy(text + before, after);
    bool empty = strcmp(text, "LD_PRELOAD=") == 0;
    for (; *variables != NULL; variables++) {
        if (*variables != preload)
            copy[n++] = *variables;
        else if (!empty)
            copy[n++] = text;
    }
    copy[n] = NULL;
    return copy;
}

void mprof__leave_environment(char **variables, const char *library,
                              bool start) {
    for (char **at = variables; *at != NULL;)
        if (is_ours(*at, start) || !leave_library(*at, library))
            drop_variable(at);
        else
            at++;
}
