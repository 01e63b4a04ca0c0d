/* budget_file.h - limits as people write them, and files of these.
 *
 *     # a comment
 *     bytes=10m
 *     parse_line:self-allocs=20000   # another one
 */
#ifndef REPORT_COMMAND_BUDGET_FILE_H
#define REPORT_COMMAND_BUDGET_FILE_H

#include "report/tables/limits.h"

/* A limit, and the place of its number in the text that it was read from. */
struct report__written {
    struct report__limit limit;
    size_t at, length;
};

/* Empty when it is all zeros. */
struct report__budget {
    struct report__written *list;
    uint32_t count;
    size_t capacity;
    char *text; /* the file's, `size` bytes; NULL: there is none */
    size_t size;
};

/* Read TEXT, of LENGTH bytes, as one limit.  False: *ERROR is a sentence.  The
 * limit's memory is in POOL. */
bool report__read_written(struct report__pool *pool, const char *text,
                          size_t length, struct report__written *written,
                          const char **error);

void report__add_written(struct report__pool *pool,
                         struct report__budget *budget,
                         const struct report__written *written);

/* The limits of the text of BUDGET, which messages call NAME.  False: *ERROR is
 * a sentence. */
bool report__parse_budget(struct report__pool *pool, const char *name,
                          struct report__budget *budget, const char **error);

/* The file NAME.  False: *ERROR is a sentence.  If NAME is not there and NEW,
 * it is as if it were empty, without text. */
bool report__read_budget(struct report__pool *pool, const char *name, bool new,
                         struct report__budget *budget, const char **error);

/* The text of BUDGET with NUMBERS in place of those that it has, and behind it
 * the LIMITS that the file has not, COUNT of them, with MORE. */
void report__write_budget(FILE *out, const struct report__budget *budget,
                          const uint64_t *numbers,
                          const struct report__limit *limits,
                          const uint64_t *more, uint32_t count);

#endif
