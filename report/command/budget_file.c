/* budget_file.c - see budget_file.h.
 *
 * Names may have any character in them, as `operator=` and (LAMBDA #2 :IN F)
 * do.  So what is looked for is an `=` that has a colon and what is limited
 * before it, or nothing else than that, and behind it a number and no more than
 * a comment.
 */
#include "report/command/budget_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "monitor/format/bytes.h"
#include "report/base/budget.h"

enum { LARGEST = 16 << 20, QUOTED = 60 };

static const char blanks[] = " \t\r";

/* How many of the LENGTH bytes of TEXT are left without blanks at the end. */
static size_t trimmed(const char *text, size_t length) {
    while (length > 0 && strchr(blanks, text[length - 1]))
        length--;
    return length;
}

/* NUMBER as bytes or allocations are written, 0 among them. */
static bool read_most(const char *number, uint64_t *most) {
    if (*number != '\0' && number[strspn(number, "0")] == '\0') {
        *most = 0;
        return true;
    }
    return mprof__read_bytes(number, most);
}

static const char *quoted(struct report__pool *pool, const char *text,
                          size_t length) {
    bool whole = length <= QUOTED;
    return report__format(
        pool, "%s%s",
        report__clean_name(pool,
                           report__copy(pool, text, whole ? length : QUOTED)),
        whole ? "" : "...");
}

/* Return the number that is limited by a name that ends LENGTH bytes behind
 * TEXT, and where the name begins; MPROF_LIMITED: none. */
static enum report__limited what_ends(const char *text, size_t length,
                                      size_t *start) {
    size_t from = length;

    while (from > 0 && ((text[from - 1] >= 'a' && text[from - 1] <= 'z') ||
                        text[from - 1] == '-'))
        from--;
    *start = from;
    for (unsigned i = 0; i < MPROF_LIMITED; i++)
        if (strlen(report__limited_names[i]) == length - from &&
            strncmp(report__limited_names[i], text + from, length - from) == 0)
            return (enum report__limited)i;
    return MPROF_LIMITED;
}

/* Read the number at TEXT, behind which only a comment may follow. */
static bool read_number(const char *text, size_t length,
                        struct report__written *w) {
    enum { DIGITS = 40 };
    char number[DIGITS];
    size_t from = strspn(text, blanks);
    size_t to = from + strcspn(text + from, " \t\r\n");
    size_t rest = to + strspn(text + to, blanks);

    if (to - from >= DIGITS || (rest < length && text[rest] != '#'))
        return false;
    memcpy(number, text + from, to - from);
    number[to - from] = '\0';
    w->at += from;
    w->length = to - from;
    return read_most(number, &w->limit.most);
}

/* The LENGTH bytes of TEXT, in front of a colon, as the name of a function. */
static const char *read_name(struct report__pool *pool, const char *text,
                             size_t length) {
    length = trimmed(text, length);
    size_t from = strspn(text, blanks);

    if (length - from > 1 && text[from] == '\\' && text[from + 1] == '#')
        from++; /* it is no comment */
    return length > from ? report__copy(pool, text + from, length - from)
                         : NULL;
}

/* Whether a limit has its `=` at TEXT[EQUALS]. */
static bool read_at(struct report__pool *pool, const char *text, size_t length,
                    size_t equals, struct report__written *w) {
    size_t start;

    *w = (struct report__written){.at = equals + 1};
    w->limit.what = what_ends(text, trimmed(text, equals), &start);
    if (w->limit.what == MPROF_LIMITED)
        return false;
    start = trimmed(text, start);
    if (start > 0) {
        if (text[start - 1] != ':' ||
            !(w->limit.function = read_name(pool, text, start - 1)))
            return false;
    } else if (report__is_self(w->limit.what)) {
        return false;
    }
    return read_number(text + equals + 1, length - equals - 1, w);
}

bool report__read_written(struct report__pool *pool, const char *text,
                          size_t length, struct report__written *written,
                          const char **error) {
    if (!memchr(text, '\n', length) && !memchr(text, '\0', length))
        for (size_t i = 0; i < length; i++)
            if (text[i] == '=' && read_at(pool, text, length, i, written))
                return true;
    *error = report__format(
        pool,
        "'%s' is no limit: write [FUNCTION:]WHAT=NUMBER, where WHAT is bytes, "
        "allocs, kept or peak, or one of these behind self- for a FUNCTION",
        quoted(pool, text, trimmed(text, length)));
    return false;
}

void report__add_written(struct report__pool *pool,
                         struct report__budget *budget,
                         const struct report__written *written) {
    REPORT__PUSH(pool, budget->list, budget->count, budget->capacity, *written);
}

bool report__parse_budget(struct report__pool *pool, const char *name,
                          struct report__budget *b, const char **error) {
    uint32_t line = 1;

    for (size_t at = 0, length; at < b->size; at += length + 1, line++) {
        const char *text = b->text + at, *end;
        struct report__written written;
        end = memchr(text, '\n', b->size - at);
        length = end ? (size_t)(end - text) : b->size - at;
        size_t from = strspn(text, blanks);
        if (from == length || text[from] == '#')
            continue;
        if (!report__read_written(pool, text, length, &written, error)) {
            *error =
                report__format(pool, "%s:%" PRIu32 ": %s", name, line, *error);
            return false;
        }
        written.at += at;
        written.limit.file = name;
        written.limit.line = line;
        report__add_written(pool, b, &written);
    }
    return true;
}

bool report__read_budget(struct report__pool *pool, const char *name, bool new,
                         struct report__budget *b, const char **error) {
    FILE *file = fopen(name, "re");

    if (!file && new &&errno == ENOENT)
        return true;
    if (!file) {
        *error =
            report__format(pool, "cannot open %s: %s%s", name, strerror(errno),
                           errno == ENOENT ? "; --update makes it" : "");
        return false;
    }
    report__budget_add(fileno(file));
    b->text = report__alloc(pool, LARGEST + 2, 1);
    b->size = fread(b->text, 1, LARGEST + 1, file);
    if (ferror(file))
        *error =
            report__format(pool, "cannot read %s: %s", name, strerror(errno));
    else if (b->size > LARGEST)
        *error = report__format(pool, "%s is too large for a budget", name);
    fclose(file);
    return !*error && report__parse_budget(pool, name, b, error);
}

void report__write_budget(FILE *out, const struct report__budget *budget,
                          const uint64_t *numbers,
                          const struct report__limit *limits,
                          const uint64_t *more, uint32_t count) {
    size_t done = 0;

    for (uint32_t i = 0; i < budget->count; i++) {
        const struct report__written *w = &budget->list[i];
        fwrite(budget->text + done, 1, w->at - done, out);
        fprintf(out, "%" PRIu64, numbers[i]);
        done = w->at + w->length;
    }
    if (budget->size > done)
        fwrite(budget->text + done, 1, budget->size - done, out);
    if (count > 0 && budget->size > 0 && budget->text[budget->size - 1] != '\n')
        putc('\n', out);
    for (uint32_t i = 0; i < count; i++) {
        const char *function = limits[i].function;
        if (function)
            fprintf(out, "%s%s:", *function == '#' ? "\\" : "", function);
        fprintf(out, "%s=%" PRIu64 "\n", report__limited_names[limits[i].what],
                more[i]);
    }
}
