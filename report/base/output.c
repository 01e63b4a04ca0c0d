/* output.c - where the tables go. */
#include "report/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/format/create.h"

static bool failed(struct report__pool *pool, const char *name,
                   const char **error) {
    *error = report__format(pool, "cannot write %s: %s", name, strerror(errno));
    return false;
}

/* Open the target.  A device or a pipe is written directly; a link stays a
 * link. A regular file is first written as a new one beside it, because other
 * processes may read the old one. */
static int open_target(struct report__output *output, const char *name,
                       struct report__pool *pool) {
    struct stat status;
    char path[PATH_MAX];
    const bool is_there = stat(name, &status) == 0;

    output->target = name;
    if (!is_there && errno != ENOENT)
        return -1;
    if (is_there && !S_ISREG(status.st_mode))
        return open(name, O_WRONLY | O_CLOEXEC);
    if (is_there) {
        if (access(name, W_OK) != 0 || !realpath(name, path))
            return -1;
        output->target = report__copy(pool, path, strlen(path));
    }
    int fd = mprof__create_beside(output->target, path, sizeof path, 0666);
    if (fd >= 0)
        output->temporary = report__copy(pool, path, strlen(path));
    if (fd >= 0 && is_there && fchmod(fd, status.st_mode & 07777) != 0)
        errno = 0; /* the mode of a new file is good enough */
    return fd;
}

bool report__output_open(struct report__output *output, const char *name,
                         struct report__pool *pool, const char **error) {
    if (!name)
        return true;
    output->name = report__copy(pool, name, strlen(name));
    int fd = open_target(output, output->name, pool);
    FILE *stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!stream) {
        failed(pool, name, error);
        if (fd >= 0)
            close(fd);
        return false;
    }
    output->stream = stream;
    output->owned = true;
    return true;
}

bool report__output_finish(struct report__output *output,
                           struct report__pool *pool, const char **error) {
    int bad = 0;

    errno = 0;
    if (fflush(output->stream) != 0 || ferror(output->stream))
        bad = errno ?: EIO;
    if (output->owned && fclose(output->stream) != 0)
        bad = errno ?: EIO;
    output->owned = false;
    errno = bad && output->error ? output->error : bad;
    if (bad && errno == EPIPE)
        return false;
    if (bad ||
        (output->temporary && rename(output->temporary, output->target) != 0))
        return failed(pool, output->name ? output->name : "the tables", error);
    output->temporary = NULL;
    return true;
}

void report__output_discard(struct report__output *output) {
    if (output->owned)
        fclose(output->stream);
    output->owned = false;
    if (output->temporary)
        unlink(output->temporary);
    output->temporary = NULL;
}
