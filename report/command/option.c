/* option.c - options as they are written, and in --help. */
#include "report/command/command.h"

#include <stdarg.h>

enum { COLUMN = 20 /* where help begins */, LONGEST = 30, NEAR = 2 };

/* Before each line about wrong arguments. */
static void put_prefix(const struct report__call *call) {
    const bool is_report =
        call->command == &report__commands[MPROF_COMMAND_REPORT];

    fprintf(call->err,
            is_report ? "mprof: " : "mprof: %s: ", call->command->name);
}

bool report__refuse(const struct report__call *call, const char *format, ...) {
    va_list arguments;

    put_prefix(call);
    va_start(arguments, format);
    vfprintf(call->err, format, arguments);
    va_end(arguments);
    putc('\n', call->err);
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
                  const struct report__call *call) {
    return option->commands >> (call->command - report__commands) & 1;
}

static const struct report__option *find(const struct report__call *call,
                                         const char *name, size_t length) {
    if (length == 1 && *name == 'o')
        return find(call, "output", strlen("output"));
    if (length == 1 && *name == 'h')
        return find(call, "help", strlen("help"));
    for (const struct report__option *o = report__option_list; o->name; o++)
        if (is_of(o, call) && strncmp(o->name, name, length) == 0 &&
            o->name[length] == '\0')
            return o;
    return NULL;
}

/* Return the option that was probably meant by NAME; NULL: no idea. */
static const char *nearest(const struct report__call *call, const char *name) {
    const char *best = NULL;
    uint32_t least = NEAR + 1;

    for (const struct report__option *o = report__option_list; o->name; o++) {
        if (!is_of(o, call) || *o->help == '\0')
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

static bool refuse_unknown(struct report__call *call, const char *argument,
                           const char *name, size_t length) {
    char word[LONGEST + 1];

    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *near = nearest(call, word);
    return report__refuse(call, "unknown option '%s'; %s%s%s mprof %s --help",
                          argument, near ? "did you mean --" : "see",
                          near ? near : "", near ? "?  See:" : ":",
                          call->command->name);
}

static bool take_number(const struct report__call *call, const char *value,
                        const char *what, uint32_t *number) {
    char *end;
    unsigned long n = strtoul(value, &end, 10);

    if (value[0] < '0' || value[0] > '9' || *end || n > UINT32_MAX)
        return report__refuse(call, "'%s' is not a number of %s", value, what);
    *number = (uint32_t)n;
    return true;
}

/* Set what OPTION is about. */
static bool set(struct report__call *call, const struct report__option *option,
                const char *value) {
    void *field = (char *)&call->options + option->field;
    int chosen;

    switch (option->kind) {
    case MPROF_OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case MPROF_OPTION_TEXT:
        *(const char **)field = value;
        return true;
    case MPROF_OPTION_NUMBER:
        return take_number(call, value, option->what, field);
    case MPROF_OPTION_CHOICE:
        chosen = report__choose(call, option->what, option->words, value,
                                strlen(value));
        if (chosen >= 0)
            *(unsigned *)field = (unsigned)chosen;
        return chosen >= 0;
    case MPROF_OPTION_CALL:
        return option->set(call, value ? value : option->what);
    case MPROF_OPTION_ALIAS:
        break;
    }
    char *argv[] = {
        report__format(&call->pool, "--%s%s", option->what, value ? value : ""),
        NULL};
    return report__take_option(call, argv, &(int){0});
}

bool report__take_option(struct report__call *call, char **argv, int *at) {
    const char *argument = argv[*at];
    const char *name = argument + (argument[1] == '-' ? 2 : 1);
    const size_t length = strcspn(name, "=");
    const struct report__option *option = find(call, name, length);
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const int shown = (int)(name - argument) + (int)length;

    if (!option)
        return refuse_unknown(call, argument, name, length);
    if (!option->value && value)
        return report__refuse(call, "option '%.*s' takes no value", shown,
                              argument);
    const bool is_needed = option->value && *option->value != '[';
    if (is_needed && !value && argv[*at + 1])
        value = argv[++*at];
    if ((is_needed && !value) || (value && *value == '\0'))
        return report__refuse(call, "option '%.*s' needs a value", shown,
                              argument);
    return set(call, option, value);
}

int report__choose(struct report__call *call, const char *what,
                   const char *words, const char *value, size_t length) {
    const char *separator = " ";
    int i = 0;

    for (const char *word = words; word; word = strchr(word, ' '), i++) {
        word += i > 0;
        if (strcspn(word, " ") == length && strncmp(word, value, length) == 0)
            return i;
    }
    put_prefix(call);
    fprintf(call->err, "there is no %s '%.*s'; choose", what, (int)length,
            value);
    for (words += *words == ' '; words;) {
        const char *next = strchr(words, ' ');
        fprintf(call->err, "%s%.*s", separator, (int)strcspn(words, " "),
                words);
        words = next ? next + 1 : NULL;
        separator = words && strchr(words, ' ') ? ", " : " or ";
    }
    putc('\n', call->err);
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

void report__describe_options(unsigned command, FILE *out) {
    const char *heading = NULL;

    for (const struct report__option *o = report__option_list; o->name; o++) {
        if (o->commands == 0)
            heading = o->name;
        if (!(o->commands & command) || *o->help == '\0')
            continue;
        if (heading)
            fprintf(out, "\n%s:\n", heading);
        heading = NULL;
        describe(o, out);
    }
}
