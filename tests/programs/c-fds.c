/* c-fds.c MODE - a program that is strict about its file descriptors.
 *
 * `list`: print those that are open.  `close`: close all but the standard
 * ones, then work, and see that nobody wrote to the files which got their
 * numbers.  `many`: the same with 900 of one file beside the data file, the
 * monitor's number among them, and so many chains that the data file grows.
 * `few`: use all there are.  `gone`: the standard ones are closed already; the
 * files that take their place must be the program's own. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void *volatile sink;

static void allocate(void) {
    for (int i = 0; i < 50; i++)
        sink = malloc(33);
}

static int list(void) {
    allocate();
    /* The monitor's own stands at 500 or above, see mprof-limits(7). */
    for (int fd = 0; fd < 500; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            printf("%d is open\n", fd);
    return 0;
}

/* Open N temporary files; return how many of them something was written to. */
static int open_and_work(int n) {
    int fds[64], written = 0;
    struct stat status;
    for (int i = 0; i < n; i++)
        fds[i] = open(".", O_TMPFILE | O_RDWR, 0600);
    allocate();
    for (int i = 0; i < n; i++) {
        if (fds[i] < 0 || fstat(fds[i], &status) != 0)
            return 1000;
        written += status.st_size != 0;
    }
    for (int i = 0; i < n; i++)
        close(fds[i]);
    return written;
}

static int close_all(void) {
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    printf("%d were written to\n", open_and_work(20));
    return 13;
}

static void other_branch(int depth, unsigned way);

/* Two ways at each of DEPTH calls, as the bits of WAY say. */
static void branch(int depth, unsigned way) {
    sink = malloc(10);
    if (depth > 0 && way % 2 != 0)
        branch(depth - 1, way / 2);
    else if (depth > 0)
        other_branch(depth - 1, way / 2);
    __asm__ volatile("");
}

static void other_branch(int depth, unsigned way) {
    branch(depth, way);
    __asm__ volatile("");
}

static int many(void) {
    enum { FILES = 900, DEPTH = 12 };
    struct stat status;
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    int first = open("mine", O_RDWR | O_CREAT | O_TRUNC, 0600), last = first;
    if (first < 0 || write(first, "mine\n", 5) != 5)
        return 70;
    while (last >= 0 && last < FILES)
        last = dup(first);
    for (unsigned way = 0; way < 1 << DEPTH; way++)
        branch(DEPTH, way);
    if (last < 0 || fstat(first, &status) != 0)
        return 71;
    printf("%d bytes up to %d\n", (int)status.st_size, last);
    return 16;
}

static int few(void) {
    struct rlimit limit;
    int last = -1, fd;
    getrlimit(RLIMIT_NOFILE, &limit);
    while ((fd = open("/dev/null", O_RDONLY)) >= 0)
        last = fd;
    printf("%s\n", errno == EMFILE ? "no more" : strerror(errno));
    printf("the last is %s\n",
           (rlim_t)last + 1 == limit.rlim_cur ? "the limit's" : "another");
    allocate();
    return 14;
}

static int gone(void) {
    allocate();
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return 70 + fd;
    allocate();
    return open_and_work(5) == 0 ? 15 : 80;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "list";
    return strcmp(mode, "close") == 0  ? close_all()
           : strcmp(mode, "many") == 0 ? many()
           : strcmp(mode, "few") == 0  ? few()
           : strcmp(mode, "gone") == 0 ? gone()
                                       : list();
}
