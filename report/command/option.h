/* option.h - the options of a command, each in one place: its name, its help,
 * and what it does.
 *
 * getopt_long() keeps its state in variables of the process and speaks on the
 * standard error; the command is also a function that threads of Lisp call.
 */
#ifndef REPORT_COMMAND_OPTION_H
#define REPORT_COMMAND_OPTION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report__option {
    const char *name;  /* without dashes; NULL ends a list */
    const char *value; /* as --help calls it; NULL: it takes none */
    const char *help;  /* its lines */
    /* Set it in what report__take_option() got; false after a line on ERR. */
    bool (*set)(void *options, const char *value, FILE *err);
};

/* Functions for `set`: FIELD of what is a TYPE becomes VALUE, or the option's
 * value. */
#define REPORT__SETS(function, type, field, wanted)                            \
    static bool function(void *options, const char *value, FILE *err) {        \
        type *o = options;                                                     \
        (void)value, (void)err;                                                \
        o->field = wanted;                                                     \
        return true;                                                           \
    }
#define REPORT__TAKES(function, type, field)                                   \
    REPORT__SETS(function, type, field, value)

/* Take the option at ARGV[*AT], with one dash or two, and its value from there
 * or from the next argument, to which *AT moves.  False after a line on ERR,
 * which begins with PREFIX. */
bool report__take_option(const struct report__option *list, char **argv,
                         int *at, const char *prefix, FILE *err, void *options);

/* VALUE as *NUMBER of WHAT; false after a line on ERR. */
bool report__take_number(const char *value, const char *what, FILE *err,
                         uint32_t *number);

/* Names that an option's value is one of. */
struct report__choices {
    const char *no; /* before a value that is none: "no format" */
    const char *const *names;
    int count;
};
#define REPORT__CHOICES(no, names)                                             \
    (const struct report__choices) {                                           \
        no, names, (int)(sizeof names / sizeof *names)                         \
    }

/* Which of CHOICES the LENGTH characters at VALUE are, from 0 on; -1 after a
 * line on ERR that names them. */
int report__choose(struct report__choices choices, const char *value,
                   size_t length, FILE *err);

/* A line or more for each that has help. */
void report__describe_options(const struct report__option *list, FILE *out);

#endif
