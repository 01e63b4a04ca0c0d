/* pprof.c - the profile.proto of pprof.
 *
 * The samples go out as they come; functions, modules and strings follow, those
 * that they need.  A location is a function: lines are not told apart.
 */
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "report/base/output.h"
#include "report/export/export.h"
#include "report/export/message.h"

/* Numbers of fields, see the file profile.proto of pprof. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME = 9,
    PROFILE_DURATION = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,

    TYPE_TYPE = 1,
    TYPE_UNIT = 2,

    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,

    LABEL_KEY = 1,
    LABEL_STRING = 2,

    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,

    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_LINE = 4,

    LINE_FUNCTION = 1,

    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3
};

/* What a sample has; C has all. */
static const struct {
    const char *type, *unit;
} types[] = {{"alloc_objects", "count"}, {"alloc_space", "bytes"},
             {"inuse_objects", "count"}, {"inuse_space", "bytes"},
             {"peak_objects", "count"},  {"peak_space", "bytes"},
             {"temporary", "count"}};
enum { LISP_TYPES = 2, C_TYPES = sizeof types / sizeof *types };

static const char *const classes[MPROF_HEAPS][MPROF_CLASSES] = {
    [MPROF_LISP_HEAP] = {"cons", "float", "struct", "other"},
    [MPROF_C_HEAP] = {"small", "medium", "large", "extra"}};

enum { STREAM_BYTES = 1 << 16 };

struct pprof {
    const struct report__profile *profile;
    const struct report__functions *names;
    enum mprof_heap heap;
    struct report__pool *pool;
    FILE *out;
    z_stream zip;
    unsigned char zipped[STREAM_BYTES];
    struct report__message all, one, part; /* all: not yet in the stream */
    const char **strings;                  /* in their order */
    size_t string_count, string_capacity;
    uint32_t class_string[MPROF_CLASSES], key_class, key_thread;
    uint32_t *thread_string; /* by thread, or 0 */
    bool *used;              /* by function */
    bool any_deeper, any_summed;
};

/* The stream */

static void *zip_alloc(void *pool, unsigned count, unsigned size) {
    return report__alloc(pool, count, size);
}

static void zip_free(void *pool, void *block) {
    (void)pool, (void)block; /* with the pool */
}

static void zip(struct pprof *p, int flush) {
    p->zip.next_in = p->all.bytes;
    p->zip.avail_in = (unsigned)p->all.count;
    do {
        p->zip.next_out = p->zipped;
        p->zip.avail_out = sizeof p->zipped;
        deflate(&p->zip, flush);
        fwrite(p->zipped, 1, sizeof p->zipped - p->zip.avail_out, p->out);
    } while (p->zip.avail_out == 0);
    p->all.count = 0;
}

/* What is in p->one is FIELD of the profile. */
static void put(struct pprof *p, unsigned field) {
    report__put_message(&p->all, field, &p->one);
    if (p->all.count >= STREAM_BYTES)
        zip(p, Z_NO_FLUSH);
}

/* Its number. */
static uint32_t string(struct pprof *p, const char *text) {
    p->strings = report__grow(p->pool, p->strings, p->string_count,
                              &p->string_capacity, sizeof *p->strings);
    p->strings[p->string_count] = text;
    return (uint32_t)p->string_count++;
}

/* Samples */

static void put_type(struct pprof *p, unsigned field, const char *type,
                     const char *unit) {
    report__put_number(&p->one, TYPE_TYPE, string(p, type));
    report__put_number(&p->one, TYPE_UNIT, string(p, unit));
    put(p, field);
}

static void put_label(struct pprof *p, uint32_t key, uint32_t value) {
    report__put_number(&p->part, LABEL_KEY, key);
    report__put_number(&p->part, LABEL_STRING, value);
    report__put_message(&p->one, SAMPLE_LABEL, &p->part);
}

static uint32_t thread_string(struct pprof *p, uint32_t index) {
    const struct report__thread *thread = &p->profile->threads[index];
    if (p->thread_string[index] == 0)
        p->thread_string[index] = string(
            p, report__format(p->pool, "%s (%" PRIu32 ")",
                              thread->name == NULL
                                  ? "without name"
                                  : report__clean_name(p->pool, thread->name),
                              thread->tid));
    return p->thread_string[index];
}

/* Numbers of locations: those of functions, and two more. */
static uint32_t location(uint32_t function) {
    return function + 1;
}

static uint32_t deeper(const struct pprof *p) {
    return p->names->count + 1;
}

static uint32_t summed(const struct pprof *p) {
    return p->names->count + 2;
}

static void put_sample(void *data, const struct report__sample *s) {
    struct pprof *p = data;
    const uint64_t values[C_TYPES] = {
        s->allocated.allocs, s->allocated.bytes, s->kept.allocs, s->kept.bytes,
        s->at_peak.allocs,   s->at_peak.bytes,   s->temporary};
    int count = p->heap == MPROF_C_HEAP ? C_TYPES : LISP_TYPES;

    for (uint32_t i = 0; i < s->depth; i++) {
        p->used[s->functions[i]] = true;
        report__put_varint(&p->part, location(s->functions[i]));
    }
    if (s->is_deeper || s->is_summed)
        report__put_varint(&p->part, s->is_deeper ? deeper(p) : summed(p));
    p->any_deeper |= s->is_deeper;
    p->any_summed |= s->is_summed && !s->is_deeper;
    report__put_message(&p->one, SAMPLE_LOCATION, &p->part);
    for (int i = 0; i < count; i++)
        report__put_varint(&p->part, values[i]);
    report__put_message(&p->one, SAMPLE_VALUE, &p->part);
    put_label(p, p->key_class, p->class_string[s->class_]);
    put_label(p, p->key_thread, thread_string(p, s->thread));
    put(p, PROFILE_SAMPLE);
}

/* What they refer to */

static void put_function(struct pprof *p, uint32_t id, const char *name,
                         uint32_t mapping) {
    uint32_t number = string(p, name);
    report__put_number(&p->one, FUNCTION_ID, id);
    report__put_number(&p->one, FUNCTION_NAME, number);
    report__put_number(&p->one, FUNCTION_SYSTEM_NAME, number);
    put(p, PROFILE_FUNCTION);
    report__put_number(&p->part, LINE_FUNCTION, id);
    report__put_message(&p->one, LOCATION_LINE, &p->part);
    report__put_number(&p->one, LOCATION_ID, id);
    report__put_number(&p->one, LOCATION_MAPPING, mapping);
    put(p, PROFILE_LOCATION);
}

static void put_mapping(struct pprof *p, uint32_t module) {
    const struct report__module *m = &p->profile->modules[module];
    static const char digits[] = "0123456789abcdef";
    char *id = report__alloc(p->pool, 2 * sizeof m->build_id + 1, 1);

    for (uint32_t i = 0; i < m->build_id_bytes; i++) {
        id[2 * i] = digits[m->build_id[i] >> 4];
        id[2 * i + 1] = digits[m->build_id[i] & 15];
    }
    report__put_number(&p->one, MAPPING_ID, module + 1);
    report__put_number(&p->one, MAPPING_START, m->start);
    report__put_number(&p->one, MAPPING_LIMIT, m->end);
    report__put_number(&p->one, MAPPING_FILE,
                       string(p, report__clean_name(p->pool, m->path)));
    report__put_number(&p->one, MAPPING_BUILD_ID, string(p, id));
    report__put_number(&p->one, MAPPING_HAS_FUNCTIONS, 1);
    put(p, PROFILE_MAPPING);
}

static void put_functions(struct pprof *p) {
    const struct report__profile *profile = p->profile;
    const char **clean = report__clean_names(p->pool, p->names);
    uint32_t *mapping =
        report__alloc(p->pool, p->names->count, sizeof *mapping);
    bool *mapped = report__alloc(p->pool, profile->module_count, 1);

    for (uint32_t i = profile->function_count; i-- > 0;)
        if (profile->functions[i].module != MPROF_NONE)
            mapping[p->names->shown[i]] =
                p->names->module_id[profile->functions[i].module] + 1;
    for (uint32_t i = 0; i < p->names->count; i++)
        if (p->used[i] && mapping[i] != 0)
            mapped[mapping[i] - 1] = true;
    for (uint32_t i = 0; i < profile->module_count; i++)
        if (mapped[i])
            put_mapping(p, i);
    for (uint32_t i = 0; i < p->names->count; i++)
        if (p->used[i])
            put_function(p, location(i), clean[i], mapping[i]);
    if (p->any_deeper)
        put_function(p, deeper(p), MPROF_EXPORT_DEEPER, 0);
    if (p->any_summed)
        put_function(p, summed(p), MPROF_EXPORT_SUMMED, 0);
}

static void begin(struct pprof *p) {
    p->all.pool = p->one.pool = p->part.pool = p->pool;
    p->zip.zalloc = zip_alloc;
    p->zip.zfree = zip_free;
    p->zip.opaque = p->pool;
    deflateInit2(&p->zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                 Z_DEFAULT_STRATEGY);
    string(p, "");
    p->key_class = string(p, "class");
    p->key_thread = string(p, "thread");
    for (int i = 0; i < MPROF_CLASSES; i++)
        p->class_string[i] = string(p, classes[p->heap][i]);
    p->used = report__alloc(p->pool, p->names->count, sizeof *p->used);
    p->thread_string = report__alloc(p->pool, p->profile->thread_count,
                                     sizeof *p->thread_string);
}

static void finish(struct pprof *p) {
    const struct report__profile *profile = p->profile;
    const char *command =
        *profile->command ? profile->command : profile->program;
    uint32_t comment =
        string(p, report__format(p->pool, "mprof %s: %s", MPROF_PACKAGE_VERSION,
                                 report__clean_name(p->pool, command)));
    uint32_t usual = string(p, "alloc_space");

    put_type(p, PROFILE_PERIOD_TYPE, "space", "bytes");
    report__put_number(&p->all, PROFILE_PERIOD, 1);
    report__put_number(&p->all, PROFILE_TIME, profile->start_time);
    report__put_number(&p->all, PROFILE_DURATION, profile->duration);
    report__put_number(&p->all, PROFILE_COMMENT, comment);
    report__put_number(&p->all, PROFILE_DEFAULT_TYPE, usual);
    for (size_t i = 0; i < p->string_count; i++) {
        report__put_bytes(&p->all, PROFILE_STRING, p->strings[i],
                          strlen(p->strings[i]));
        if (p->all.count >= STREAM_BYTES)
            zip(p, Z_NO_FLUSH);
    }
    zip(p, Z_FINISH);
    deflateEnd(&p->zip);
}

void report__export_pprof(FILE *out, const struct report__profile *profile,
                          const struct report__functions *names,
                          const struct report__export_options *options,
                          struct report__pool *pool) {
    struct pprof *p = report__alloc(pool, 1, sizeof *p);

    p->profile = profile;
    p->names = names;
    p->heap = options->sampling.heap;
    p->pool = pool;
    p->out = out;
    begin(p);
    for (int i = 0; i < (p->heap == MPROF_C_HEAP ? C_TYPES : LISP_TYPES); i++)
        put_type(p, PROFILE_SAMPLE_TYPE, types[i].type, types[i].unit);
    report__each_sample(pool, profile, names, &options->sampling, put_sample,
                        p);
    put_functions(p);
    finish(p);
}
