/* read.c - from the bytes of a data file to a profile, or a sentence.
 *
 * Nothing in the file is believed: the first pass walks the records and notes
 * where each begins, the second follows the refs.  A file is always copied
 * before it is looked at, since the profiled program may still write to it.
 */
#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define TYPES (MPROF_EDGE + 1)

struct reader {
    struct mprof__pool *pool;
    const char *name;  /* of the file, for messages */
    const char *error; /* NULL as long as all is well */
    const unsigned char *data;
    uint64_t used;
    struct mprof_header header;
    /* By ref: 1 + the index of the record within its type, or 0. */
    uint32_t *index;
    uint32_t count[TYPES];
    struct mprof__profile *profile;
};

static const char *const type_names[TYPES] = {
    "nothing",  "a string", "a module", "a function",
    "a thread", "a node",   "a bin",    "an edge"};

static const uint32_t type_bytes[TYPES] = {0,
                                           sizeof(struct mprof_string),
                                           sizeof(struct mprof_module),
                                           sizeof(struct mprof_function),
                                           sizeof(struct mprof_thread),
                                           sizeof(struct mprof_node),
                                           sizeof(struct mprof_bin),
                                           sizeof(struct mprof_edge)};

/* Always false, so that a check can return it; the first error counts. */
static bool damaged(struct reader *r, uint64_t offset, const char *what) {
    if (!r->error)
        r->error = mprof__format(r->pool, "%s: damaged at byte %llu: %s",
                                 r->name, (unsigned long long)offset, what);
    return false;
}

static bool refused(struct reader *r, const char *what) {
    if (!r->error)
        r->error = mprof__format(r->pool, "%s: %s", r->name, what);
    return false;
}

/* The checksum is taken with the four bytes of header.crc as zero. */
static uint32_t file_crc(const struct reader *r) {
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

static bool check_header(struct reader *r, uint64_t size) {
    const struct mprof_header *h = &r->header;

    if (size < sizeof *h || memcmp(r->data, MPROF_MAGIC, sizeof h->magic) != 0)
        return refused(r, size == 0 ? "an empty file, not an mprof data file"
                                    : "not an mprof data file");
    memcpy(&r->header, r->data, sizeof r->header);
    if (h->byte_order == __builtin_bswap32(MPROF_BYTE_ORDER))
        return refused(r, "written on a machine with another byte order");
    if (h->byte_order != MPROF_BYTE_ORDER)
        return damaged(r, 12, "no such byte order");
    if (h->version != MPROF_VERSION)
        return refused(r, mprof__format(r->pool,
                                        "has data format version %u, this "
                                        "mprof reads version %u",
                                        h->version, MPROF_VERSION));
    if (h->header_bytes != MPROF_HEADER_BYTES)
        return damaged(r, 16, "wrong size of the header");
    if (h->state != MPROF_OPEN && h->state != MPROF_CLOSED)
        return damaged(r, 20, "neither open nor closed");
    if (h->used < MPROF_HEADER_BYTES || h->used % 8 != 0)
        return damaged(r, 24, "impossible number of bytes in use");
    if (h->used / 8 >= UINT32_MAX)
        return damaged(r, 24, "more bytes in use than refs can reach");
    if (h->used > size)
        return damaged(r, size, "the file ends before its data");
    r->used = h->used;
    if (h->state == MPROF_CLOSED && size != h->used)
        return damaged(r, h->used, "more bytes than the header tells");
    if (h->state == MPROF_CLOSED && file_crc(r) != h->crc)
        return damaged(r, 32, "the check sum is wrong");
    return true;
}

/* The first pass: sizes and types of the records. */
static bool find_records(struct reader *r) {
    uint64_t at = MPROF_HEADER_BYTES;

    r->index = mprof__alloc(r->pool, r->used / 8, sizeof *r->index);
    while (at < r->used) {
        struct mprof_record head;
        memcpy(&head, r->data + at, sizeof head);
        if (head.type == 0 || head.type >= TYPES)
            return damaged(r, at, "no such type of record");
        if (head.bytes > r->used - at)
            return damaged(r, at, "a record goes past the end of the data");
        if (head.bytes % 8 != 0 ||
            (head.type == MPROF_STRING ? head.bytes < 16
                                       : head.bytes != type_bytes[head.type]))
            return damaged(r, at, "a record has the wrong size");
        r->index[at / 8] = ++r->count[head.type];
        at += head.bytes;
    }
    return true;
}

enum ref_flags { OPTIONAL = 1, LATER = 2 };

/* Follow the REF in the field at byte FIELD of the record at OWNER.  *INDEX
 * becomes its index within TYPE, or MPROF_NONE. */
static bool follow(struct reader *r, uint64_t owner, unsigned field,
                   mprof_ref ref, uint32_t type, int flags, uint32_t *index) {
    uint64_t at = (uint64_t)ref * 8;
    uint32_t found = 0;

    *index = MPROF_NONE;
    if (ref == 0)
        return flags & OPTIONAL ? true
                                : damaged(r, owner + field, "a ref is missing");
    if (at >= r->used || at < MPROF_HEADER_BYTES || r->index[ref] == 0)
        return damaged(r, owner + field, "a ref leads to no record");
    memcpy(&found, r->data + at, sizeof found);
    if (found != type)
        return damaged(r, owner + field,
                       mprof__format(r->pool, "a ref leads to %s, not to %s",
                                     type_names[found], type_names[type]));
    if (!(flags & LATER) && at >= owner)
        return damaged(r, owner + field, "a ref leads forwards");
    *index = r->index[ref] - 1;
    return true;
}

/* Bytes of the UTF-8 character at TEXT, 0 when it is none. */
static size_t utf8_length(const unsigned char *text, size_t left) {
    unsigned char c = text[0];
    size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

    if (n == 0 || n > left || c > 0xf4 || c == 0)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f) ||
        (c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] > 0x8f))
        return 0;
    return n;
}

/* Thread names come cut at any byte: what is not UTF-8 becomes '?'. */
static bool read_string(struct reader *r, uint64_t owner, unsigned field,
                        mprof_ref ref, int flags, const char **text) {
    struct mprof_string head;
    uint32_t index;

    *text = NULL;
    if (!follow(r, owner, field, ref, MPROF_STRING, flags, &index))
        return false;
    if (index == MPROF_NONE)
        return true;
    uint64_t at = (uint64_t)ref * 8;
    memcpy(&head, r->data + at, sizeof head);
    if (((uint64_t)head.length + sizeof head + 7) / 8 * 8 != head.head.bytes)
        return damaged(r, at, "a string does not fit its record");
    char *copy = mprof__copy(r->pool, (const char *)r->data + at + sizeof head,
                             head.length);
    for (size_t i = 0; i < head.length;) {
        size_t n = utf8_length((unsigned char *)copy + i, head.length - i);
        if (n == 0)
            copy[i] = '?';
        i += n ? n : 1;
    }
    *text = copy;
    return true;
}

#define FIELD(type, field) offsetof(struct mprof_##type, field)

static bool read_module(struct reader *r, uint64_t at) {
    struct mprof_module in;
    struct mprof__module *out =
        &r->profile->modules[r->profile->module_count++];

    memcpy(&in, r->data + at, sizeof in);
    if (in.build_id_bytes > sizeof in.build_id)
        return damaged(r, at + FIELD(module, build_id_bytes),
                       "a build id is too long");
    if (in.start > in.end)
        return damaged(r, at + FIELD(module, end),
                       "a module ends before it starts");
    out->bias = in.bias;
    out->start = in.start;
    out->end = in.end;
    out->flags = in.flags;
    out->build_id_bytes = in.build_id_bytes;
    memcpy(out->build_id, in.build_id, sizeof out->build_id);
    if (!read_string(r, at, FIELD(module, path), in.path, OPTIONAL, &out->path))
        return false;
    if (!out->path)
        out->path = "";
    return true;
}

static bool read_function(struct reader *r, uint64_t at) {
    struct mprof_function in;
    struct mprof__function *out =
        &r->profile->functions[r->profile->function_count++];

    memcpy(&in, r->data + at, sizeof in);
    if (in.kind > MPROF_FOLDED)
        return damaged(r, at + FIELD(function, kind),
                       "no such kind of function");
    out->address = in.address;
    out->kind = in.kind;
    return follow(r, at, FIELD(function, module), in.module, MPROF_MODULE,
                  OPTIONAL, &out->module) &&
           read_string(r, at, FIELD(function, name), in.name, OPTIONAL | LATER,
                       &out->name) &&
           read_string(r, at, FIELD(function, symbol), in.symbol,
                       OPTIONAL | LATER, &out->symbol);
}

static bool read_thread(struct reader *r, uint64_t at) {
    struct mprof_thread in;
    struct mprof__thread *out =
        &r->profile->threads[r->profile->thread_count++];

    memcpy(&in, r->data + at, sizeof in);
    out->tid = in.tid;
    out->flags = in.flags;
    out->folded_allocs = in.folded_allocs;
    out->folded_bytes = in.folded_bytes;
    out->cut_allocs = in.cut_allocs;
    out->cut_bytes = in.cut_bytes;
    return read_string(r, at, FIELD(thread, name), in.name, OPTIONAL | LATER,
                       &out->name);
}

static bool read_node(struct reader *r, uint64_t at) {
    struct mprof_node in;
    struct mprof__node *out = &r->profile->nodes[r->profile->node_count];

    memcpy(&in, r->data + at, sizeof in);
    if (!follow(r, at, FIELD(node, thread), in.thread, MPROF_THREAD, 0,
                &out->thread) ||
        !follow(r, at, FIELD(node, parent), in.parent, MPROF_NODE, OPTIONAL,
                &out->parent) ||
        !follow(r, at, FIELD(node, function), in.function, MPROF_FUNCTION,
                in.parent ? 0 : OPTIONAL, &out->function))
        return false;
    if (in.parent == 0 && in.function != 0)
        return damaged(r, at + FIELD(node, function),
                       "the root of a thread has a function");
    if (in.parent && r->profile->nodes[out->parent].thread != out->thread)
        return damaged(r, at + FIELD(node, thread),
                       "a node is in another thread than its parent");
    memcpy(out->own.by_class, in.count, sizeof in.count);
    r->profile->node_count++;
    return true;
}

static bool read_bin(struct reader *r, uint64_t at) {
    struct mprof_bin in;
    struct mprof__bin *out = &r->profile->bins[r->profile->bin_count++];

    memcpy(&in, r->data + at, sizeof in);
    if (in.class_ >= MPROF_CLASSES)
        return damaged(r, at + FIELD(bin, class_), "no such class");
    out->class_ = in.class_;
    out->objects = in.objects;
    out->storage = in.storage;
    return follow(r, at, FIELD(bin, thread), in.thread, MPROF_THREAD, 0,
                  &out->thread) &&
           read_string(r, at, FIELD(bin, type), in.type, 0, &out->type) &&
           read_string(r, at, FIELD(bin, name), in.name, OPTIONAL, &out->name);
}

static bool read_edge(struct reader *r, uint64_t at) {
    struct mprof_edge in;
    struct mprof__edge *out = &r->profile->edges[r->profile->edge_count++];

    memcpy(&in, r->data + at, sizeof in);
    out->return_address = in.return_address;
    return follow(r, at, FIELD(edge, node), in.node, MPROF_NODE, 0,
                  &out->node) &&
           follow(r, at, FIELD(edge, module), in.module, MPROF_MODULE, OPTIONAL,
                  &out->module);
}

/* Strings are read where they are referred to; here only that they fit. */
static bool check_string(struct reader *r, uint64_t at) {
    const char *text;
    return read_string(r, at, 0, (mprof_ref)(at / 8), LATER, &text);
}

/* The second pass: what the records say. */
static bool read_records(struct reader *r) {
    static bool (*const readers[TYPES])(struct reader *, uint64_t) = {
        NULL,        check_string, read_module, read_function,
        read_thread, read_node,    read_bin,    read_edge};
    struct mprof__profile *p = r->profile;
    struct mprof__pool *pool = r->pool;
    const uint32_t *n = r->count;

    p->modules = mprof__alloc(pool, n[MPROF_MODULE], sizeof *p->modules);
    p->functions = mprof__alloc(pool, n[MPROF_FUNCTION], sizeof *p->functions);
    p->threads = mprof__alloc(pool, n[MPROF_THREAD], sizeof *p->threads);
    p->nodes = mprof__alloc(pool, n[MPROF_NODE], sizeof *p->nodes);
    p->bins = mprof__alloc(pool, n[MPROF_BIN], sizeof *p->bins);
    p->edges = mprof__alloc(pool, n[MPROF_EDGE], sizeof *p->edges);

    for (uint64_t at = MPROF_HEADER_BYTES; at < r->used;) {
        struct mprof_record head;
        memcpy(&head, r->data + at, sizeof head);
        if (!readers[head.type](r, at))
            return false;
        at += head.bytes;
    }
    return true;
}

static bool read_header(struct reader *r) {
    const struct mprof_header *h = &r->header;
    struct mprof__profile *p = r->profile;
    const int flags = OPTIONAL | LATER;

    p->open = h->state == MPROF_OPEN;
    p->pid = h->pid;
    p->start_time = h->start_time;
    p->duration = h->duration;
    p->file_bytes = h->used;
    p->memory_bytes = h->memory;
    p->unplaced_allocs = h->unplaced_allocs;
    p->unplaced_bytes = h->unplaced_bytes;
    if (!read_string(r, 0, FIELD(header, program), h->program, flags,
                     &p->program) ||
        !read_string(r, 0, FIELD(header, command), h->command, flags,
                     &p->command) ||
        !read_string(r, 0, FIELD(header, runtime), h->runtime, flags,
                     &p->runtime))
        return false;
    p->program = p->program ? p->program : "";
    p->command = p->command ? p->command : "";
    p->runtime = p->runtime ? p->runtime : "";
    return true;
}

struct mprof__profile *mprof__parse(struct mprof__pool *pool, const char *name,
                                    const void *data, size_t size,
                                    const char **error) {
    struct reader r = {.pool = pool, .name = name, .data = data};

    *error = NULL;
    r.profile = mprof__alloc(pool, 1, sizeof *r.profile);
    if (check_header(&r, size) && find_records(&r) && read_header(&r) &&
        read_records(&r))
        return r.profile;
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

/* While the program runs header.used grows, and what lies before it is
 * complete: the header is taken first, and the rest up to its `used`. */
static ssize_t copy_file(struct mprof__pool *pool, int fd, size_t size,
                         char **data) {
    struct mprof_header header;
    ssize_t got = read_all(fd, (char *)&header, sizeof header);

    if (got < 0)
        return -1;
    if (got == sizeof header && header.state == MPROF_OPEN &&
        header.used >= sizeof header && header.used < size)
        size = (size_t)header.used;
    *data = mprof__try_alloc(pool, size ? size : 1, 1);
    if (!*data) {
        errno = ENOMEM;
        return -1;
    }
    ssize_t all = read_all(fd, *data, size);
    if (all > 0)
        memcpy(*data, &header, (size_t)(got < all ? got : all));
    return all;
}

struct mprof__profile *mprof__read(struct mprof__pool *pool, const char *path,
                                   const char **error) {
    struct stat status;
    char *data = NULL;
    ssize_t size = -1;
    /* O_NONBLOCK: a pipe is refused below, not waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &status) != 0) {
        *error =
            mprof__format(pool, "cannot open %s: %s", path, strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        *error =
            mprof__format(pool, "cannot read %s: not a regular file", path);
    } else {
        size = copy_file(pool, fd, (size_t)status.st_size, &data);
        if (size < 0)
            *error = mprof__format(pool, "cannot read %s: %s", path,
                                   strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    return size < 0 ? NULL
                    : mprof__parse(pool, path, data, (size_t)size, error);
}
