/* test_claim.c - whose a data file is, by what stands in it and who runs. */
#define _GNU_SOURCE
#include "tests/support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "monitor/format/claim.h"
#include "monitor/format/create.h"
#include "monitor/format/process.h"

enum { IMAGE = 1234 };

static char folder[] = "/tmp/mprof-claim-XXXXXX";
static struct mprof_header header; /* of the file `data` */

static int set_up(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int tear_down(void **state) {
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return chdir("/") != 0 || system(command) != 0;
}

/* An open file that PROCESS writes. */
static void describe(struct mprof__process process) {
    memset(&header, 0, sizeof header);
    memcpy(header.magic, MPROF_MAGIC, sizeof header.magic);
    header.version = MPROF_VERSION;
    header.state = MPROF_OPEN;
    header.boot = process.boot;
    header.pids = process.pids;
    header.forked = process.forked;
    header.pid = process.pid;
    header.image = IMAGE;
}

static void write_file(const char *path, const void *data, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

static void is(enum mprof__claim wanted, int error) {
    struct mprof_header read = {.version = 0};
    write_file("data", &header, sizeof header);
    errno = 0;
    assert_int_equal(mprof__claim("data", IMAGE, &read), wanted);
    if (wanted == MPROF__OTHERS)
        assert_int_equal(errno, error);
    else
        assert_memory_equal(&read, &header, sizeof read);
}

static struct mprof__process parent(void) {
    struct mprof__process process = mprof__process_self();
    process.pid = (uint32_t)getppid();
    process.forked = mprof__process_start(process.pid);
    return process;
}

static void what_is_no_recording(void **state) {
    struct mprof_header read;
    (void)state;
    assert_int_equal(mprof__claim("none", IMAGE, &read), MPROF__FREE);
    write_file("empty", "", 0);
    assert_int_equal(mprof__claim("empty", IMAGE, &read), MPROF__FREE);
    write_file("notes", "precious", 8);
    assert_int_equal(mprof__claim("notes", IMAGE, &read), MPROF__OTHERS);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(symlink("none", "link"), 0);
    assert_int_equal(mprof__claim("link", IMAGE, &read), MPROF__OTHERS);
    assert_int_equal(errno, ELOOP);
    assert_int_equal(mprof__claim(folder, IMAGE, &read), MPROF__OTHERS);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(mprof__claim("/dev/null", IMAGE, &read), MPROF__OTHERS);
    assert_int_equal(errno, EINVAL);
    describe(parent());
    header.magic[0]++;
    is(MPROF__OTHERS, EEXIST);
}

static void of_a_process_that_runs(void **state) {
    (void)state;
    describe(parent());
    is(MPROF__OTHERS, EBUSY);
    /* It may go on with what it has closed. */
    header.state = MPROF_CLOSED;
    is(MPROF__OTHERS, EBUSY);
    /* Nobody knows of another container's. */
    header.pids++;
    header.pid = 0x7ffffffe;
    is(MPROF__OTHERS, EBUSY);
}

static void of_a_process_that_has_ended(void **state) {
    (void)state;
    describe(parent());
    header.forked++;
    is(MPROF__ENDED, 0);
    describe(parent());
    header.boot++;
    is(MPROF__ENDED, 0);
    describe(parent());
    header.pid = 0x7ffffffe;
    is(MPROF__ENDED, 0);
}

/* As exact as the kernel tells. */
static void when_a_process_was_forked(void **state) {
    const uint64_t tick = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t before = mprof__process_clock();
    int status;
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    uint64_t start = mprof__process_start((uint32_t)child);
    uint64_t after = mprof__process_clock();
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(start + 2 * tick > before && start < after + 2 * tick);
    assert_int_equal(mprof__process_start(0x7ffffffe), 0);
}

static void of_this_process(void **state) {
    (void)state;
    describe(mprof__process_self());
    is(MPROF__OURS, 0);
    header.image++;
    is(MPROF__EARLIER, 0);
    header.forked++;
    is(MPROF__ENDED, 0);
    /* Another one that had the number, and this one's random bytes */
    header.image--;
    is(MPROF__ENDED, 0);
}

static void of_another_version(void **state) {
    (void)state;
    describe(parent());
    header.version--;
    is(MPROF__OTHERS, EBUSY);
    header.state = MPROF_CLOSED;
    is(MPROF__ENDED, 0);
    header.state = MPROF_OPEN;
    header.pid = 0x7ffffffe;
    is(MPROF__ENDED, 0);
}

/* By its descriptor, whatever stands in the file. */
static void what_is_locked_is_busy(void **state) {
    struct mprof_header read;
    (void)state;
    write_file("locked", "", 0);
    int fd = open("locked", O_RDWR);
    mprof__claim_lock(fd);
    assert_int_equal(mprof__claim("locked", IMAGE, &read), MPROF__OTHERS);
    assert_int_equal(errno, EBUSY);
    for (int i = 0; i < 3; i++) {
        describe(i == 0 ? mprof__process_self() : parent());
        header.image += i == 0;
        header.forked += i == 1;
        header.version -= i == 2;
        header.state = MPROF_CLOSED;
        assert_int_equal(pwrite(fd, &header, sizeof header, 0), sizeof header);
        assert_int_equal(mprof__claim("locked", IMAGE, &read), MPROF__OTHERS);
        assert_int_equal(errno, EBUSY);
    }
    close(fd);
    assert_int_equal(mprof__claim("locked", IMAGE, &read), MPROF__ENDED);
}

static void of_another_user(void **state) {
    struct mprof_header read;
    (void)state;
    describe(parent());
    header.boot++;
    is(MPROF__ENDED, 0);
    if (geteuid() != 0)
        leave_out("only root can give a file away");
    assert_int_equal(chown("data", 65534, (gid_t)-1), 0);
    assert_int_equal(mprof__claim("data", IMAGE, &read), MPROF__OTHERS);
    assert_int_equal(errno, EEXIST);
    unlink("data");
}

/* What came there since is somebody else's. */
static void what_is_there_is_not_created(void **state) {
    char name[200];
    struct stat status;
    (void)state;
    write_file("there", "text", 4);
    assert_int_equal(mprof__create("there", 0600), -1);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_int_equal(mprof__create("dangling", 0600), -1);
    assert_int_equal(errno, EEXIST);
    int fd = mprof__create_beside("there", name, sizeof name, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    close(fd);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(mprof__create_beside("there", name, 10, 0600), -1);
    assert_int_equal(errno, ENAMETOOLONG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_recording),
        cmocka_unit_test(of_a_process_that_runs),
        cmocka_unit_test(of_a_process_that_has_ended),
        cmocka_unit_test(when_a_process_was_forked),
        cmocka_unit_test(of_this_process),
        cmocka_unit_test(of_another_version),
        cmocka_unit_test(what_is_locked_is_busy),
        cmocka_unit_test(what_is_there_is_not_created),
        cmocka_unit_test(of_another_user),
    };
    return check_result(cmocka_run_group_tests(tests, set_up, tear_down));
}
