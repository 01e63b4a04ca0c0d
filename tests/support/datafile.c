/* datafile.c - data files made up by tests. */
#include "tests/support/datafile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static size_t add(struct datafile *file, size_t bytes) {
    size_t at = file->size;
    size_t size = at + (bytes + 7) / 8 * 8;

    if (size > file->capacity) {
        file->capacity = size * 2;
        file->data = realloc(file->data, file->capacity);
        if (!file->data)
            abort();
    }
    memset(file->data + at, 0, size - at);
    file->size = size;
    return at;
}

struct mprof_header *datafile_header(struct datafile *file) {
    return (struct mprof_header *)file->data;
}

void *datafile_record(struct datafile *file, mprof_ref ref) {
    return file->data + (size_t)ref * 8;
}

static mprof_ref add_record(struct datafile *file, uint32_t type,
                            size_t bytes) {
    size_t at = add(file, bytes);
    struct mprof_record *head = (struct mprof_record *)(file->data + at);
    head->type = type;
    head->bytes = (uint32_t)(file->size - at);
    datafile_header(file)->used = file->size;
    return (mprof_ref)(at / 8);
}

void datafile_start(struct datafile *file) {
    *file = (struct datafile){0};
    add(file, MPROF_HEADER_BYTES);
    struct mprof_header *header = datafile_header(file);
    memcpy(header->magic, MPROF_MAGIC, sizeof header->magic);
    header->version = MPROF_VERSION;
    header->byte_order = MPROF_BYTE_ORDER;
    header->header_bytes = MPROF_HEADER_BYTES;
    header->state = MPROF_OPEN;
    header->used = MPROF_HEADER_BYTES;
    header->pid = 1;
    header->machine = 62;
}

void datafile_free(struct datafile *file) {
    free(file->data);
    *file = (struct datafile){0};
}

mprof_ref datafile_string(struct datafile *file, const char *text) {
    if (!text)
        return 0;
    size_t length = strlen(text);
    mprof_ref ref =
        add_record(file, MPROF_STRING, sizeof(struct mprof_string) + length);
    struct mprof_string *string = datafile_record(file, ref);
    string->length = (uint32_t)length;
    memcpy(string->text, text, length);
    return ref;
}

mprof_ref datafile_module(struct datafile *file, const char *path,
                          const void *build_id, uint32_t build_id_bytes) {
    mprof_ref path_ref = datafile_string(file, path);
    mprof_ref ref = add_record(file, MPROF_MODULE, sizeof(struct mprof_module));
    struct mprof_module *module = datafile_record(file, ref);
    module->path = path_ref;
    module->build_id_bytes = build_id_bytes;
    if (build_id_bytes)
        memcpy(module->build_id, build_id, build_id_bytes);
    return ref;
}

mprof_ref datafile_function(struct datafile *file,
                            enum mprof_function_kind kind, mprof_ref module,
                            uint64_t address, const char *name,
                            const char *symbol) {
    mprof_ref name_ref = datafile_string(file, name);
    mprof_ref symbol_ref = datafile_string(file, symbol);
    mprof_ref ref =
        add_record(file, MPROF_FUNCTION, sizeof(struct mprof_function));
    struct mprof_function *function = datafile_record(file, ref);
    function->address = address;
    function->module = module;
    function->kind = kind;
    function->name = name_ref;
    function->symbol = symbol_ref;
    return ref;
}

mprof_ref datafile_lisp(struct datafile *file, const char *name) {
    return datafile_function(file, MPROF_LISP, 0, file->size, name, NULL);
}

static mprof_ref add_thread(struct datafile *file, uint32_t tid,
                            const char *name, enum mprof_heap heap) {
    mprof_ref name_ref = datafile_string(file, name);
    mprof_ref ref = add_record(file, MPROF_THREAD, sizeof(struct mprof_thread));
    struct mprof_thread *thread = datafile_record(file, ref);
    thread->tid = tid;
    thread->name = name_ref;
    thread->heap = heap;
    thread->members = 1;
    datafile_header(file)->heaps |= 1u << heap;
    return ref;
}

mprof_ref datafile_thread(struct datafile *file, uint32_t tid,
                          const char *name) {
    return add_thread(file, tid, name, MPROF_LISP_HEAP);
}

mprof_ref datafile_c_thread(struct datafile *file, uint32_t tid,
                            const char *name) {
    return add_thread(file, tid, name, MPROF_C_HEAP);
}

/* A block of THREAD with one thing of BYTES; the ref is the thing's. */
static mprof_ref add_thing(struct datafile *file, uint32_t type,
                           mprof_ref thread, size_t bytes) {
    mprof_ref ref = add_record(file, type, sizeof(struct mprof_block) + bytes);
    struct mprof_block *block = datafile_record(file, ref);
    block->thread = thread;
    block->count = 1;
    return ref + sizeof *block / 8;
}

struct mprof_block *datafile_block(struct datafile *file, mprof_ref thing) {
    return (struct mprof_block *)datafile_record(file, thing) - 1;
}

static mprof_ref add_node(struct datafile *file, uint32_t type,
                          mprof_ref thread, mprof_ref parent, mprof_ref call) {
    mprof_ref ref = add_thing(file, type, thread, sizeof(struct mprof_node));
    struct mprof_node *node = datafile_record(file, ref);
    node->parent = parent;
    node->call = call;
    return ref;
}

mprof_ref datafile_node(struct datafile *file, mprof_ref thread,
                        mprof_ref parent, mprof_ref call) {
    return add_node(file, MPROF_NODES, thread, parent, call);
}

mprof_ref datafile_nodes(struct datafile *file, mprof_ref thread,
                         uint32_t count, uint32_t room) {
    mprof_ref ref = add_thing(file, MPROF_NODES, thread,
                              (size_t)room * sizeof(struct mprof_node));
    datafile_block(file, ref)->count = count;
    return ref;
}

mprof_ref datafile_spill_node(struct datafile *file, mprof_ref thread,
                              mprof_ref parent, mprof_ref call) {
    return add_node(file, MPROF_SPILL_NODES, thread, parent, call);
}

static bool is_broad(struct datafile *file) {
    return datafile_header(file)->version <= MPROF_BROAD_VERSION;
}

/* Those that know what lives were larger: allocated at 8, thread at 24, site at
 * 28, freed at 32. */
enum { LARGE_BYTES = 112 };

static bool is_large(struct datafile *file) {
    return datafile_header(file)->version <= MPROF_LARGE_VERSION;
}

/* Bytes of a counter, in a block of TYPE. */
static size_t counter_bytes(struct datafile *file, uint32_t type, bool lives) {
    if (lives && type == MPROF_COUNTERS && is_large(file))
        return LARGE_BYTES;
    if (!is_broad(file) || lives)
        return mprof_thing_bytes(type, lives);
    return sizeof(struct mprof_counter) + sizeof(struct mprof_count) +
           (type == MPROF_SPILL_COUNTERS ? 8 : 0);
}

/* Let the counter at REF, of Lisp, have COUNT. */
static void set_lisp_counter(struct datafile *file, mprof_ref ref,
                             struct mprof_count count) {
    struct mprof_lisp_counter *counter = datafile_record(file, ref);
    if (is_broad(file)) {
        memcpy(&counter->counter + 1, &count, sizeof count);
        return;
    }
    if (mprof_is_narrow(count)) {
        counter->sum = mprof_narrow_sum(count);
        return;
    }
    mprof_ref at = add_record(file, MPROF_WIDE, sizeof(struct mprof_wide));
    struct mprof_wide *wide = datafile_record(file, at);
    wide->counter = ref;
    wide->allocated = count;
    counter = datafile_record(file, ref);
    counter->sum = MPROF_IS_WIDE | at;
}

static bool knows_lives(struct datafile *file, mprof_ref thread) {
    const struct mprof_thread *of = datafile_record(file, thread);
    return mprof_knows_lives(of->heap, of->flags);
}

mprof_ref datafile_spill_counter(struct datafile *file, mprof_ref node,
                                 mprof_ref short_, uint32_t class_,
                                 struct mprof_count count) {
    mprof_ref thread = datafile_block(file, node)->thread;
    bool lives = knows_lives(file, thread);
    mprof_ref ref = add_thing(file, MPROF_SPILL_COUNTERS, thread,
                              counter_bytes(file, MPROF_SPILL_COUNTERS, lives));
    struct mprof_spill_counter *counter = datafile_record(file, ref);
    struct mprof_node *at = datafile_record(file, node);
    counter->counter.next = at->counter;
    counter->counter.key = class_;
    at->counter = ref;
    if (lives) {
        counter->allocated = count;
        counter->short_ = short_;
    } else {
        set_lisp_counter(file, ref, count);
    }
    return ref;
}

mprof_ref datafile_total(struct datafile *file, mprof_ref thread,
                         struct mprof_total total) {
    mprof_ref ref = add_thing(file, MPROF_TOTALS, thread, sizeof total);
    memcpy(datafile_record(file, ref), &total, sizeof total);
    return ref;
}

/* Let the counter at REF, of C or of a thread of Lisp that knows what lives,
 * have these. */
static void set_lives(struct datafile *file, mprof_ref ref, mprof_ref thread,
                      mprof_ref site, struct mprof_count allocated,
                      struct mprof_count freed) {
    char *large = datafile_record(file, ref);
    struct mprof_c_counter *c = datafile_record(file, ref);
    struct mprof_alive_counter *alive = datafile_record(file, ref);
    const struct mprof_thread *of = datafile_record(file, thread);
    if (is_large(file)) {
        memcpy(large + 8, &allocated, sizeof allocated);
        memcpy(large + 24, &thread, sizeof thread);
        memcpy(large + 28, &site, sizeof site);
        memcpy(large + 32, &freed, sizeof freed);
    } else if (of->heap == MPROF_LISP_HEAP) {
        alive->allocated = allocated;
        alive->freed = freed;
    } else {
        c->thread = thread;
        c->site = site;
        if (mprof_is_narrow(allocated) && mprof_is_narrow(freed)) {
            c->allocated = mprof_narrow_sum(allocated);
            c->freed = mprof_narrow_sum(freed);
            return;
        }
        mprof_ref at =
            add_record(file, MPROF_C_WIDE, sizeof(struct mprof_c_wide));
        struct mprof_c_wide *wide = datafile_record(file, at);
        wide->counter = ref;
        wide->number.allocated = allocated;
        wide->number.freed = freed;
        c = datafile_record(file, ref); /* it may be elsewhere now */
        c->allocated = MPROF_IS_WIDE | at;
    }
}

mprof_ref datafile_counter(struct datafile *file, mprof_ref node,
                           mprof_ref site, uint32_t class_,
                           struct mprof_count allocated,
                           struct mprof_count freed) {
    mprof_ref thread = datafile_block(file, node)->thread;
    bool lives = knows_lives(file, thread);
    mprof_ref ref = add_thing(file, MPROF_COUNTERS, thread,
                              counter_bytes(file, MPROF_COUNTERS, lives));
    struct mprof_counter *counter = datafile_record(file, ref);
    counter->key = class_;
    if (lives)
        set_lives(file, ref, thread, site, allocated, freed);
    else
        set_lisp_counter(file, ref, allocated);
    mprof_ref *end =
        &((struct mprof_node *)datafile_record(file, node))->counter;
    while (*end != 0)
        end = &((struct mprof_counter *)datafile_record(file, *end))->next;
    *end = ref;
    return ref;
}

mprof_ref datafile_freed(struct datafile *file, mprof_ref thread,
                         mprof_ref counter, struct mprof_count freed) {
    mprof_ref ref = add_record(file, MPROF_FREED, sizeof(struct mprof_freed));
    struct mprof_freed *record = datafile_record(file, ref);
    record->thread = thread;
    record->counter = counter;
    record->freed = freed;
    return ref;
}

mprof_ref datafile_count(struct datafile *file, mprof_ref node, uint32_t class_,
                         uint64_t allocs, uint64_t bytes) {
    return datafile_counter(file, node, 0, class_,
                            (struct mprof_count){allocs, bytes},
                            (struct mprof_count){0, 0});
}

mprof_ref datafile_size(struct datafile *file, mprof_ref thread, uint32_t size,
                        struct mprof_count allocated,
                        struct mprof_count freed) {
    mprof_ref ref = add_record(file, MPROF_SIZE, sizeof(struct mprof_size));
    struct mprof_size *record = datafile_record(file, ref);
    record->thread = thread;
    record->size = size;
    record->allocated = allocated;
    record->freed = freed;
    return ref;
}

void datafile_objects(struct datafile *file, mprof_ref node, uint32_t size,
                      uint64_t objects, uint64_t freed) {
    mprof_ref thread = datafile_block(file, node)->thread;
    struct mprof_count allocations = {objects, objects * size};
    struct mprof_count frees = {freed, freed * size};
    datafile_counter(file, node, 0, mprof_size_class(size), allocations, frees);
    if (size > MPROF_LARGEST_BIN)
        size = MPROF_LARGEST_BIN + 1;
    datafile_size(file, thread, size, allocations, frees);
}

mprof_ref datafile_bin(struct datafile *file, mprof_ref thread,
                       enum mprof_class class_, const char *type,
                       const char *name, struct mprof_count objects,
                       struct mprof_count storage) {
    mprof_ref type_ref = datafile_string(file, type);
    mprof_ref name_ref = datafile_string(file, name);
    mprof_ref ref = add_record(file, MPROF_BIN, sizeof(struct mprof_bin));
    struct mprof_bin *bin = datafile_record(file, ref);
    bin->thread = thread;
    bin->type = type_ref;
    bin->name = name_ref;
    bin->class_ = class_;
    bin->objects = objects;
    bin->storage = storage;
    return ref;
}

mprof_ref datafile_site(struct datafile *file, mprof_ref function,
                        mprof_ref module, uint64_t return_address) {
    mprof_ref ref = add_record(file, MPROF_SITE, sizeof(struct mprof_site));
    struct mprof_site *site = datafile_record(file, ref);
    site->function = function;
    site->module = module;
    site->return_address = return_address;
    return ref;
}

mprof_ref datafile_edge(struct datafile *file, mprof_ref node, mprof_ref site) {
    mprof_ref ref =
        add_thing(file, MPROF_EDGES, datafile_block(file, node)->thread,
                  sizeof(struct mprof_edge));
    struct mprof_edge *edge = datafile_record(file, ref);
    edge->node = node;
    edge->site = site;
    return ref;
}

mprof_ref datafile_curve(struct datafile *file, uint32_t count, uint64_t step) {
    mprof_ref ref = add_record(file, MPROF_CURVE, sizeof(struct mprof_curve));
    struct mprof_curve *curve = datafile_record(file, ref);
    curve->count = count;
    curve->step = step;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t time = i * (uint64_t)1000000000;
        curve->points[i] = (struct mprof_point){time, i * step, i * 8, i};
        if (i % 2 == 1)
            curve->rss[curve->rss_count++] =
                (struct mprof_rss){time, i * 1000000};
    }
    return ref;
}

mprof_ref datafile_mark(struct datafile *file, const char *name, uint64_t time,
                        uint64_t current) {
    mprof_ref text = datafile_string(file, name);
    mprof_ref ref = add_record(file, MPROF_MARK, sizeof(struct mprof_mark));
    struct mprof_mark *mark = datafile_record(file, ref);
    mark->name = text;
    mark->time = time;
    mark->current = current;
    return ref;
}

mprof_ref datafile_source(struct datafile *file, mprof_ref function,
                          const char *path, int64_t position) {
    mprof_ref text = datafile_string(file, path);
    mprof_ref ref = add_record(file, MPROF_SOURCE, sizeof(struct mprof_source));
    struct mprof_source *source = datafile_record(file, ref);
    source->function = function;
    source->file = text;
    source->position = position;
    return ref;
}

mprof_ref datafile_collections(struct datafile *file, uint32_t count) {
    mprof_ref ref =
        add_record(file, MPROF_COLLECTIONS, sizeof(struct mprof_collections));
    struct mprof_collections *c = datafile_record(file, ref);
    c->count = count;
    c->step = 2;
    c->collections = 2 * (uint64_t)count + 1;
    c->ns = c->collections * 10000000;
    c->highest = 3000000;
    for (uint32_t i = 0; i < count; i++)
        c->points[i] =
            (struct mprof_collection){.time = (i + 1) * (uint64_t)1000000000,
                                      .allocated = (i + 1) * (uint64_t)2000000,
                                      .before = 2000000 + i * (uint64_t)1000,
                                      .after = 1000000 + i * (uint64_t)1000,
                                      .collections = 2 * (uint64_t)(i + 1),
                                      .ns = 2 * (uint64_t)(i + 1) * 10000000};
    return ref;
}

void datafile_close(struct datafile *file) {
    struct mprof_header *header = datafile_header(file);
    header->state = MPROF_CLOSED;
    header->crc = 0;
    header->crc = (uint32_t)crc32(0, file->data, (uInt)file->size);
}
