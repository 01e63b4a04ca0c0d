/* log.c - see log.h. */
#include "report/data/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/format/events.h"

/* A line is shorter than this. */
enum { MOST = 512 };

/* Live bytes are less than 4 PiB, and times are below 2^62: products are below
 * 2^114, and sums over all logs of a machine fit. */
static const uint64_t largest = (uint64_t)1 << 52, latest = (uint64_t)1 << 62;

/* One line */
struct entry {
    enum mprof_log_type type;
    uint64_t time, thread;
    uint64_t fresh, old; /* addresses, or 0 */
    uint64_t bytes;
};

/* The number at *AT behind NAME, if that is there; *AT moves behind it and a
 * blank. */
static bool take_number(const char **at, const char *name, int base,
                        uint64_t *number) {
    const char *from = *at;
    size_t length = strlen(name);
    uint64_t n = 0;

    if (strncmp(from, name, length) == 0)
        from += length;
    if (base == 16 && from[0] == '0' && from[1] == 'x')
        from += 2;
    const char *first = from;
    for (;; from++) {
        char c = *from;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 16;
        if (digit >= (unsigned)base)
            break;
        if (__builtin_mul_overflow(n, (uint64_t)base, &n) ||
            __builtin_add_overflow(n, (uint64_t)digit, &n))
            return false;
    }
    if (from == first || (*from != ' ' && *from != '\0'))
        return false;
    *at = *from == ' ' ? from + 1 : from;
    *number = n;
    return true;
}

static bool take_time(const char **at, uint64_t *time) {
    uint64_t seconds;
    if (strncmp(*at, "secs=", 5) != 0)
        return take_number(at, "", 10, time);
    return take_number(at, "secs=", 10, &seconds) &&
           take_number(at, "nsecs=", 10, time) && *time < 1000000000 &&
           seconds < latest / 1000000000 &&
           !__builtin_add_overflow(seconds * 1000000000, *time, time);
}

static bool take_type(const char **at, enum mprof_log_type *type) {
    static const char *const names[] = MPROF_LOG_NAMES;
    for (unsigned i = 0; i < MPROF_LOG_TYPES; i++) {
        size_t length = strlen(names[i]);
        const char *end = *at + 1;
        if (strncmp(*at, names[i], length) == 0)
            end = *at + length;
        else if (**at != (char)('0' + i))
            continue;
        if (*end != ' ' && *end != '\0')
            continue;
        *at = *end == ' ' ? end + 1 : end;
        *type = (enum mprof_log_type)i;
        return true;
    }
    return false;
}

static bool take_parameters(const char **at, struct entry *e) {
    uint64_t count, size;
    switch (e->type) {
    case MPROF_LOG_FREE:
        return take_number(at, "ptr=", 16, &e->old);
    case MPROF_LOG_MALLOC:
        return take_number(at, "ptr=", 16, &e->fresh) &&
               take_number(at, "size=", 10, &e->bytes);
    case MPROF_LOG_CALLOC:
        return take_number(at, "ptr=", 16, &e->fresh) &&
               take_number(at, "num=", 10, &count) &&
               take_number(at, "elem=", 10, &size) &&
               !__builtin_mul_overflow(count, size, &e->bytes);
    case MPROF_LOG_REALLOC:
        return take_number(at, "newptr=", 16, &e->fresh) &&
               take_number(at, "ptr=", 16, &e->old) &&
               take_number(at, "size=", 10, &e->bytes);
    case MPROF_LOG_STAMP:
        return true;
    }
    return false;
}

static bool parse(const char *text, struct entry *e) {
    *e = (struct entry){.type = MPROF_LOG_STAMP};
    return take_time(&text, &e->time) && e->time < latest &&
           take_number(&text, "tid=", 10, &e->thread) &&
           take_type(&text, &e->type) && take_parameters(&text, e) &&
           *text == '\0' && e->bytes < largest;
}

/* The size of what lives at ADDRESS. */
static uint64_t *size_at(struct report__log *log, struct report__pool *pool,
                         uint64_t address) {
    uint32_t i = report__pair_number(pool, &log->addresses, (uint32_t)address,
                                     (uint32_t)(address >> 32));
    while (log->room <= i)
        log->sizes = report__grow(pool, log->sizes, log->room, &log->room,
                                  sizeof *log->sizes);
    return &log->sizes[i];
}

/* The heap */

static bool wrong(const struct report__log *log, struct report__pool *pool,
                  const char *what, const char **error) {
    *error = report__format(pool, "%s: line %" PRIu64 ": %s", log->name,
                            log->line, what);
    return false;
}

static void pass(struct report__log *log, uint64_t time) {
    if (log->line == 1)
        log->begin = log->time = time;
    if (log->running) {
        log->recorded += time - log->time;
        log->load += (unsigned __int128)(time - log->time) * log->live;
    }
    log->time = time;
}

static bool apply(struct report__log *log, struct report__pool *pool,
                  const struct entry *e, const char **error) {
    if (log->line > 1 && e->time < log->time)
        return wrong(log, pool, "before the line above it", error);
    log->running |= log->line == 1 && e->type != MPROF_LOG_STAMP;
    pass(log, e->time);
    if (e->type == MPROF_LOG_STAMP) {
        log->running = !log->running;
        return true;
    }
    if (e->old != 0) {
        uint64_t *freed = size_at(log, pool, e->old);
        log->live -= *freed < log->live ? *freed : log->live;
        *freed = 0;
    }
    if (e->fresh != 0) {
        *size_at(log, pool, e->fresh) = e->bytes;
        log->live += e->bytes;
    }
    if (log->live >= largest)
        return wrong(log, pool, "more than any machine has", error);
    if (log->live > log->peak)
        log->peak = log->live;
    return true;
}

/* The next line in TEXT; false: there is none that is whole.  Behind the last
 * one, of a program that was killed, may be zeros. */
static bool get_line(struct report__log *log, char *text, bool *is_long) {
    size_t n = 0;
    int c;
    *is_long = false;
    while ((c = getc_unlocked(log->file)) != EOF && c != '\n') {
        if (c == '\0')
            return false;
        if (n + 1 == MOST) {
            *is_long = true;
            return true;
        }
        text[n++] = (char)c;
    }
    text[n] = '\0';
    return c == '\n';
}

bool report__log_next(struct report__log *log, struct report__pool *pool,
                      const char **error) {
    char text[MOST];
    struct entry entry;
    bool is_long;

    if (!get_line(log, text, &is_long)) {
        if (ferror(log->file))
            *error = report__format(pool, "cannot read %s: %s", log->name,
                                    strerror(errno));
        return false;
    }
    log->line++;
    if (is_long || !parse(text, &entry))
        return wrong(log, pool, "is no event of a log", error);
    if (log->line == 1)
        log->thread = entry.thread;
    return apply(log, pool, &entry, error);
}

bool report__log_open(struct report__log *log, const char *name,
                      struct report__pool *pool, const char **error) {
    struct stat status;
    *log = (struct report__log){.name = name};
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool regular =
        fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (regular)
        log->file = fdopen(fd, "r");
    if (log->file != NULL)
        return true;
    *error =
        regular || fd < 0
            ? report__format(pool, "cannot open %s: %s", name, strerror(errno))
            : report__format(pool, "cannot read %s: not a regular file", name);
    if (fd >= 0)
        close(fd);
    return false;
}

void report__log_close(struct report__log *log) {
    if (log->file != NULL)
        fclose(log->file);
    log->file = NULL;
}

bool report__is_log(const char *name) {
    char text[MOST];
    struct entry entry;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return parse(text, &entry);
}
