/* read.c - from the bytes of a data file to a profile, or a sentence.
 *
 * Nothing in the file is believed: the first pass (copy.c) walks the records
 * and notes where each begins, the second (records.c) follows the refs
 * (refs.c), the third (trees.c) reads what is in blocks.
 */
#include "report/data/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/format/bytes.h"
#include "monitor/format/missed.h"
#include "report/base/budget.h"
#include "report/data/profile.h"

bool report__cannot_read(struct report__reader *r, int error) {
    if (!r->error)
        r->error = report__format(r->pool, "cannot read %s: %s", r->name,
                                  strerror(error));
    return false;
}

bool report__damaged(struct report__reader *r, uint64_t offset,
                     const char *what) {
    if (!r->error)
        r->error = report__format(r->pool, "%s: damaged at byte %llu: %s",
                                  r->name, (unsigned long long)offset, what);
    return false;
}

static bool refused(struct report__reader *r, const char *what) {
    if (!r->error)
        r->error = report__format(r->pool, "%s: %s", r->name, what);
    return false;
}

/* Bytes that are read behind the used bytes of an open file. */
enum { LATER_BYTES = 64 << 10 };

/* While the program runs header.used grows, and what lies before it is
 * complete: the header is taken first, and then the rest up to its `used`, and
 * a little behind that, where a WIDE may have been made meanwhile. */
static bool read_header(struct report__reader *r, int fd, uint64_t size) {
    const struct mprof_header *h = &r->header;
    ssize_t got = report__read_at(fd, 0, &r->header, sizeof *h);

    if (got < 0)
        return report__cannot_read(r, errno);
    if (got < (ssize_t)sizeof *h ||
        memcmp(h->magic, MPROF_MAGIC, sizeof h->magic) != 0)
        return refused(r, got == 0 ? "an empty file, not an mprof data file"
                                   : "not an mprof data file");
    if (h->byte_order == __builtin_bswap32(MPROF_BYTE_ORDER))
        return refused(r, "written on a machine with another byte order");
    if (h->byte_order != MPROF_BYTE_ORDER)
        return report__damaged(r, 12, "no such byte order");
    if (h->version < MPROF_UNTYPED_VERSION || h->version > MPROF_VERSION)
        return refused(r, report__format(r->pool,
                                         "has data format version %u, this "
                                         "mprof reads versions %u to %u; that "
                                         "which recorded it can read it",
                                         h->version, MPROF_UNTYPED_VERSION,
                                         MPROF_VERSION));
    if (h->header_bytes != MPROF_HEADER_BYTES)
        return report__damaged(r, 16, "wrong size of the header");
    if (h->state != MPROF_OPEN && h->state != MPROF_CLOSED)
        return report__damaged(r, 20, "neither open nor closed");
    if (h->used < MPROF_HEADER_BYTES || h->used % 8 != 0)
        return report__damaged(r, 24, "impossible number of bytes in use");
    if (h->used / 8 >= UINT32_MAX)
        return report__damaged(r, 24, "more bytes in use than refs can reach");
    if (h->used > size)
        return report__damaged(r, size, "the file ends before its data");
    r->used = h->used;
    r->size = size;
    if (h->state == MPROF_CLOSED && size != h->used)
        return report__damaged(r, h->used, "more bytes than the header says");
    if (size - h->used > LATER_BYTES)
        r->size = h->used + LATER_BYTES;
    return true;
}

/* Values that no program has would overflow where they are multiplied. */
static bool read_load(struct report__reader *r) {
    const struct mprof_header *h = &r->header;
    struct report__profile *p = r->profile;
    const struct mprof_load *load = &h->loads[h->newer_load & 1];

    if (h->timed > 1 || h->newer_load > 1)
        return report__damaged(r, MPROF_FIELD(header, timed),
                               "neither timed nor not");
    if (h->duration >> 62 || h->begun >> 62 || load->time >> 62 ||
        load->live >> 62 || load->load[1] >> 62)
        return report__damaged(r, MPROF_FIELD(header, loads),
                               "an impossible load");
    p->timed = h->timed;
    p->load = (unsigned __int128)load->load[1] << 64 | load->load[0];
    p->load_time = load->time;
    p->begun = h->begun;
    return true;
}

static bool tell_header(struct report__reader *r) {
    const struct mprof_header *h = &r->header;
    struct report__profile *p = r->profile;
    const int flags = MPROF_OPTIONAL | MPROF_LATER;

    p->open = h->state == MPROF_OPEN;
    p->pid = h->pid;
    p->start_time = h->start_time;
    p->process = (struct mprof__process){
        .boot = h->boot, .pids = h->pids, .forked = h->forked, .pid = h->pid};
    p->duration = h->duration;
    p->file_bytes = h->used;
    p->memory_bytes = h->memory;
    p->unplaced_allocs = h->unplaced_allocs;
    p->unplaced_bytes = h->unplaced_bytes;
    p->heaps = h->heaps;
    p->parent = h->parent;
    p->ppid = h->ppid;
    p->failed_allocs = h->failed_allocs;
    p->unknown_frees = h->unknown_frees;
    p->unplaced_frees = h->unplaced_frees;
    p->unplaced_freed_bytes = h->unplaced_freed_bytes;
    p->untracked_allocs = h->untracked_allocs;
    p->untracked_bytes = h->untracked_bytes;
    p->scan = h->scan;
    p->scan_flags = h->scan_flags;
    p->lost_unplaced = h->lost_unplaced;
    p->alive = h->alive & MPROF_ALIVE_KNOWN && h->heaps >> MPROF_LISP_HEAP & 1;
    p->alive_at_end = h->alive & MPROF_ALIVE_AT_END;
    p->alive_missed = h->alive & MPROF_ALIVE_MISSED;
    p->recorded = h->recorded != 0 ? h->recorded : h->start_time + h->duration;
    p->alive_collections = h->alive_collections;
    p->sampling = h->sampling;
    if (h->sampling != 0 &&
        (h->sampling == 1 || h->sampling > MPROF__MOST_SAMPLING ||
         h->heaps != 1u << MPROF_LISP_HEAP))
        return report__damaged(r, MPROF_FIELD(header, sampling),
                               "no such part of the bytes");
    if (h->heaps >> MPROF_HEAPS)
        return report__damaged(r, MPROF_FIELD(header, heaps), "no such heap");
    if (!read_load(r) ||
        !report__read_string(r, 0, MPROF_FIELD(header, program), h->program,
                             flags, &p->program) ||
        !report__read_string(r, 0, MPROF_FIELD(header, command), h->command,
                             flags, &p->command) ||
        !report__read_string(r, 0, MPROF_FIELD(header, runtime), h->runtime,
                             flags, &p->runtime) ||
        !report__read_string(r, 0, MPROF_FIELD(header, unseen), h->unseen,
                             flags, &p->unseen))
        return false;
    p->program = p->program ? p->program : "";
    p->command = p->command ? p->command : "";
    p->runtime = p->runtime ? p->runtime : "";
    p->unseen = p->unseen ? p->unseen : "";
    return true;
}

struct report__profile *report__read_file(struct report__pool *pool,
                                          const char *name, int fd,
                                          uint64_t size, const char **error) {
    struct report__reader r = {.pool = pool, .name = name};

    *error = NULL;
    r.profile = report__alloc(pool, 1, sizeof *r.profile);
    bool good = read_header(&r, fd, size) && report__copy_file(&r, fd) &&
                tell_header(&r) && report__read_records(&r) &&
                report__read_trees(&r);
    if (good) {
        report__settle_lives(r.profile);
        report__settle_curve(&r);
    }
    for (uint32_t type = 0; type < MPROF_TYPES; type++)
        report__drop(pool, r.paged[type]);
    report__drop(pool, r.kept);
    *error = r.error;
    return good ? r.profile : NULL;
}

/* Add the programs that it started and that were not recorded, from the file
 * beside PATH. */
static void add_missed(struct report__pool *pool,
                       struct report__profile *profile, const char *path) {
    char missed[300];
    mprof__missed_read(path, missed, sizeof missed);
    if (*missed != '\0')
        profile->unseen = report__format(
            pool, "%s%sa program that it starts: %s", profile->unseen,
            *profile->unseen == '\0' ? "" : "; ", missed);
}

/* FD, the file PATH, is closed also when memory is short. */
static struct report__profile *read_and_close(struct report__pool *pool,
                                              const char *path, int fd,
                                              uint64_t size,
                                              const char **error) {
    jmp_buf no_memory, *outer = pool->nomem;

    pool->nomem = &no_memory;
    if (setjmp(no_memory) != 0) {
        close(fd);
        pool->nomem = outer;
        if (outer)
            longjmp(*outer, 1);
        abort();
    }
    struct report__profile *profile =
        report__read_file(pool, path, fd, size, error);
    pool->nomem = outer;
    close(fd);
    if (profile != NULL)
        add_missed(pool, profile, path);
    return profile;
}

struct report__profile *report__read(struct report__pool *pool,
                                     const char *path, const char **error) {
    struct stat status;
    /* O_NONBLOCK: a pipe is refused below, not waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &status) != 0) {
        *error =
            report__format(pool, "cannot open %s: %s", path, strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        *error =
            report__format(pool, "cannot read %s: not a regular file", path);
    } else {
        report__budget_add(fd);
        return read_and_close(pool, path, fd, (uint64_t)status.st_size, error);
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

void report__leave_out_arguments(struct report__pool *pool,
                                 struct report__profile *profile) {
    /* As it was called, unless its name has blanks, like those between
     * arguments. */
    const char *name = strpbrk(profile->program, " \t") || !*profile->command
                           ? profile->program
                           : profile->command;
    size_t length =
        name == profile->program ? strlen(name) : strcspn(name, " ");
    size_t start = length;

    while (start > 0 && name[start - 1] != '/')
        start--;
    profile->command = report__copy(pool, name + start, length - start);
}

bool report__read_group(const char *name, struct mprof_group *group) {
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : pread(fd, group, sizeof *group, 0);
    if (fd >= 0)
        close(fd);
    return n == (ssize_t)sizeof *group &&
           memcmp(group->magic, MPROF_GROUP_MAGIC, sizeof group->magic) == 0;
}
