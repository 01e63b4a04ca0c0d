/* read.c - from the bytes of a data file to a profile, or a sentence.
 *
 * Nothing in the file is believed: the first pass walks the records and notes
 * where each begins, the second (records.c) follows the refs (refs.c), the
 * third (trees.c) reads what is in blocks.  A file is always copied before it
 * is looked at, since the profiled program may still write to it.
 */
#include "report/base/budget.h"
#include "monitor/format/bytes.h"
#include "report/data/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const uint32_t type_bytes[MPROF_TYPES] = {
    [MPROF_MODULE] = sizeof(struct mprof_module),
    [MPROF_FUNCTION] = sizeof(struct mprof_function),
    [MPROF_THREAD] = sizeof(struct mprof_thread),
    [MPROF_BIN] = sizeof(struct mprof_bin),
    [MPROF_SIZE] = sizeof(struct mprof_size),
    [MPROF_SITE] = sizeof(struct mprof_site),
    [MPROF_FREED] = sizeof(struct mprof_freed),
    [MPROF_CURVE] = sizeof(struct mprof_curve),
    [MPROF_COLLECTIONS] = sizeof(struct mprof_collections),
    [MPROF_MARK] = sizeof(struct mprof_mark),
    [MPROF_LOST] = sizeof(struct mprof_lost),
    [MPROF_SOURCE] = sizeof(struct mprof_source),
    [MPROF_WIDE] = sizeof(struct mprof_wide),
    [MPROF_C_WIDE] = sizeof(struct mprof_c_wide)};

/* The least that a record of TYPE may have, where that differs. */
static uint32_t least_bytes(uint32_t type) {
    if (type == MPROF_STRING)
        return 16;
    return mprof_thing_bytes(type, false) == 0 ? 0 : sizeof(struct mprof_block);
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

/* The checksum is taken with the four bytes of header.crc as zero. */
static uint32_t file_crc(const struct report__reader *r) {
    struct mprof_header header = r->header;
    uint64_t done = sizeof header;
    header.crc = 0;
    uLong crc = crc32(0, (const Bytef *)&header, sizeof header);
    while (done < r->used) {
        uint64_t part = r->used - done;
        if (part > 1u << 30)
            part = 1u << 30;
        crc = crc32(crc, r->data + done, (uInt)part);
        done += part;
    }
    return (uint32_t)crc;
}

static bool check_header(struct report__reader *r, uint64_t size) {
    const struct mprof_header *h = &r->header;

    if (size < sizeof *h || memcmp(r->data, MPROF_MAGIC, sizeof h->magic) != 0)
        return refused(r, size == 0 ? "an empty file, not an mprof data file"
                                    : "not an mprof data file");
    memcpy(&r->header, r->data, sizeof r->header);
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
        return report__damaged(r, h->used, "more bytes than the header tells");
    if (h->state == MPROF_CLOSED && file_crc(r) != h->crc)
        return report__damaged(r, 32, "the check sum is wrong");
    return true;
}

/* The first pass: sizes and types of the records. */
static bool check_records(struct report__reader *r) {
    uint64_t at = MPROF_HEADER_BYTES;

    while (at < r->used) {
        struct mprof_record head;
        memcpy(&head, r->data + at, sizeof head);
        if (head.type == 0 || head.type >= MPROF_TYPES)
            return report__damaged(r, at, "no such type of record");
        if (head.bytes > r->used - at)
            return report__damaged(r, at,
                                   "a record goes past the end of the data");
        uint32_t least = least_bytes(head.type);
        if (head.bytes % 8 != 0 ||
            (least ? head.bytes < least : head.bytes != type_bytes[head.type]))
            return report__damaged(r, at, "a record has the wrong size");
        r->count[head.type]++;
        at += head.bytes;
    }
    return true;
}

/* And where each of them is. */
static void find_records(struct report__reader *r) {
    uint32_t done[MPROF_TYPES] = {0};
    struct mprof_record head;

    for (uint32_t type = 0; type < MPROF_TYPES; type++)
        r->refs[type] =
            report__alloc(r->pool, r->count[type], sizeof(mprof_ref));
    r->texts = report__alloc(r->pool, r->count[MPROF_STRING], sizeof *r->texts);
    for (uint64_t at = MPROF_HEADER_BYTES; at < r->used; at += head.bytes) {
        memcpy(&head, r->data + at, sizeof head);
        r->refs[head.type][done[head.type]++] = (mprof_ref)(at / 8);
    }
    report__page_records(r);
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
    p->load_live = load->live;
    p->load_time = load->time;
    p->begun = h->begun;
    return true;
}

static bool read_header(struct report__reader *r) {
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

struct report__profile *report__parse(struct report__pool *pool,
                                      const char *name, const void *data,
                                      size_t size, const char **error) {
    struct report__reader r = {.pool = pool, .name = name, .data = data};

    *error = NULL;
    r.profile = report__alloc(pool, 1, sizeof *r.profile);
    if (check_header(&r, size) && check_records(&r)) {
        find_records(&r);
        if (read_header(&r) && report__read_records(&r)) {
            report__find_peak(r.profile);
            if (report__read_trees(&r)) {
                report__settle_lives(r.profile);
                report__settle_curve(&r);
                for (uint32_t type = 0; type < MPROF_TYPES; type++)
                    report__drop(pool, r.paged[type]);
                return r.profile;
            }
        }
    }
    *error = r.error;
    return NULL;
}

/* Read up to SIZE bytes; less only at the end of the file.  -1 with errno. */
static ssize_t read_all(int fd, char *buffer, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(fd, buffer + done, size - done, (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

/* How often what changes as spills are emptied is copied again. */
enum { MOST_TRIES = 100 };

/* What is read behind the used bytes of an open file. */
enum { LATER_BYTES = 64 << 10 };

static bool is_of_spills(uint32_t type) {
    return type == MPROF_THREAD || type == MPROF_TOTALS ||
           type == MPROF_SPILL_NODES || type == MPROF_SPILL_COUNTERS;
}

/* Copy these records once more into DATA of SIZE bytes; each is read whole. */
static bool copy_spills(int fd, char *data, size_t size) {
    struct mprof_record head;
    for (size_t at = MPROF_HEADER_BYTES; at + sizeof head <= size;
         at += head.bytes) {
        memcpy(&head, data + at, sizeof head);
        if (head.bytes < sizeof head || head.bytes > size - at)
            return false; /* that is said elsewhere */
        if (is_of_spills(head.type) &&
            pread(fd, data + at, head.bytes, (off_t)at) != (ssize_t)head.bytes)
            return false;
    }
    return true;
}

static uint64_t emptied(int fd) {
    uint64_t number = 0;
    ssize_t n = pread(fd, &number, sizeof number,
                      offsetof(struct mprof_header, emptied));
    return n == sizeof number ? number : 0;
}

/* While the program runs header.used grows, and what lies before it is
 * complete: the header is taken first, and the rest up to its `used`, and a
 * little behind that, where a WIDE may have been made meanwhile.  What a thread
 * sums up meanwhile would be there twice, or not at all. */
static ssize_t copy_file(struct report__pool *pool, int fd, size_t size,
                         char **data) {
    struct mprof_header header;
    ssize_t got = read_all(fd, (char *)&header, sizeof header);

    if (got < 0)
        return -1;
    bool open = got == sizeof header && header.state == MPROF_OPEN &&
                header.used >= sizeof header;
    if (open && header.used < size && size - header.used > LATER_BYTES)
        size = (size_t)header.used + LATER_BYTES;
    *data = report__try_alloc(pool, size ? size : 1, 1);
    if (!*data) {
        errno = ENOMEM;
        return -1;
    }
    ssize_t all = read_all(fd, *data, size);
    uint64_t before = header.emptied;
    for (int i = 0; open && i < MOST_TRIES && emptied(fd) != before; i++) {
        before = emptied(fd);
        size_t used = header.used < size ? (size_t)header.used : size;
        if (all < 0 || (size_t)all < used || !copy_spills(fd, *data, used))
            break;
    }
    if (all > 0)
        memcpy(*data, &header, (size_t)(got < all ? got : all));
    return all;
}

struct report__profile *report__read(struct report__pool *pool,
                                     const char *path, const char **error) {
    struct stat status;
    char *data = NULL;
    ssize_t size = -1;
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
        size = copy_file(pool, fd, (size_t)status.st_size, &data);
        if (size < 0)
            *error = report__format(pool, "cannot read %s: %s", path,
                                    strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    if (size < 0)
        return NULL;
    struct report__profile *profile =
        report__parse(pool, path, data, (size_t)size, error);
    report__drop(pool, data);
    return profile;
}
