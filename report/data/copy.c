/* copy.c - the first pass of the reader: from the file into memory.
 *
 * The file is read once, through a window that moves over it, because the
 * profiled program may still write to it; the other passes see only the copy.
 * Nodes are most of a large file: three words of each are copied to their place
 * in the profile.  Edges are left out where the tables do not need them.  All
 * else is copied into one block, as it is in the file.
 *
 *     file    header  strings ...  NODES  n n n n n  COUNTERS ...  NODES  n n n
 *     kept    header  strings ...  NODES  COUNTERS ...  NODES
 *     nodes   n n n n n n n n
 */
#define _GNU_SOURCE
#include "report/data/copy.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "monitor/format/crc.h"

enum {
    WINDOW = 256 << 10,
    /* How often what changes as spills are emptied is copied again. */
    MOST_TRIES = 100
};

struct copying {
    struct report__reader *r;
    int fd;
    unsigned char *window;
    uint64_t from, to; /* bytes of the file that are in it */
    int failure;       /* errno, if it could not be read */
    uint64_t summed;   /* bytes that are in the check sum, if there is one */
    uint32_t crc;
};

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
    [MPROF_C_WIDE] = sizeof(struct mprof_c_wide),
    [MPROF_KEEPER] = sizeof(struct mprof_keeper),
    [MPROF_KEPT] = sizeof(struct mprof_kept),
    [MPROF_EQUAL] = sizeof(struct mprof_equal)};

/* The least that a record of TYPE may have, where that differs. */
static uint32_t least_bytes(uint32_t type) {
    if (type == MPROF_STRING)
        return 16;
    return mprof_thing_bytes(type, false) == 0 ? 0 : sizeof(struct mprof_block);
}

/* While the program runs there is no check sum. */
static bool is_summed_up(const struct report__reader *r) {
    return r->header.state == MPROF_CLOSED;
}

ssize_t report__read_at(int fd, uint64_t at, void *buffer, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
        ssize_t n =
            pread(fd, (char *)buffer + done, bytes - done, (off_t)(at + done));
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

/* Move the window to AT; bytes that were in it are not read again, and new ones
 * are added to the check sum. */
static void fill_window(struct copying *c, uint64_t at) {
    const struct report__reader *r = c->r;
    size_t have = at >= c->from && at < c->to ? (size_t)(c->to - at) : 0;
    ssize_t n = 0;
    if (have > 0)
        memmove(c->window, c->window + (at - c->from), have);
    if (at + have < r->size) {
        uint64_t left = r->size - at - have;
        size_t bytes = left < WINDOW - have ? (size_t)left : WINDOW - have;
        n = report__read_at(c->fd, at + have, c->window + have, bytes);
    }
    if (n < 0)
        c->failure = errno;
    c->from = at;
    c->to = at + have + (n < 0 ? 0 : (uint64_t)n);
    uint64_t end = c->to < r->used ? c->to : r->used;
    if (is_summed_up(r) && end > c->summed) {
        c->crc = mprof__crc32(c->crc, c->window + (c->summed - at),
                              (size_t)(end - c->summed));
        c->summed = end;
    }
}

/* Go past what is only summed up, as far as AT, which is used.  False: the file
 * ends before, or cannot be read. */
static bool sum_up(struct copying *c, uint64_t at) {
    while (is_summed_up(c->r) && c->summed < at) {
        fill_window(c, c->summed);
        if (c->to == c->from)
            return false;
    }
    return true;
}

/* The bytes of the file from AT on, LEAST of them or more: how many; 0: there
 * are not so many. */
static size_t look(struct copying *c, uint64_t at, size_t least,
                   const unsigned char **bytes) {
    if (!sum_up(c, at))
        return 0;
    if (at < c->from || at + least > c->to)
        fill_window(c, at);
    *bytes = c->window + (at - c->from);
    return at + least > c->to ? 0 : (size_t)(c->to - at);
}

static bool ends_early(struct copying *c) {
    return c->failure != 0
               ? report__cannot_read(c->r, c->failure)
               : report__damaged(c->r, c->to, "the file ends before its data");
}

/* Keep BYTES from AT on, or as many as there are: how many. */
static uint64_t keep(struct copying *c, uint64_t at, uint64_t bytes) {
    struct report__reader *r = c->r;
    uint64_t done = 0;
    while (done < bytes) {
        const unsigned char *from;
        size_t n = look(c, at + done, 1, &from);
        if (n == 0)
            break;
        if (n > bytes - done)
            n = (size_t)(bytes - done);
        memcpy(r->kept + r->kept_bytes, from, n);
        r->kept_bytes += n;
        done += n;
    }
    return done;
}

/* COUNT nodes, from AT on. */
static bool keep_nodes(struct copying *c, uint64_t at, uint32_t count) {
    struct report__reader *r = c->r;
    while (count > 0) {
        struct mprof_node in;
        const unsigned char *from;
        size_t n = look(c, at, sizeof in, &from) / sizeof in;
        if (n == 0)
            return ends_early(c);
        if (n > count)
            n = count;
        for (size_t i = 0; i < n; i++) {
            memcpy(&in, from + i * sizeof in, sizeof in);
            r->nodes[r->node_count++] = (struct report__node){
                .parent = in.parent, .function = in.call, .thread = in.counter};
        }
        at += n * sizeof in;
        count -= (uint32_t)n;
    }
    return true;
}

static bool check_record(struct report__reader *r, uint64_t at,
                         const struct mprof_record *head) {
    if (head->type == 0 || head->type >= MPROF_TYPES)
        return report__damaged(r, at, "no such type of record");
    if (head->bytes > r->used - at)
        return report__damaged(r, at, "a record goes past the end of the data");
    uint32_t least = least_bytes(head->type);
    if (head->bytes % 8 != 0 ||
        (least ? head->bytes < least : head->bytes != type_bytes[head->type]))
        return report__damaged(r, at, "a record has the wrong size");
    return true;
}

/* Copy the record at AT, with its HEAD.  If it claims more nodes than fit into
 * it, a later pass reports that. */
static bool copy_record(struct copying *c, uint64_t at,
                        struct mprof_record *head) {
    struct report__reader *r = c->r;
    struct mprof_block block = {.count = 0};
    size_t least = r->used - at < sizeof block ? sizeof *head : sizeof block;
    const unsigned char *from;

    if (look(c, at, least, &from) == 0)
        return ends_early(c);
    memcpy(&block, from, least);
    *head = block.head;
    if (!check_record(r, at, head))
        return false;
    r->count[head->type]++;
    if (head->type != MPROF_NODES)
        return keep(c, at, head->bytes) == head->bytes || ends_early(c);
    r->count[MPROF_LEFT_OUT]++;
    keep(c, at, sizeof block);
    uint32_t room = (head->bytes - sizeof block) / sizeof(struct mprof_node);
    return keep_nodes(c, at + sizeof block,
                      block.count < room ? block.count : room);
}

static bool copy_records(struct copying *c) {
    struct report__reader *r = c->r;
    struct mprof_record head = {.bytes = 0};
    for (uint64_t at = MPROF_HEADER_BYTES; at < r->used; at += head.bytes)
        if (!copy_record(c, at, &head))
            return false;
    /* Records that the program makes meanwhile. */
    r->size = r->used + keep(c, r->used, r->size - r->used);
    return c->failure == 0 || ends_early(c);
}

/* The checksum is taken with the four bytes of header.crc as zero. */
static uint32_t crc_of_header(const struct report__reader *r) {
    struct mprof_header header = r->header;
    header.crc = 0;
    return mprof__crc32(0, &header, sizeof header);
}

/* Check the sum, after the rest of a file that is damaged or ends in parts that
 * were left out.  GOOD, and the result: the file is not damaged. */
static bool check_sum(struct copying *c, bool good) {
    struct report__reader *r = c->r;
    if (!sum_up(c, r->used))
        return good ? ends_early(c) : false;
    if (!is_summed_up(r) || c->crc == r->header.crc)
        return good;
    r->error = NULL;
    return report__damaged(r, offsetof(struct mprof_header, crc),
                           "the check sum is wrong");
}

/* Where each record is. */
static void find_records(struct report__reader *r) {
    uint32_t done[MPROF_TYPES] = {0};
    struct mprof_record head;
    uint64_t left_out = 0;

    for (uint32_t type = 0; type < MPROF_TYPES; type++)
        r->refs[type] =
            report__alloc(r->pool, r->count[type], sizeof(mprof_ref));
    r->left_out = report__alloc(r->pool, (size_t)r->count[MPROF_LEFT_OUT] + 1,
                                sizeof *r->left_out);
    r->texts = report__alloc(r->pool, r->count[MPROF_STRING], sizeof *r->texts);
    for (uint64_t at = MPROF_HEADER_BYTES; at < r->used; at += head.bytes) {
        memcpy(&head, r->kept + (at - left_out), sizeof head);
        r->refs[head.type][done[head.type]++] = (mprof_ref)(at / 8);
        if (head.type == MPROF_NODES) {
            r->refs[MPROF_LEFT_OUT][done[MPROF_LEFT_OUT]++] =
                (mprof_ref)(at / 8);
            left_out += head.bytes - sizeof(struct mprof_block);
            r->left_out[done[MPROF_LEFT_OUT]] = left_out;
        }
    }
    report__page_records(r);
}

static bool is_of_spills(uint32_t type) {
    return type == MPROF_THREAD || type == MPROF_TOTALS ||
           type == MPROF_SPILL_NODES || type == MPROF_SPILL_COUNTERS;
}

/* Copy these records once more, but what the first pass saw of them. */
static bool copy_spills(struct report__reader *r, int fd) {
    const size_t seen = sizeof(struct mprof_record);
    for (uint32_t type = 1; type < MPROF_TYPES; type++)
        for (uint32_t i = 0; is_of_spills(type) && i < r->count[type]; i++) {
            uint64_t at = (uint64_t)r->refs[type][i] * 8;
            struct mprof_record head;
            report__take(r, at, &head, sizeof head);
            size_t bytes = head.bytes - seen;
            unsigned char *to = report__kept_at(r, at + seen, bytes);
            if (to == NULL ||
                report__read_at(fd, at + seen, to, bytes) != (ssize_t)bytes)
                return false;
        }
    return true;
}

static uint64_t emptied(int fd) {
    uint64_t number = 0;
    ssize_t n = report__read_at(fd, offsetof(struct mprof_header, emptied),
                                &number, sizeof number);
    return n == sizeof number ? number : 0;
}

/* Read again the sums that a thread changes while the file is copied: they
 * would be there twice, or not at all. */
static void catch_up(struct report__reader *r, int fd) {
    uint64_t before = r->header.emptied;
    for (int i = 0; i < MOST_TRIES && emptied(fd) != before; i++) {
        before = emptied(fd);
        if (!copy_spills(r, fd))
            break;
    }
}

bool report__copy_file(struct report__reader *r, int fd) {
    struct copying c = {
        .r = r, .fd = fd, .summed = sizeof r->header, .crc = crc_of_header(r)};
    size_t most = (size_t)(r->used / sizeof(struct mprof_node)) + 1;

    r->kept = report__try_alloc(r->pool, (size_t)r->size, 1);
    r->nodes = report__try_alloc(r->pool, most, sizeof *r->nodes);
    c.window = report__try_alloc(r->pool, WINDOW, 1);
    if (!r->kept || !r->nodes || !c.window)
        return report__cannot_read(r, ENOMEM);
    r->kept_bytes = MPROF_HEADER_BYTES;
    bool good = check_sum(&c, copy_records(&c));
    report__drop(r->pool, c.window);
    if (!good)
        return false;
    find_records(r);
    if (r->header.state == MPROF_OPEN)
        catch_up(r, fd);
    return true;
}
