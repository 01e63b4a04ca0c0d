/* option.h - options of the commands: one row for each, which says what it
 * sets, which commands take it, and what --help prints.
 *
 * getopt_long() keeps its state in variables of the process and prints on
 * standard error; a command is also a function that threads of Lisp call.
 */
#ifndef REPORT_COMMAND_OPTION_H
#define REPORT_COMMAND_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/base/pool.h"

/* Names that a value is one of; NULL: one that users do not name. */
struct report__choices {
    const char *what; /* "format" */
    const char *const *names;
    uint32_t count;
};

enum report__option_kind {
    MPROF_OPTION_FLAG,   /* a bool becomes true */
    MPROF_OPTION_TEXT,   /* a const char * */
    MPROF_OPTION_NUMBER, /* an uint32_t; `what` is "rows" */
    MPROF_OPTION_CHOICE, /* an enum becomes the index of a name */
    MPROF_OPTION_CALL,   /* `set` does it */
    MPROF_OPTION_ALIAS   /* `what` is the option it means: "max=bytes=" */
};

/* What the help of a command groups. */
enum report__option_group {
    MPROF_OPTIONS_WHAT,
    MPROF_OPTIONS_PART,
    MPROF_OPTIONS_HOW,
    MPROF_OPTIONS_GENERAL,
    MPROF_OPTION_GROUPS
};

struct report__parse;

struct report__option {
    const char *name;  /* without dashes; NULL ends a list */
    const char *value; /* in --help; NULL: none; "[=X]": it may be left out */
    const char *help;  /* lines, of at most 59 columns; "": an old name, which
                        * --help leaves out */
    unsigned commands; /* bits 1 << enum report__command_id */
    enum report__option_group group;
    enum report__option_kind kind;
    size_t field; /* the offset of what is set */
    struct report__choices choices;
    const char *what;
    /* False after a line on PARSE->err.  VALUE is NULL if it was left out. */
    bool (*set)(struct report__parse *parse, const char *value);
};

/* Arguments that are looked at, one after the other. */
struct report__parse {
    const struct report__option *list;
    unsigned command;   /* one bit, as in `commands` */
    const char *prefix; /* of messages: "mprof: html: " */
    const char *name;   /* of the command, for hints */
    void *fields;       /* the struct that options are set in */
    struct report__pool *pool;
    FILE *err;
};

/* Take the option at ARGV[*AT], with one dash or two, and its value from there
 * or from the next argument, to which *AT moves.  -o is --output, -h --help.
 * False after a line on PARSE->err. */
bool report__take_option(struct report__parse *parse, char **argv, int *at);

/* VALUE as *NUMBER of WHAT; false after a line on PARSE->err. */
bool report__take_number(struct report__parse *parse, const char *value,
                         const char *what, uint32_t *number);

/* Which of CHOICES the LENGTH characters at VALUE are, from 0 on; -1 after a
 * line on PARSE->err that names them. */
int report__choose(struct report__parse *parse,
                   const struct report__choices *choices, const char *value,
                   size_t length);

/* One line on PARSE->err, behind the prefix.  Returns false. */
bool report__refuse(struct report__parse *parse, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* How many letters have to change for A to become B; swapped ones are one
 * change.  Of longer names than 30 bytes, the length of the longer one. */
uint32_t report__name_distance(const char *a, const char *b);

/* Print the options of the command whose bit is COMMAND, in groups. */
void report__describe_options(const struct report__option *list,
                              unsigned command, FILE *out);

#endif
