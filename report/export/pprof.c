/* pprof.c - the profile.proto of pprof.
 *
 * The samples go out as they come; locations, functions, modules and strings
 * follow, those that they need.  A location is a function at a line, together
 * with what was inlined there.
 */
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "report/export/export.h"
#include "report/graph/inlining.h"
#include "report/graph/lisp_types.h"

/*
 * Messages of protocol buffers: varints, and fields of a length
 */

/* Empty when all but `pool` is zeros; used again when `count` is 0. */
struct message {
    struct report__pool *pool;
    unsigned char *bytes;
    size_t count, capacity;
};

enum { VARINT = 0, BYTES = 2, LONGEST = 10 };

/* Room for MORE bytes. */
static unsigned char *make_room(struct message *m, size_t more) {
    if (m->capacity - m->count < more) {
        size_t capacity = 2 * m->capacity + more + 256;
        unsigned char *larger = report__alloc(m->pool, capacity, 1);
        if (m->count > 0)
            memcpy(larger, m->bytes, m->count);
        report__drop(m->pool, m->bytes);
        m->bytes = larger;
        m->capacity = capacity;
    }
    return m->bytes + m->count;
}

/* A number without a field, as packed ones are. */
static void put_varint(struct message *m, uint64_t number) {
    unsigned char *to = make_room(m, LONGEST);
    for (; number >= 0x80; number >>= 7)
        *to++ = (unsigned char)(number | 0x80);
    *to++ = (unsigned char)number;
    m->count = (size_t)(to - m->bytes);
}

/* FIELD is NUMBER; left out when that is 0, the default. */
static void put_number(struct message *m, unsigned field, uint64_t number) {
    if (number == 0)
        return;
    put_varint(m, field << 3 | VARINT);
    put_varint(m, number);
}

/* FIELD is LENGTH bytes. */
static void put_bytes(struct message *m, unsigned field, const void *bytes,
                      size_t length) {
    put_varint(m, field << 3 | BYTES);
    put_varint(m, length);
    unsigned char *to = make_room(m, length);
    if (length > 0)
        memcpy(to, bytes, length);
    m->count += length;
}

/* FIELD is the message OTHER, which is empty then. */
static void put_message(struct message *m, unsigned field,
                        struct message *other) {
    put_bytes(m, field, other->bytes, other->count);
    other->count = 0;
}

/* The profile */

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
    MAPPING_HAS_FILES = 8,
    MAPPING_HAS_LINES = 9,
    MAPPING_HAS_INLINES = 10,

    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_LINE = 4,

    LINE_FUNCTION = 1,
    LINE_LINE = 2,

    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_FILE = 4
};

static const struct {
    const char *type, *unit;
} types[MPROF_NUMBERS] = {
    [MPROF_NUMBER_ALLOCS] = {"alloc_objects", "count"},
    [MPROF_NUMBER_BYTES] = {"alloc_space", "bytes"},
    [MPROF_NUMBER_KEPT_ALLOCS] = {"inuse_objects", "count"},
    [MPROF_NUMBER_KEPT_BYTES] = {"inuse_space", "bytes"},
    [MPROF_NUMBER_PEAK_ALLOCS] = {"peak_objects", "count"},
    [MPROF_NUMBER_PEAK_BYTES] = {"peak_space", "bytes"},
    [MPROF_NUMBER_TEMPORARY] = {"temporary", "count"}};

enum { STREAM_BYTES = 1 << 16 };

struct pprof {
    const struct report__export *e;
    const struct report__profile *profile;
    const struct report__functions *names;
    enum mprof_heap heap;
    struct report__pool *pool;
    FILE *out;
    z_stream zip;
    unsigned char zipped[STREAM_BYTES];
    struct message all, one, part; /* all: not yet in the stream */
    const char **strings;          /* in their order */
    size_t string_count, string_capacity;
    uint32_t class_string[MPROF_CLASSES], key_class, key_thread, key_type;
    struct report__lisp_types types;
    uint32_t *type_string;   /* by type, or 0 */
    uint32_t *thread_string; /* by thread, or 0 */
    const char **clean;      /* names of functions */
    /* Functions: of names->list, and a file plus 1 or 0.  Lines: such a
     * function, and a line.  Locations: a line, and the number plus 1 of the
     * location of what was inlined there. */
    struct report__pairs functions, lines, locations;
    bool *is_used; /* by location: a frame of a sample */
    size_t used_capacity;
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

/* Write p->one as FIELD of the profile. */
static void put(struct pprof *p, unsigned field) {
    put_message(&p->all, field, &p->one);
    if (p->all.count >= STREAM_BYTES)
        zip(p, Z_NO_FLUSH);
}

/* Its number. */
static uint32_t string(struct pprof *p, const char *text) {
    REPORT__PUSH(p->pool, p->strings, p->string_count, p->string_capacity,
                 text);
    return (uint32_t)p->string_count - 1;
}

/* Samples */

static void put_type(struct pprof *p, unsigned field, const char *type,
                     const char *unit) {
    put_number(&p->one, TYPE_TYPE, string(p, type));
    put_number(&p->one, TYPE_UNIT, string(p, unit));
    put(p, field);
}

static void put_label(struct pprof *p, uint32_t key, uint32_t value) {
    put_number(&p->part, LABEL_KEY, key);
    put_number(&p->part, LABEL_STRING, value);
    put_message(&p->one, SAMPLE_LABEL, &p->part);
}

static uint32_t thread_string(struct pprof *p, uint32_t index) {
    if (p->thread_string[index] == 0)
        p->thread_string[index] = string(
            p, report__thread_name(p->pool, &p->profile->threads[index]));
    return p->thread_string[index];
}

static uint32_t type_string(struct pprof *p, uint32_t bin) {
    uint32_t type = p->types.of_bin[bin];
    const char *name = report__lisp_type_name(&p->types.list[type]);

    if (p->type_string[type] == 0)
        p->type_string[type] = string(p, report__clean_name(p->pool, name));
    return p->type_string[type];
}

/* The first number in the file of locations and of functions. */
enum { FIRST = 1 };

static uint32_t line_of(struct pprof *p, const struct report__frame *frame) {
    const struct report__pair place =
        report__frame_place(p->names, frame->place);

    return report__pair_number(
        p->pool, &p->lines,
        report__pair_number(p->pool, &p->functions, frame->function, place.a),
        place.b);
}

static bool is_inlined(const struct pprof *p, uint32_t function) {
    return function < p->names->count && p->names->list[function].is_inlined;
}

/* The location that the frames from FRAME on are, which is one frame that is
 * not inlined and those in it; *COUNT of them. */
static uint32_t find_location(struct pprof *p,
                              const struct report__frame *frame, uint32_t left,
                              uint32_t *count) {
    uint32_t location = MPROF_NONE;

    *count = 0;
    do
        location = report__pair_number(
            p->pool, &p->locations, line_of(p, &frame[*count]), location + 1);
    while (is_inlined(p, frame[(*count)++].function) && *count < left);
    while (p->used_capacity <= location)
        p->is_used = report__grow(p->pool, p->is_used, p->used_capacity,
                                  &p->used_capacity, sizeof *p->is_used);
    p->is_used[location] = true;
    return location;
}

static void put_sample(void *data, const struct report__sample *s) {
    struct pprof *p = data;
    for (uint32_t i = 0, n; i < s->depth; i += n)
        put_varint(&p->part,
                   FIRST + find_location(p, &s->frames[i], s->depth - i, &n));
    put_message(&p->one, SAMPLE_LOCATION, &p->part);
    for (int i = 0; i < report__numbers_of(p->heap); i++)
        put_varint(&p->part, s->numbers[i]);
    put_message(&p->one, SAMPLE_VALUE, &p->part);
    put_label(p, p->key_class, p->class_string[s->class_]);
    if (s->thread != MPROF_NONE)
        put_label(p, p->key_thread, thread_string(p, s->thread));
    if (s->bin != MPROF_NONE)
        put_label(p, p->key_type, type_string(p, s->bin));
    put(p, PROFILE_SAMPLE);
}

/* Their references */

static void put_function(struct pprof *p, uint32_t id, const char *name,
                         uint32_t file) {
    uint32_t number = string(p, name);
    put_number(&p->one, FUNCTION_ID, id);
    put_number(&p->one, FUNCTION_NAME, number);
    put_number(&p->one, FUNCTION_FILE, file);
    put(p, PROFILE_FUNCTION);
}

/* The line of location I, innermost first as its inner ones come before. */
static void put_lines(struct pprof *p, uint32_t i) {
    const struct report__pair *location = &p->locations.list[i];
    const struct report__pair *line = &p->lines.list[location->a];

    if (location->b > 0)
        put_lines(p, location->b - 1);
    put_number(&p->part, LINE_FUNCTION, FIRST + line->a);
    put_number(&p->part, LINE_LINE, line->b);
    put_message(&p->one, LOCATION_LINE, &p->part);
}

static void put_mapping(struct pprof *p, uint32_t module) {
    const struct report__module *m = &p->profile->modules[module];

    put_number(&p->one, MAPPING_ID, module + 1);
    put_number(&p->one, MAPPING_START, m->start);
    put_number(&p->one, MAPPING_LIMIT, m->end);
    put_number(&p->one, MAPPING_FILE,
               string(p, report__clean_name(p->pool, m->path)));
    put_number(&p->one, MAPPING_BUILD_ID,
               string(p, report__build_id(p->pool, m)));
    put_number(&p->one, MAPPING_HAS_FUNCTIONS, 1);
    if (p->names->inlining) {
        put_number(&p->one, MAPPING_HAS_FILES, 1);
        put_number(&p->one, MAPPING_HAS_LINES, 1);
        put_number(&p->one, MAPPING_HAS_INLINES, 1);
    }
    put(p, PROFILE_MAPPING);
}

static bool is_program(const struct pprof *p, uint32_t module) {
    const char *path = p->profile->modules[module].path;
    return path != NULL && strcmp(path, p->profile->program) == 0;
}

static void put_locations(struct pprof *p) {
    const uint32_t *module =
        report__modules_of(p->e->pool, p->e->profile, p->e->names,
                           report__all_functions(p->e->names));
    bool *mapped = report__alloc(p->pool, p->profile->module_count, 1);

    for (uint32_t i = 0; i < p->locations.count; i++) {
        uint32_t line = p->locations.list[i].a;
        uint32_t function = p->functions.list[p->lines.list[line].a].a;
        if (!p->is_used[i])
            continue;
        if (module[function] != MPROF_NONE)
            mapped[module[function]] = true;
        put_lines(p, i);
        put_number(&p->one, LOCATION_ID, FIRST + i);
        put_number(&p->one, LOCATION_MAPPING, module[function] + 1);
        put(p, PROFILE_LOCATION);
    }
    /* Readers take the first one for the program. */
    for (int others = 0; others < 2; others++)
        for (uint32_t i = 0; i < p->profile->module_count; i++)
            if (mapped[i] && is_program(p, i) != others)
                put_mapping(p, i);
}

/* Where the line of a call is not known, the file may be. */
static void put_functions(struct pprof *p) {
    uint32_t files = report__file_count(p->e);
    const char **names = report__file_names(p->e);
    uint32_t *number = report__alloc(p->pool, files + 1, sizeof *number);
    const uint32_t *known = report__files_of(p->e);

    for (uint32_t i = 0; i < p->functions.count; i++) {
        uint32_t function = p->functions.list[i].a;
        uint32_t file = p->functions.list[i].b;
        if (file == 0)
            file = known[function];
        if (file > 0 && number[file] == 0)
            number[file] = string(p, names[file]);
        put_function(p, FIRST + i, p->clean[function], number[file]);
    }
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
    p->key_type = string(p, "type");
    p->types = report__lisp_types(p->pool, p->profile);
    p->type_string =
        report__alloc(p->pool, p->types.count, sizeof *p->type_string);
    for (int i = 0; i < MPROF_CLASSES; i++)
        p->class_string[i] = string(p, report__class_names[p->heap][i]);
    p->clean = report__clean_names(p->pool, p->names, true);
    p->thread_string = report__alloc(p->pool, p->profile->thread_count,
                                     sizeof *p->thread_string);
}

static void finish(struct pprof *p) {
    const struct report__profile *profile = p->profile;
    uint32_t comment =
        string(p, report__format(p->pool, "mprof %s: %s", MPROF_PACKAGE_VERSION,
                                 report__what_ran(p->pool, profile)));
    uint32_t usual = string(p, "alloc_space");

    put_type(p, PROFILE_PERIOD_TYPE, "space", "bytes");
    put_number(&p->all, PROFILE_PERIOD, 1);
    put_number(&p->all, PROFILE_TIME, profile->start_time);
    put_number(&p->all, PROFILE_DURATION, profile->duration);
    put_number(&p->all, PROFILE_COMMENT, comment);
    put_number(&p->all, PROFILE_DEFAULT_TYPE, usual);
    for (size_t i = 0; i < p->string_count; i++) {
        put_bytes(&p->all, PROFILE_STRING, p->strings[i],
                  strlen(p->strings[i]));
        if (p->all.count >= STREAM_BYTES)
            zip(p, Z_NO_FLUSH);
    }
    zip(p, Z_FINISH);
    deflateEnd(&p->zip);
}

void report__export_pprof(const struct report__export *e) {
    struct pprof *p = report__alloc(e->pool, 1, sizeof *p);

    p->e = e;
    p->profile = e->profile;
    p->names = e->names;
    p->heap = e->options->sampling.heap;
    p->pool = e->pool;
    p->out = e->out;
    begin(p);
    for (int i = 0; i < report__numbers_of(p->heap); i++)
        put_type(p, PROFILE_SAMPLE_TYPE, types[i].type, types[i].unit);
    if (e->difference)
        report__each_difference(e, put_sample, p);
    else
        report__each_sample(e->samples, put_sample, p);
    put_locations(p);
    put_functions(p);
    finish(p);
}
