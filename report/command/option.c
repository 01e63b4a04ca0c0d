/* option.c - see option.h. */
#include "report/command/option.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMN = 18 }; /* where help begins */

static const struct report__option *find(const struct report__option *list,
                                         const char *name, size_t length) {
    for (; list->name != NULL; list++)
        if (strncmp(list->name, name, length) == 0 &&
            list->name[length] == '\0')
            return list;
    return NULL;
}

bool report__take_option(const struct report__option *list, char **argv,
                         int *at, const char *prefix, FILE *err,
                         void *options) {
    const char *argument = argv[*at];
    const char *name = argument + (argument[1] == '-' ? 2 : 1);
    size_t length = strcspn(name, "=");
    const struct report__option *option = find(list, name, length);
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    int shown = (int)(name - argument) + (int)length;

    if (option == NULL) {
        fprintf(err, "%sunknown option '%s'; try mprof --help\n", prefix,
                argument);
        return false;
    }
    if (option->value == NULL && value != NULL) {
        fprintf(err, "%soption '%.*s' takes no value\n", prefix, shown,
                argument);
        return false;
    }
    if (option->value != NULL && value == NULL && argv[*at + 1] != NULL)
        value = argv[++*at];
    if (option->value != NULL && (value == NULL || *value == '\0')) {
        fprintf(err, "%soption '%.*s' needs a value\n", prefix, shown,
                argument);
        return false;
    }
    return option->set(options, value, err);
}

bool report__take_number(const char *value, const char *what, FILE *err,
                         uint32_t *number) {
    char *end;
    unsigned long n = strtoul(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end || n > UINT32_MAX) {
        fprintf(err, "mprof: '%s' is not a number of %s\n", value, what);
        return false;
    }
    *number = (uint32_t)n;
    return true;
}

int report__choose(struct report__choices choices, const char *value,
                   size_t length, FILE *err) {
    const int count = choices.count;

    for (int i = 0; i < count; i++)
        if (strncmp(value, choices.names[i], length) == 0 &&
            choices.names[i][length] == '\0')
            return i;
    fprintf(err, "mprof: %s '%.*s'; there are", choices.no, (int)length, value);
    for (int i = 0; i < count; i++)
        fprintf(err, "%s %s",
                i == 0           ? ""
                : i + 1 == count ? " and"
                                 : ",",
                choices.names[i]);
    putc('\n', err);
    return -1;
}

void report__describe_options(const struct report__option *list, FILE *out) {
    for (; list->name != NULL; list++) {
        if (*list->help == '\0')
            continue;
        const char *line = list->help;
        int width = fprintf(out, "  --%s", list->name);
        if (list->value != NULL)
            width += fprintf(out, "=%s", list->value);
        if (width >= COLUMN) {
            putc('\n', out);
            width = 0;
        }
        for (size_t length; *line != '\0'; line += length, width = 0) {
            length = strcspn(line, "\n");
            fprintf(out, "%*s%.*s\n", COLUMN - width, "", (int)length, line);
            length += line[length] == '\n';
        }
    }
}
