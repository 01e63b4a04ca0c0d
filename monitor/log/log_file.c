/* log_file.c - the file of a log; see log.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/format/create.h"
#include "monitor/file/arena.h"
#include "monitor/file/cut.h"
#include "monitor/log/log_file.h"

enum { PAGE = 4096, FIRST = 64 * 1024, WINDOW = 4 * 1024 * 1024 };

/* The program may close all descriptors: there is one only while the file
 * grows.  -1: it is another file now. */
static int open_again(const struct mprof__log_file *file) {
    struct stat st;
    int fd = open(file->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && st.st_dev == file->device &&
        st.st_ino == file->inode)
        return fd;
    close(fd);
    errno = ENOENT;
    return -1;
}

/* Map the file from the page of the next line on.  0 or an errno. */
static int move_window(struct mprof__log_file *file, int fd) {
    uint64_t end = file->offset + file->used;
    uint64_t offset = end / PAGE * PAGE;
    if (!mprof__allocate_blocks(fd, offset, file->step) ||
        mmap(file->window, file->step, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, fd, (off_t)offset) == MAP_FAILED)
        return errno;
    file->offset = offset;
    file->used = end - offset;
    file->mapped = file->step;
    if (file->step < WINDOW)
        file->step *= 2;
    return 0;
}

static void refuse(struct mprof__log_file *file, int error) {
    file->refused = error;
    mprof__log_file_settle(file);
}

/* Where threads are cancelled; malloc() is not. */
static bool grow(struct mprof__log_file *file) {
    int state, error = errno;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    int fd = open_again(file);
    if (fd < 0) {
        error = errno;
    } else {
        error = move_window(file, fd);
        close(fd);
    }
    if (error != 0)
        refuse(file, error);
    pthread_setcancelstate(state, NULL);
    return error == 0;
}

char *mprof__log_file_room(struct mprof__log_file *file) {
    if (file->window == NULL || file->refused != 0)
        return NULL;
    if (mprof__load_relaxed(&file->cut)) {
        file->refused = ENODATA;
        return NULL;
    }
    if (file->used + MPROF__LOG_LINE > file->mapped && !grow(file))
        return NULL;
    return file->window + file->used;
}

bool mprof__log_file_create(struct mprof__log_file *file, const char *path) {
    struct stat st;
    strcpy(file->path, path);
    file->step = FIRST;
    if (unlink(path) != 0 && errno != ENOENT)
        return false;
    int fd = mprof__create(path, MPROF__PRIVATE);
    if (fd < 0)
        return false;
    bool known = fstat(fd, &st) == 0;
    close(fd);
    file->device = st.st_dev;
    file->inode = st.st_ino;
    void *window = mmap(NULL, WINDOW, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!known || window == MAP_FAILED)
        return false;
    file->window = window;
    mprof__cut_watch_region(window, WINDOW, &file->cut);
    if (mprof__log_file_room(file) != NULL)
        return true;
    errno = file->refused;
    return false;
}

void mprof__log_file_settle(struct mprof__log_file *file) {
    if (file->window == NULL || mprof__load_relaxed(&file->cut))
        return;
    int fd = open_again(file);
    if (fd < 0)
        return;
    /* Pages behind the end are not touched before it grows again. */
    if (ftruncate(fd, (off_t)(file->offset + file->used)) == 0)
        file->mapped = 0;
    close(fd);
}

void mprof__log_file_close(struct mprof__log_file *file) {
    if (file->window == NULL)
        return;
    mprof__cut_unwatch_region(file->window);
    munmap(file->window, WINDOW);
    file->window = NULL;
}
