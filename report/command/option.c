/* option.c - see option.h. */
#include "report/command/option.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN = 20 /* where help begins */, LONGEST = 30, NEAR = 2 };

bool report__refuse(struct report__parse *parse, const char *format, ...) {
    va_list arguments;

    fputs(parse->prefix, parse->err);
    va_start(arguments, format);
    vfprintf(parse->err, format, arguments);
    va_end(arguments);
    putc('\n', parse->err);
    return false;
}

/* The distance of Damerau and Levenshtein, with whole rows. */
uint32_t report__name_distance(const char *a, const char *b) {
    uint32_t d[LONGEST + 2][LONGEST + 2];
    const size_t m = strlen(a), n = strlen(b);

    if (m > LONGEST || n > LONGEST)
        return (uint32_t)(m > n ? m : n);
    for (uint32_t i = 0; i <= m; i++)
        for (uint32_t j = 0; j <= n; j++) {
            uint32_t least = i == 0 ? j : d[i - 1][j] + 1;
            if (i > 0 && j == 0)
                least = i;
            if (i > 0 && j > 0) {
                const uint32_t put = d[i][j - 1] + 1;
                const uint32_t change =
                    d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
                least = put < least ? put : least;
                least = change < least ? change : least;
            }
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < least)
                least = d[i - 2][j - 2] + 1;
            d[i][j] = least;
        }
    return d[m][n];
}

static bool is_of(const struct report__option *option,
                  const struct report__parse *parse) {
    return (option->commands & parse->command) != 0;
}

static const struct report__option *find(const struct report__parse *parse,
                                         const char *name, size_t length) {
    if (length == 1 && *name == 'o')
        return find(parse, "output", strlen("output"));
    if (length == 1 && *name == 'h')
        return find(parse, "help", strlen("help"));
    for (const struct report__option *o = parse->list; o->name != NULL; o++)
        if (is_of(o, parse) && strncmp(o->name, name, length) == 0 &&
            o->name[length] == '\0')
            return o;
    return NULL;
}

/* What was probably meant by NAME; NULL: no idea. */
static const char *nearest(const struct report__parse *parse,
                           const char *name) {
    const char *best = NULL;
    uint32_t least = NEAR + 1;

    for (const struct report__option *o = parse->list; o->name != NULL; o++) {
        if (!is_of(o, parse) || *o->help == '\0')
            continue;
        uint32_t distance = report__name_distance(o->name, name);
        if (strlen(name) > NEAR && strncmp(o->name, name, strlen(name)) == 0)
            distance = 1;
        if (distance < least && distance < strlen(name)) {
            least = distance;
            best = o->name;
        }
    }
    return best;
}

static bool refuse_unknown(struct report__parse *parse, const char *argument,
                           const char *name, size_t length) {
    char word[LONGEST + 1];
    const char *near;

    snprintf(word, sizeof word, "%.*s", (int)length, name);
    near = nearest(parse, word);
    if (near)
        return report__refuse(parse,
                              "unknown option '%s'; did you mean --%s?  See: "
                              "mprof %s --help",
                              argument, near, parse->name);
    return report__refuse(parse, "unknown option '%s'; see: mprof %s --help",
                          argument, parse->name);
}

/* Set what OPTION is about. */
static bool set(struct report__parse *parse,
                const struct report__option *option, const char *value) {
    void *field = (char *)parse->fields + option->field;
    int chosen;

    switch (option->kind) {
    case MPROF_OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case MPROF_OPTION_TEXT:
        *(const char **)field = value;
        return true;
    case MPROF_OPTION_NUMBER:
        return report__take_number(parse, value, option->what, field);
    case MPROF_OPTION_CHOICE:
        chosen = report__choose(parse, &option->choices, value, strlen(value));
        if (chosen >= 0)
            *(unsigned *)field = (unsigned)chosen;
        return chosen >= 0;
    case MPROF_OPTION_CALL:
        return option->set(parse, value);
    case MPROF_OPTION_ALIAS:
        break;
    }
    char *argv[] = {
        report__format(parse->pool, "--%s%s", option->what, value ? value : ""),
        NULL};
    int at = 0;
    return report__take_option(parse, argv, &at);
}

bool report__take_option(struct report__parse *parse, char **argv, int *at) {
    const char *argument = argv[*at];
    const char *name = argument + (argument[1] == '-' ? 2 : 1);
    const size_t length = strcspn(name, "=");
    const struct report__option *option = find(parse, name, length);
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const int shown = (int)(name - argument) + (int)length;

    if (option == NULL)
        return refuse_unknown(parse, argument, name, length);
    if (option->value == NULL && value != NULL)
        return report__refuse(parse, "option '%.*s' takes no value", shown,
                              argument);
    const bool is_needed = option->value != NULL && *option->value != '[';
    if (is_needed && value == NULL && argv[*at + 1] != NULL)
        value = argv[++*at];
    if ((is_needed && value == NULL) || (value != NULL && *value == '\0'))
        return report__refuse(parse, "option '%.*s' needs a value", shown,
                              argument);
    return set(parse, option, value);
}

bool report__take_number(struct report__parse *parse, const char *value,
                         const char *what, uint32_t *number) {
    char *end;
    unsigned long n = strtoul(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end || n > UINT32_MAX)
        return report__refuse(parse, "'%s' is not a number of %s", value, what);
    *number = (uint32_t)n;
    return true;
}

int report__choose(struct report__parse *parse,
                   const struct report__choices *choices, const char *value,
                   size_t length) {
    FILE *err = parse->err;

    for (uint32_t i = 0; i < choices->count; i++)
        if (choices->names[i] &&
            strncmp(value, choices->names[i], length) == 0 &&
            choices->names[i][length] == '\0')
            return (int)i;
    fprintf(err, "%sthere is no %s '%.*s'; choose", parse->prefix,
            choices->what, (int)length, value);
    const char *separator = " ";
    for (uint32_t i = 0; i < choices->count; i++) {
        if (!choices->names[i])
            continue;
        fprintf(err, "%s%s", separator, choices->names[i]);
        separator = i + 2 == choices->count ? " or " : ", ";
    }
    putc('\n', err);
    return -1;
}

/* One option, in a line or more. */
static void describe(const struct report__option *option, FILE *out) {
    const char *line = option->help;
    const char *value = option->value ? option->value : "";
    int width = fprintf(out, "  %s--%s%s%s",
                        strcmp(option->name, "output") == 0 ? "-o, "
                        : strcmp(option->name, "help") == 0 ? "-h, "
                                                            : "",
                        option->name,
                        *value != '\0' && *value != '[' ? "=" : "", value);

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

void report__describe_options(const struct report__option *list,
                              unsigned command, FILE *out) {
    static const char *const headings[MPROF_OPTION_GROUPS] = {
        [MPROF_OPTIONS_WHAT] = "What to show",
        [MPROF_OPTIONS_PART] = "Which part of it",
        [MPROF_OPTIONS_HOW] = "How to show it",
        [MPROF_OPTIONS_GENERAL] = "General"};

    for (unsigned group = 0; group < MPROF_OPTION_GROUPS; group++) {
        bool begun = false;
        for (const struct report__option *o = list; o->name != NULL; o++) {
            if (o->group != group || !(o->commands & command) ||
                *o->help == '\0')
                continue;
            if (!begun)
                fprintf(out, "\n%s:\n", headings[group]);
            begun = true;
            describe(o, out);
        }
    }
}
