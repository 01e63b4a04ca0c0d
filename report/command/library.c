/* library.c - the command as a string, for Lisp. */
#include "report/command/report.h"

#include "report/command/command.h"

/* The lines of TEXT, which is cut up, as an argument vector, ended by NULL. */
static char **split(char *text, int *argc) {
    static char program[] = "mprof";
    size_t lines = 1;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    char **argv = calloc(lines + 3, sizeof *argv);
    if (!argv)
        return NULL;
    argv[(*argc)++] = program;
    while (text && *text)
        argv[(*argc)++] = strsep(&text, "\n");
    return argv;
}

/* "mprof: SENTENCE\n" becomes "SENTENCE", below the first character. */
static void strip(char *text) {
    static const char prefix[] = "mprof: ";
    char *line = text + 1;
    if (strncmp(line, prefix, sizeof prefix - 1) == 0)
        memmove(line, line + sizeof prefix - 1,
                strlen(line + sizeof prefix - 1) + 1);
    line[strcspn(line, "\n")] = '\0';
}

static char *run(char *arguments) {
    char *text[2] = {NULL, NULL}; /* the output; the errors */
    size_t size[2];
    FILE *stream[2];
    int argc = 0, status = 1;
    char **argv = split(arguments, &argc);
    bool good = argv;

    for (int i = 0; i < 2; i++) {
        stream[i] = open_memstream(&text[i], &size[i]);
        good &= stream[i] && putc('0' + i, stream[i]) != EOF;
    }
    if (good)
        status = report__main(argc, argv, stream[0], stream[1]);
    for (int i = 0; i < 2; i++) {
        good &= stream[i] && !ferror(stream[i]);
        good &= stream[i] && fclose(stream[i]) == 0;
    }
    free(argv);
    free(text[status == 0]);
    char *result = text[status != 0];
    if (good && status != 0)
        strip(result);
    if (good)
        return result;
    free(result);
    return NULL;
}

char *mprof_report_string(const char *arguments) {
    char *copy = strdup(arguments ? arguments : "");
    char *result = copy ? run(copy) : NULL;
    free(copy);
    return result;
}

void mprof_report_free(char *string) {
    free(string);
}
