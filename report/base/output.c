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

/* A new file beside TARGET, as anybody may read. */
static int create_beside(struct report__output *output, const char *target,
                         struct report__pool *pool) {
    char name[PATH_MAX];
    int fd = mprof__create_beside(target, name, sizeof name, 0666);
    if (fd >= 0)
        output->temporary = report__copy(pool, name, strlen(name));
    return fd;
}

/* A device or a pipe is written as it is; a link stays a link. */
static int open_target(struct report__output *output, const char *name,
                       struct report__pool *pool) {
    struct stat status;
    char path[PATH_MAX];
    int fd;

    output->target = name;
    if (stat(name, &status) != 0)
        return errno == ENOENT ? create_beside(output, name, pool) : -1;
    if (!S_ISREG(status.st_mode))
        return open(name, O_WRONLY | O_CLOEXEC);
    if (access(name, W_OK) != 0 || !realpath(name, path))
        return -1;
    output->target = report__copy(pool, path, strlen(path));
    fd = create_beside(output, path, pool);
    if (fd >= 0 && fchmod(fd, status.st_mode & 07777) != 0)
        errno = 0; /* the mode of a new file is good enough */
    return fd;
}

bool report__output_open(struct report__output *output, const char *name,
                         struct report__pool *pool, const char **error) {
    if (!name)
        return true;
    output->name = report__copy(pool, name, strlen(name));
    int fd = open_target(output, output->name, pool);
    if (fd < 0)
        return failed(pool, name, error);
    FILE *stream = fdopen(fd, "w");
    if (!stream) {
        failed(pool, name, error);
        close(fd);
        return false;
    }
    output->stream = stream;
    output->owned = true;
    return true;
}

bool report__output_finish(struct report__output *output,
                           struct report__pool *pool, const char **error) {
    const char *name = output->name ? output->name : "the tables";
    bool bad;

    errno = 0;
    bad = fflush(output->stream) != 0 || ferror(output->stream);
    if (output->owned) {
        int flush_errno = errno;
        output->owned = false;
        if (fclose(output->stream) != 0)
            bad = true;
        else if (bad)
            errno = flush_errno;
    }
    if (bad && output->error != 0)
        errno = output->error;
    if (bad && errno == EPIPE)
        return false;
    if (bad) {
        errno = errno ? errno : EIO;
        return failed(pool, name, error);
    }
    if (output->temporary && rename(output->temporary, output->target) != 0)
        return failed(pool, name, error);
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
