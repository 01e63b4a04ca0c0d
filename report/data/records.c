/* records.c - the second pass of the reader: the records. */
#include "report/data/reader.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "report/base/dictionary.h"
#include "report/base/progress.h"
#include "report/base/utf8.h"

/* Read a string.  Thread names may be cut at any byte: bytes that are no UTF-8
 * become '?'. */
bool report__read_string(struct report__reader *r, uint64_t owner,
                         unsigned field, mprof_ref ref, int flags,
                         const char **text) {
    struct mprof_string head;
    uint32_t index;

    *text = NULL;
    if (!report__follow(r, owner, field, ref, MPROF_STRING, flags, &index))
        return false;
    if (index == MPROF_NONE)
        return true;
    *text = r->texts[index];
    if (*text != NULL)
        return true;
    uint64_t at = (uint64_t)ref * 8;
    report__take(r, at, &head, sizeof head);
    if (((uint64_t)head.length + sizeof head + 7) / 8 * 8 != head.head.bytes)
        return report__damaged(r, at, "a string does not fit its record");
    const unsigned char *from =
        report__kept_at(r, at, sizeof head + head.length);
    if (from == NULL)
        return report__damaged(r, at, "a string is not there");
    char *copy =
        report__copy(r->pool, (const char *)from + sizeof head, head.length);
    for (size_t i = 0; i < head.length;) {
        uint32_t code;
        size_t n = report__utf8(copy + i, head.length - i, &code);
        if (n == 0)
            copy[i] = '?';
        i += n ? n : 1;
    }
    *text = r->texts[index] = copy;
    return true;
}

static bool read_module(struct report__reader *r, uint64_t at) {
    struct mprof_module in;
    struct report__module *out =
        &r->profile->modules[r->profile->module_count++];

    report__take(r, at, &in, sizeof in);
    if (in.build_id_bytes > sizeof in.build_id)
        return report__damaged(r, AT(build_id_bytes), "a build id is too long");
    if (in.start > in.end)
        return report__damaged(r, AT(end), "a module ends before it starts");
    out->bias = in.bias;
    out->start = in.start;
    out->end = in.end;
    out->flags = in.flags;
    out->build_id_bytes = in.build_id_bytes;
    memcpy(out->build_id, in.build_id, sizeof out->build_id);
    if (!report__read_string(r, REF(path), MPROF_OPTIONAL, &out->path))
        return false;
    if (!out->path)
        out->path = "";
    if (strnlen(out->path, PATH_MAX) == PATH_MAX)
        return report__damaged(r, AT(path), "the path of a module is too long");
    return true;
}

const char *report__build_id(struct report__pool *pool,
                             const struct report__module *module) {
    static const char digits[] = "0123456789abcdef";
    char *id = report__alloc(pool, 2 * sizeof module->build_id + 1, 1);

    for (uint32_t i = 0; i < module->build_id_bytes; i++) {
        id[2 * i] = digits[module->build_id[i] >> 4];
        id[2 * i + 1] = digits[module->build_id[i] & 15];
    }
    return id;
}

void report__identify_files(struct report__pool *pool,
                            struct report__profile *p) {
    struct report__dictionary paths = {0}, files = {0};

    for (uint32_t i = 0; i < p->module_count; i++) {
        struct report__module *m = &p->modules[i];
        uint32_t path = report__intern(pool, &paths, m->path, i);
        m->file = report__intern(pool, &files,
                                 report__format(pool, "%" PRIu32 ":%s", path,
                                                report__build_id(pool, m)),
                                 i);
    }
}

static bool read_function(struct report__reader *r, uint64_t at) {
    struct mprof_function in;
    struct report__function *out =
        &r->profile->functions[r->profile->function_count++];

    report__take(r, at, &in, sizeof in);
    if (in.kind > MPROF_ENTRY)
        return report__damaged(r, AT(kind), "no such kind of function");
    out->address = in.address;
    if (in.copied > (r->header.version > MPROF_UNCOPIED_VERSION))
        return report__damaged(r, AT(copied), "neither a copy nor not");
    out->kind = in.kind;
    return report__follow(r, REF(module), MPROF_MODULE, MPROF_OPTIONAL,
                          &out->module) &&
           report__read_string(r, REF(name), MPROF_OPTIONAL | MPROF_LATER,
                               &out->name) &&
           report__read_string(r, REF(symbol), MPROF_OPTIONAL | MPROF_LATER,
                               in.copied ? &out->copied : &out->symbol);
}

static bool read_source(struct report__reader *r, uint64_t at) {
    struct mprof_source in;
    struct report__function *out;
    const char *file;
    uint32_t function;

    report__take(r, at, &in, sizeof in);
    if (in.position < MPROF_NO_POSITION)
        return report__damaged(r, AT(position), "no such place in a file");
    if (!report__follow(r, REF(function), MPROF_FUNCTION, 0, &function) ||
        !report__read_string(r, REF(file), 0, &file))
        return false;
    if (strnlen(file, PATH_MAX) == PATH_MAX)
        return report__damaged(r, AT(file),
                               "the path of a source file is too long");
    out = &r->profile->functions[function];
    out->file = file;
    out->position = in.position;
    return true;
}

/* Threads are read before their counters. */
static void find_peak(struct report__reader *r,
                      const struct mprof_thread *thread) {
    struct report__profile *p = r->profile;

    if (thread->peak > p->counted_peak)
        p->counted_peak = thread->peak;
    if (thread->high <= r->high)
        return;
    r->high = thread->high;
    p->peak_time = thread->high_time;
    p->peak_clock = thread->high_clock;
}

static bool read_thread(struct report__reader *r, uint64_t at) {
    struct mprof_thread in;
    struct report__thread *out =
        &r->profile->threads[r->profile->thread_count++];

    report__take(r, at, &in, sizeof in);
    if (in.heap >= MPROF_HEAPS || !(r->header.heaps >> in.heap & 1))
        return report__damaged(r, AT(heap),
                               "a thread of a heap that is not recorded");
    out->tid = in.tid;
    out->heap = in.heap;
    out->flags = in.flags;
    out->folded_allocs = in.folded_allocs;
    out->folded_bytes = in.folded_bytes;
    out->cut_allocs = in.cut_allocs;
    out->members = in.members;
    out->marks = in.marks;
    memcpy(out->unmarked, in.unmarked, sizeof out->unmarked);
    find_peak(r, &in);
    out->stack = in.stack;
    out->true_counts = in.emptied & 1;
    out->has_spill = in.spilled == in.emptied;
    return report__read_string(r, REF(name), MPROF_OPTIONAL | MPROF_LATER,
                               &out->name);
}

/* Follow a REF to a thread of HEAP. */
static bool follow_thread(struct report__reader *r, uint64_t owner,
                          unsigned field, mprof_ref ref, enum mprof_heap heap,
                          uint32_t *thread) {
    if (!report__follow(r, owner, field, ref, MPROF_THREAD, 0, thread))
        return false;
    if (r->profile->threads[*thread].heap != heap)
        return report__damaged(r, owner + field, "a thread of the wrong heap");
    return true;
}

static bool read_size(struct report__reader *r, uint64_t at) {
    struct mprof_size in;
    struct report__size *out = &r->profile->sizes[r->profile->size_count++];

    report__take(r, at, &in, sizeof in);
    out->size = in.size <= MPROF_LARGEST_BIN ? in.size : MPROF_LARGEST_BIN + 1;
    out->allocated = in.allocated;
    out->freed = in.freed;
    return follow_thread(r, REF(thread), MPROF_C_HEAP, &out->thread);
}

static bool read_bin(struct report__reader *r, uint64_t at) {
    struct mprof_bin in;
    struct report__bin *out = &r->profile->bins[r->profile->bin_count++];

    report__take(r, at, &in, sizeof in);
    if (in.class_ >= MPROF_CLASSES)
        return report__damaged(r, AT(class_), "no such class");
    out->class_ = in.class_;
    out->objects = in.objects;
    out->storage = in.storage;
    return follow_thread(r, REF(thread), MPROF_LISP_HEAP, &out->thread) &&
           report__read_string(r, REF(type), 0, &out->type) &&
           report__read_string(r, REF(name), MPROF_OPTIONAL, &out->name);
}

static bool read_site(struct report__reader *r, uint64_t at) {
    struct mprof_site in;
    struct report__site *out = &r->profile->sites[r->profile->site_count++];

    report__take(r, at, &in, sizeof in);
    out->return_address = in.return_address;
    return report__follow(r, REF(function), MPROF_FUNCTION, 0,
                          &out->function) &&
           report__follow(r, REF(module), MPROF_MODULE, MPROF_OPTIONAL,
                          &out->module);
}

/* Strings are read where they are referred to; here only that they fit. */
static bool check_string(struct report__reader *r, uint64_t at) {
    const char *text;
    return report__read_string(r, at, 0, (mprof_ref)(at / 8), MPROF_LATER,
                               &text);
}

static bool exceeds(const struct mprof_count *a, const struct mprof_count *b) {
    return a->allocs > b->allocs || a->bytes > b->bytes;
}

/* While the program runs, a free may be in the file before the allocation: then
 * tables clamp the sums. */
static bool check_sizes(struct report__reader *r) {
    const struct report__profile *p = r->profile;
    struct mprof_count allocated[MPROF_LARGEST_BIN + 2] = {{0, 0}};
    struct mprof_count freed[MPROF_LARGEST_BIN + 2] = {{0, 0}};

    for (uint32_t i = 0; i < p->size_count; i++) {
        report__add_count(&allocated[p->sizes[i].size], &p->sizes[i].allocated);
        report__add_count(&freed[p->sizes[i].size], &p->sizes[i].freed);
    }
    for (uint32_t i = 0; i < p->size_count && !p->open; i++)
        if (exceeds(&freed[p->sizes[i].size], &allocated[p->sizes[i].size]))
            return report__damaged(r, (uint64_t)r->refs[MPROF_SIZE][i] * 8,
                                   "more is freed than was allocated");
    return true;
}

bool report__read_records(struct report__reader *r) {
    static bool (*const readers[MPROF_TYPES])(struct report__reader *,
                                              uint64_t) = {
        [MPROF_STRING] = check_string,
        [MPROF_MODULE] = read_module,
        [MPROF_FUNCTION] = read_function,
        [MPROF_THREAD] = read_thread,
        [MPROF_BIN] = read_bin,
        [MPROF_SIZE] = read_size,
        [MPROF_SITE] = read_site,
        [MPROF_CURVE] = report__read_curve,
        [MPROF_MARK] = report__read_mark,
        [MPROF_SOURCE] = read_source,
        [MPROF_COLLECTIONS] = report__read_collections};
    struct report__profile *p = r->profile;
    struct report__pool *pool = r->pool;
    const uint32_t *n = r->count;

    p->modules = report__alloc(pool, n[MPROF_MODULE], sizeof *p->modules);
    p->functions = report__alloc(pool, n[MPROF_FUNCTION], sizeof *p->functions);
    p->threads = report__alloc(pool, n[MPROF_THREAD], sizeof *p->threads);
    p->bins = report__alloc(pool, n[MPROF_BIN], sizeof *p->bins);
    p->sizes = report__alloc(pool, n[MPROF_SIZE], sizeof *p->sizes);
    p->marks = report__alloc(pool, n[MPROF_MARK], sizeof *p->marks);
    p->sites = report__alloc(pool, n[MPROF_SITE], sizeof *p->sites);

    for (uint64_t at = MPROF_HEADER_BYTES; at < r->used;) {
        struct mprof_record head;
        report__take(r, at, &head, sizeof head);
        if (readers[head.type] && !readers[head.type](r, at))
            return false;
        at += head.bytes;
        report__progress("reading data", at, r->used);
    }
    report__identify_files(pool, p);
    return check_sizes(r);
}
