/* sources.c - see call_sites.h. */
#include "report/base/search.h"
#include "report/graph/call_sites.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A data file may name any file.  Limits for bytes of a file, of all, and of
 * the text before forms, which many forms may share. */
enum {
    MOST_OF_ONE = 16 << 20,
    MOST_OF_ALL = 256 << 20,
    MOST_BEFORE = 256 << 20
};

struct search {
    const struct report__profile *profile;
    struct report__place *places;
    uint64_t left, before; /* of these */
};

struct text {
    const unsigned char *at, *end;
    uint32_t line;
};

static bool skip_line(struct text *t) {
    while (t->at < t->end && *t->at != '\n')
        t->at++;
    return true;
}

/* #| ... |#, others in it. */
static bool skip_comment(struct text *t) {
    unsigned depth = 0;

    if (t->end - t->at < 2 || t->at[0] != '#' || t->at[1] != '|')
        return false;
    for (; t->end - t->at >= 2; t->at++) {
        if (*t->at == '\n')
            t->line++;
        if (memcmp(t->at, "#|", 2) == 0) {
            depth++;
            t->at++;
        } else if (memcmp(t->at, "|#", 2) == 0) {
            t->at++;
            if (--depth == 0) {
                t->at++;
                return true;
            }
        }
    }
    t->at = t->end;
    return true;
}

static bool skip_blank(struct text *t) {
    if (t->at == t->end || !strchr(" \t\n\r\f", *t->at) || *t->at == '\0')
        return false;
    t->line += *t->at++ == '\n';
    return true;
}

/* The line where something begins behind what was read before POSITION: behind
 * blanks and comments. */
static uint32_t line_behind(struct search *s, struct text *t,
                            const unsigned char *position) {
    while (t->at < position)
        t->line += *t->at++ == '\n';
    struct text form = *t;
    while (skip_blank(&form) || skip_comment(&form) ||
           (form.at < form.end && *form.at == ';' && skip_line(&form)))
        ;
    uint64_t skipped = (uint64_t)(form.at - t->at);
    s->before -= skipped < s->before ? skipped : s->before;
    return form.at < form.end && s->before > 0 ? form.line : 0;
}

/* Return true if the file is as it was: then positions are right. */
static bool is_old(const struct stat *status, uint64_t recorded) {
    return status->st_mtim.tv_sec >= 0 &&
           (uint64_t)status->st_mtim.tv_sec * 1000000000u +
                   (uint64_t)status->st_mtim.tv_nsec <=
               recorded;
}

unsigned char *report__source_bytes(const char *file, uint64_t recorded,
                                    uint64_t most, size_t *size) {
    unsigned char *bytes = NULL;
    struct stat status;
    int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    *size = 0;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size > 0 && (uint64_t)status.st_size <= most &&
        status.st_size <= MOST_OF_ONE && is_old(&status, recorded))
        bytes = malloc((size_t)status.st_size);
    while (bytes && *size < (size_t)status.st_size) {
        ssize_t n = read(fd, bytes + *size, (size_t)status.st_size - *size);
        if (n == 0 || (n < 0 && errno != EINTR))
            break;
        *size += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    return bytes;
}

static int compare_places(const void *a, const void *b) {
    const struct report__function *x = *(const struct report__function **)a;
    const struct report__function *y = *(const struct report__function **)b;
    int files = x->file == y->file ? 0 : strcmp(x->file, y->file);

    return files ?: (x->position > y->position) - (x->position < y->position);
}

/* The COUNT functions LIST are of one file, by position. */
static void find_lines(struct search *s, const struct report__function **list,
                       uint32_t count) {
    size_t size;
    unsigned char *bytes = report__source_bytes(
        list[0]->file, s->profile->recorded, s->left, &size);
    struct text text = {bytes, bytes ? bytes + size : bytes, 1};

    s->left -= size;
    for (uint32_t i = 0; i < count && bytes && s->before > 0; i++)
        if ((uint64_t)list[i]->position < size)
            s->places[list[i] - s->profile->functions].line =
                line_behind(s, &text, bytes + list[i]->position);
    free(bytes);
}

const struct report__place *
report__find_sources(struct report__pool *pool,
                     const struct report__profile *profile) {
    uint32_t count = 0;
    struct report__place *places =
        report__alloc(pool, profile->function_count, sizeof *places);
    struct search s = {profile, places, MOST_OF_ALL, MOST_BEFORE};
    const struct report__function **list =
        report__alloc(pool, profile->function_count, sizeof *list);

    for (uint32_t i = 0; i < profile->function_count; i++) {
        places[i].file = profile->functions[i].file;
        if (profile->functions[i].file)
            list[count++] = &profile->functions[i];
    }
    if (count > 1)
        qsort(list, count, sizeof *list, compare_places);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1;
             end < count && (list[end]->file == list[i]->file ||
                             strcmp(list[end]->file, list[i]->file) == 0);
             end++)
            ;
        find_lines(&s, &list[i], end - i);
    }
    return places;
}
