/* records.c - the second pass of the reader: what the records say. */
#include "report/data/reader.h"

#include <string.h>

static const char *const type_names[MPROF_TYPES] = {
    "nothing", "a string", "a module", "a function", "a thread",
    "a node",  "a bin",    "an edge",  "a counter",  "a size"};

/* Follow the REF in the field at byte FIELD of the record at OWNER.  *INDEX
 * becomes its index within TYPE, or MPROF_NONE. */
static bool follow(struct report__reader *r, uint64_t owner, unsigned field,
                   mprof_ref ref, uint32_t type, int flags, uint32_t *index) {
    uint64_t at = (uint64_t)ref * 8;
    uint32_t found = 0;

    *index = MPROF_NONE;
    if (ref == 0)
        return flags & MPROF_OPTIONAL
                   ? true
                   : report__damaged(r, owner + field, "a ref is missing");
    /* The program went on writing while the file was read. */
    if ((flags & MPROF_LATER) && r->header.state == MPROF_OPEN && at >= r->used)
        return true;
    if (at >= r->used || at < MPROF_HEADER_BYTES || r->index[ref] == 0)
        return report__damaged(r, owner + field, "a ref leads to no record");
    memcpy(&found, r->data + at, sizeof found);
    if (found != type)
        return report__damaged(
            r, owner + field,
            report__format(r->pool, "a ref leads to %s, not to %s",
                           type_names[found], type_names[type]));
    if (!(flags & MPROF_LATER) && at >= owner)
        return report__damaged(r, owner + field, "a ref leads forwards");
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
bool report__read_string(struct report__reader *r, uint64_t owner,
                         unsigned field, mprof_ref ref, int flags,
                         const char **text) {
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
        return report__damaged(r, at, "a string does not fit its record");
    char *copy = report__copy(r->pool, (const char *)r->data + at + sizeof head,
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

static bool read_module(struct report__reader *r, uint64_t at) {
    struct mprof_module in;
    struct report__module *out =
        &r->profile->modules[r->profile->module_count++];

    memcpy(&in, r->data + at, sizeof in);
    if (in.build_id_bytes > sizeof in.build_id)
        return report__damaged(r, at + MPROF_FIELD(module, build_id_bytes),
                               "a build id is too long");
    if (in.start > in.end)
        return report__damaged(r, at + MPROF_FIELD(module, end),
                               "a module ends before it starts");
    out->bias = in.bias;
    out->start = in.start;
    out->end = in.end;
    out->flags = in.flags;
    out->build_id_bytes = in.build_id_bytes;
    memcpy(out->build_id, in.build_id, sizeof out->build_id);
    if (!report__read_string(r, at, MPROF_FIELD(module, path), in.path,
                             MPROF_OPTIONAL, &out->path))
        return false;
    if (!out->path)
        out->path = "";
    return true;
}

static bool read_function(struct report__reader *r, uint64_t at) {
    struct mprof_function in;
    struct report__function *out =
        &r->profile->functions[r->profile->function_count++];

    memcpy(&in, r->data + at, sizeof in);
    if (in.kind > MPROF_ENTRY)
        return report__damaged(r, at + MPROF_FIELD(function, kind),
                               "no such kind of function");
    out->address = in.address;
    out->kind = in.kind;
    return follow(r, at, MPROF_FIELD(function, module), in.module, MPROF_MODULE,
                  MPROF_OPTIONAL, &out->module) &&
           report__read_string(r, at, MPROF_FIELD(function, name), in.name,
                               MPROF_OPTIONAL | MPROF_LATER, &out->name) &&
           report__read_string(r, at, MPROF_FIELD(function, symbol), in.symbol,
                               MPROF_OPTIONAL | MPROF_LATER, &out->symbol);
}

static bool read_thread(struct report__reader *r, uint64_t at) {
    struct mprof_thread in;
    struct report__thread *out =
        &r->profile->threads[r->profile->thread_count++];

    memcpy(&in, r->data + at, sizeof in);
    if (in.heap >= MPROF_HEAPS || !(r->header.heaps >> in.heap & 1))
        return report__damaged(r, at + MPROF_FIELD(thread, heap),
                               "a thread of a heap that is not recorded");
    out->tid = in.tid;
    out->heap = in.heap;
    out->flags = in.flags;
    out->folded_allocs = in.folded_allocs;
    out->folded_bytes = in.folded_bytes;
    out->cut_allocs = in.cut_allocs;
    out->cut_bytes = in.cut_bytes;
    out->members = in.members;
    out->marks = in.marks;
    memcpy(out->unmarked, in.unmarked, sizeof out->unmarked);
    return report__read_string(r, at, MPROF_FIELD(thread, name), in.name,
                               MPROF_OPTIONAL | MPROF_LATER, &out->name);
}

static bool read_node(struct report__reader *r, uint64_t at) {
    struct mprof_node in;
    struct report__node *out = &r->profile->nodes[r->profile->node_count];

    memcpy(&in, r->data + at, sizeof in);
    if (!follow(r, at, MPROF_FIELD(node, thread), in.thread, MPROF_THREAD, 0,
                &out->thread) ||
        !follow(r, at, MPROF_FIELD(node, parent), in.parent, MPROF_NODE,
                MPROF_OPTIONAL, &out->parent) ||
        !follow(r, at, MPROF_FIELD(node, function), in.function, MPROF_FUNCTION,
                in.parent ? 0 : MPROF_OPTIONAL, &out->function))
        return false;
    if (in.parent == 0 && in.function != 0)
        return report__damaged(r, at + MPROF_FIELD(node, function),
                               "the root of a thread has a function");
    if (in.parent && r->profile->nodes[out->parent].thread != out->thread)
        return report__damaged(r, at + MPROF_FIELD(node, thread),
                               "a node is in another thread than its parent");
    for (unsigned i = 0; i < MPROF_CLASSES; i++) {
        unsigned field = MPROF_FIELD(node, counters) + i * sizeof(mprof_ref);
        uint32_t newest; /* of use to the monitor only */
        if (!follow(r, at, field, in.counters[i], MPROF_COUNTER,
                    MPROF_OPTIONAL | MPROF_LATER, &newest))
            return false;
    }
    r->profile->node_count++;
    return true;
}

/* Follow a REF to a thread of HEAP. */
static bool follow_thread(struct report__reader *r, uint64_t owner,
                          unsigned field, mprof_ref ref, enum mprof_heap heap,
                          uint32_t *thread) {
    if (!follow(r, owner, field, ref, MPROF_THREAD, 0, thread))
        return false;
    if (r->profile->threads[*thread].heap != heap)
        return report__damaged(r, owner + field, "a thread of the wrong heap");
    return true;
}

static void add(struct mprof_count *sum, const struct mprof_count *count) {
    sum->allocs += count->allocs;
    sum->bytes += count->bytes;
}

/* Whoever frees counts at the node where the object was allocated. */
static bool read_counter(struct report__reader *r, uint64_t at) {
    struct mprof_counter in;
    struct report__profile *p = r->profile;
    struct report__counter *out = &p->counters[p->counter_count++];
    uint32_t thread, next;

    memcpy(&in, r->data + at, sizeof in);
    if (!follow(r, at, MPROF_FIELD(counter, node), in.node, MPROF_NODE, 0,
                &out->node) ||
        !follow(r, at, MPROF_FIELD(counter, edge), in.edge, MPROF_EDGE,
                MPROF_OPTIONAL, &out->edge) ||
        !follow(r, at, MPROF_FIELD(counter, thread), in.thread, MPROF_THREAD, 0,
                &thread) ||
        !follow(r, at, MPROF_FIELD(counter, next), in.next, MPROF_COUNTER,
                MPROF_OPTIONAL, &next))
        return false;
    struct report__node *node = &p->nodes[out->node];
    enum mprof_heap heap = p->threads[node->thread].heap;
    if (out->edge != MPROF_NONE && p->edges[out->edge].node != out->node)
        return report__damaged(r, at + MPROF_FIELD(counter, edge),
                               "a counter has the call site of another node");
    if (p->threads[thread].heap != heap)
        return report__damaged(
            r, at + MPROF_FIELD(counter, thread),
            "a counter's thread is of another heap than its node");
    if (in.class_ >= MPROF_CLASSES)
        return report__damaged(r, at + MPROF_FIELD(counter, class_),
                               "no such class");
    if (heap == MPROF_LISP_HEAP && (in.freed.allocs || in.freed.bytes))
        return report__damaged(r, at + MPROF_FIELD(counter, freed),
                               "Lisp frees nothing");
    out->class_ = in.class_;
    out->allocated = in.allocated;
    out->freed = in.freed;
    add(&node->own.by_class[in.class_], &in.allocated);
    add(&node->freed.by_class[in.class_], &in.freed);
    return true;
}

static bool read_size(struct report__reader *r, uint64_t at) {
    struct mprof_size in;
    struct report__size *out = &r->profile->sizes[r->profile->size_count++];

    memcpy(&in, r->data + at, sizeof in);
    out->size = in.size <= MPROF_LARGEST_BIN ? in.size : MPROF_LARGEST_BIN + 1;
    out->allocated = in.allocated;
    out->freed = in.freed;
    return follow_thread(r, at, MPROF_FIELD(size, thread), in.thread,
                         MPROF_C_HEAP, &out->thread);
}

static bool read_bin(struct report__reader *r, uint64_t at) {
    struct mprof_bin in;
    struct report__bin *out = &r->profile->bins[r->profile->bin_count++];

    memcpy(&in, r->data + at, sizeof in);
    if (in.class_ >= MPROF_CLASSES)
        return report__damaged(r, at + MPROF_FIELD(bin, class_),
                               "no such class");
    out->class_ = in.class_;
    out->objects = in.objects;
    out->storage = in.storage;
    return follow_thread(r, at, MPROF_FIELD(bin, thread), in.thread,
                         MPROF_LISP_HEAP, &out->thread) &&
           report__read_string(r, at, MPROF_FIELD(bin, type), in.type, 0,
                               &out->type) &&
           report__read_string(r, at, MPROF_FIELD(bin, name), in.name,
                               MPROF_OPTIONAL, &out->name);
}

static bool read_edge(struct report__reader *r, uint64_t at) {
    struct mprof_edge in;
    struct report__edge *out = &r->profile->edges[r->profile->edge_count++];

    memcpy(&in, r->data + at, sizeof in);
    out->return_address = in.return_address;
    return follow(r, at, MPROF_FIELD(edge, node), in.node, MPROF_NODE, 0,
                  &out->node) &&
           follow(r, at, MPROF_FIELD(edge, module), in.module, MPROF_MODULE,
                  MPROF_OPTIONAL, &out->module);
}

/* Strings are read where they are referred to; here only that they fit. */
static bool check_string(struct report__reader *r, uint64_t at) {
    const char *text;
    return report__read_string(r, at, 0, (mprof_ref)(at / 8), MPROF_LATER,
                               &text);
}

/* Where the record number INDEX of TYPE begins. */
static uint64_t offset_of(const struct report__reader *r, uint32_t type,
                          uint32_t index) {
    struct mprof_record head;
    uint64_t at = MPROF_HEADER_BYTES;
    for (; at < r->used; at += head.bytes) {
        memcpy(&head, r->data + at, sizeof head);
        if (head.type == type && r->index[at / 8] == index + 1)
            break;
    }
    return at;
}

static bool exceeds(const struct mprof_count *a, const struct mprof_count *b) {
    return a->allocs > b->allocs || a->bytes > b->bytes;
}

/* While the program runs, a free may be in the file before the allocation. */
static bool check_node(struct report__reader *r, uint32_t index) {
    struct report__node *node = &r->profile->nodes[index];
    for (int i = 0; i < MPROF_CLASSES; i++) {
        struct mprof_count *freed = &node->freed.by_class[i];
        const struct mprof_count *own = &node->own.by_class[i];
        if (!exceeds(freed, own))
            continue;
        if (!r->profile->open)
            return report__damaged(r, offset_of(r, MPROF_NODE, index),
                                   "more is freed than was allocated");
        if (freed->allocs > own->allocs)
            freed->allocs = own->allocs;
        if (freed->bytes > own->bytes)
            freed->bytes = own->bytes;
    }
    return true;
}

/* The same for the sizes, where tables clamp the sums. */
static bool check_sizes(struct report__reader *r) {
    const struct report__profile *p = r->profile;
    struct mprof_count allocated[MPROF_LARGEST_BIN + 2] = {{0, 0}};
    struct mprof_count freed[MPROF_LARGEST_BIN + 2] = {{0, 0}};

    for (uint32_t i = 0; i < p->size_count; i++) {
        add(&allocated[p->sizes[i].size], &p->sizes[i].allocated);
        add(&freed[p->sizes[i].size], &p->sizes[i].freed);
    }
    for (uint32_t i = 0; i < p->size_count && !p->open; i++)
        if (exceeds(&freed[p->sizes[i].size], &allocated[p->sizes[i].size]))
            return report__damaged(r, offset_of(r, MPROF_SIZE, i),
                                   "more is freed than was allocated");
    return true;
}

bool report__read_records(struct report__reader *r) {
    static bool (*const readers[MPROF_TYPES])(struct report__reader *,
                                              uint64_t) = {
        NULL,      check_string, read_module, read_function, read_thread,
        read_node, read_bin,     read_edge,   read_counter,  read_size};
    struct report__profile *p = r->profile;
    struct report__pool *pool = r->pool;
    const uint32_t *n = r->count;

    p->modules = report__alloc(pool, n[MPROF_MODULE], sizeof *p->modules);
    p->functions = report__alloc(pool, n[MPROF_FUNCTION], sizeof *p->functions);
    p->threads = report__alloc(pool, n[MPROF_THREAD], sizeof *p->threads);
    p->nodes = report__alloc(pool, n[MPROF_NODE], sizeof *p->nodes);
    p->bins = report__alloc(pool, n[MPROF_BIN], sizeof *p->bins);
    p->edges = report__alloc(pool, n[MPROF_EDGE], sizeof *p->edges);
    p->counters = report__alloc(pool, n[MPROF_COUNTER], sizeof *p->counters);
    p->sizes = report__alloc(pool, n[MPROF_SIZE], sizeof *p->sizes);

    for (uint64_t at = MPROF_HEADER_BYTES; at < r->used;) {
        struct mprof_record head;
        memcpy(&head, r->data + at, sizeof head);
        if (!readers[head.type](r, at))
            return false;
        at += head.bytes;
    }
    for (uint32_t i = 0; i < p->node_count; i++)
        if (!check_node(r, i))
            return false;
    return check_sizes(r);
}
