/* library.c - the command as a string, for Lisp. */
#include "report/command/report.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/command/command.h"

struct capture {
    char *text;
    size_t size;
    FILE *stream;
};

static bool capture_start(struct capture *capture, char first) {
    capture->stream = open_memstream(&capture->text, &capture->size);
    if (capture->stream)
        putc(first, capture->stream);
    return capture->stream != NULL;
}

static bool capture_end(struct capture *capture) {
    bool good = capture->stream && !ferror(capture->stream);
    if (capture->stream && fclose(capture->stream) != 0)
        good = false;
    return good && capture->text;
}

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
    while (text && *text) {
        char *end = strchr(text, '\n');
        if (end)
            *end++ = '\0';
        argv[(*argc)++] = text;
        text = end;
    }
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
    struct capture out = {0}, err = {0};
    int argc = 0, status = 1;
    char **argv = split(arguments, &argc);
    bool good = argv && capture_start(&out, '0') && capture_start(&err, '1');

    if (good)
        status = report__main(argc, argv, out.stream, err.stream);
    good &= capture_end(&out);
    good &= capture_end(&err);
    free(argv);
    char *result = status == 0 ? out.text : err.text;
    free(status == 0 ? err.text : out.text);
    if (!good) {
        free(result);
        return NULL;
    }
    if (status != 0)
        strip(result);
    return result;
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
