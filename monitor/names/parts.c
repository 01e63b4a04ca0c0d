/* parts.c - see parts.h.
 *
 * "f.part.0.cold" is a part of f, or else of f.part.0, or else by itself; of
 * several f, which are static, the nearest (report/graph/functions.c says the
 * same).  So each part asks for a few names, and one pass over the symbols
 * answers all.
 */
#include "monitor/names/parts.h"

#include <errno.h>
#include <string.h>

#include "monitor/base/elf_image.h"
#include "monitor/base/self.h"
#include "monitor/format/naming.h"
#include "monitor/format/plumbing.h"
#include "monitor/names/names.h"

enum { HIDDEN = 1, FRAGMENT = 2, ADDRESS_SHIFT = 2, MOST_BASE = 1024 };

/* A part, and what is its whole as far as it is known. */
struct part {
    const char *name;
    uint64_t address, whole;
    uint32_t length; /* of the name that found it; 0: no name has */
    bool plain; /* its code has a name without an ending, too: it is none */
};

/* A beginning of the name of a part. */
struct question {
    uint32_t part, length;
    uint32_t next; /* of the same hash, or 0; from 1 */
};

struct reading {
    struct mprof__names *names;
    mprof_ref module;
    const char *path;
    bool plumbing; /* its plumbing is known by other means */
    struct part *parts;
    struct question *questions;
    uint32_t part_count, question_count; /* so far */
    uint32_t part_room, question_room;   /* all that there are */
    struct mprof__table by_hash;         /* -> the first question */
    struct mprof__table by_address;      /* -> the part */
    char base[MOST_BASE];
};

static uint64_t key_of(mprof_ref module, uint64_t address) {
    return ((uint64_t)module << 36) ^ (address << 1) ^ 2;
}

static void record_part(struct reading *r, uint64_t address, uint64_t whole,
                        unsigned flags) {
    struct mprof__table *known = &r->names->parts;
    if (mprof__table_find(known, key_of(r->module, address)) == NULL)
        mprof__table_add(known, key_of(r->module, address),
                         whole << ADDRESS_SHIFT | flags);
}

static bool is_hidden(struct reading *r, const char *name, size_t base) {
    if (r->plumbing || base >= sizeof r->base)
        return false;
    memcpy(r->base, name, base);
    r->base[base] = '\0';
    return mprof__is_plumbing(NULL, r->base, r->path);
}

/* Return the length of NAME's next beginning that ends before an ending, after
 * the one of LENGTH. */
static size_t next_length(const char *name, size_t length) {
    length++;
    return length + strcspn(name + length, ".");
}

/* First pass: how many there are. */
static int count_part(const char *name, uint64_t address, void *reading) {
    struct reading *r = reading;
    size_t length = mprof__base_length(name);
    if (name[length] == '\0') {
        if (is_hidden(r, name, length))
            record_part(r, address, address, HIDDEN);
        return 0;
    }
    r->part_room++;
    for (; name[length] != '\0'; length = next_length(name, length))
        r->question_room++;
    return 0;
}

static void ask(struct reading *r, uint32_t part, size_t length) {
    if (r->question_count == r->question_room)
        return;
    struct question *q = &r->questions[r->question_count++];
    *q = (struct question){.part = part, .length = (uint32_t)length};
    uint64_t hash = mprof__hash_text(r->parts[part].name, length);
    struct mprof__slot *slot = mprof__table_find(&r->by_hash, hash);
    if (slot == NULL) {
        mprof__table_add(&r->by_hash, hash, r->question_count);
    } else {
        q->next = (uint32_t)slot->value;
        slot->value = r->question_count;
    }
}

/* Code may begin at odd addresses. */
static uint64_t address_key(uint64_t address) {
    return address << 2 | 2;
}

/* The first part whose code is at ADDRESS, or NULL. */
static struct part *part_of(const struct reading *r, uint64_t address) {
    const struct mprof__slot *slot =
        mprof__table_find(&r->by_address, address_key(address));
    return slot == NULL ? NULL : &r->parts[slot->value];
}

/* Second pass: add a part and its questions. */
static int add_part(const char *name, uint64_t address, void *reading) {
    struct reading *r = reading;
    size_t length = mprof__base_length(name);
    if (name[length] == '\0' || r->part_count == r->part_room)
        return 0;
    r->parts[r->part_count] =
        (struct part){.name = name, .address = address, .whole = address};
    for (; name[length] != '\0'; length = next_length(name, length))
        ask(r, r->part_count, length);
    if (part_of(r, address) == NULL)
        mprof__table_add(&r->by_address, address_key(address), r->part_count);
    r->part_count++;
    return 0;
}

static uint64_t distance(uint64_t a, uint64_t b) {
    return a < b ? b - a : a - b;
}

/* Third pass: the answers. */
static int answer(const char *name, uint64_t address, void *reading) {
    struct reading *r = reading;
    size_t length = strlen(name);
    const struct mprof__slot *slot =
        mprof__table_find(&r->by_hash, mprof__hash_text(name, length));
    uint32_t at = slot == NULL ? 0 : (uint32_t)slot->value;
    struct part *here = part_of(r, address);
    if (here != NULL && name[mprof__base_length(name)] == '\0')
        here->plain = true;
    for (; at != 0; at = r->questions[at - 1].next) {
        const struct question *q = &r->questions[at - 1];
        struct part *part = &r->parts[q->part];
        if (q->length != length || memcmp(part->name, name, length) != 0 ||
            (part->length != 0 && part->length < length))
            continue;
        if (part->length == length && distance(part->whole, part->address) <=
                                          distance(address, part->address))
            continue;
        part->length = (uint32_t)length;
        part->whole = address;
    }
    return 0;
}

static void read_image(struct reading *r, const struct mprof__image *image) {
    uint64_t start = mprof__image_start(image);
    /* It has no name in a program that was stripped. */
    if (start != 0 && !r->plumbing)
        record_part(r, start, start, HIDDEN);
    mprof__image_symbols(image, count_part, r);
    size_t parts = r->part_room * sizeof *r->parts,
           questions = r->question_room * sizeof *r->questions;
    if (r->part_room == 0)
        return;
    r->parts = mprof__map(parts);
    r->questions = mprof__map(questions);
    if (r->parts != NULL && r->questions != NULL) {
        mprof__image_symbols(image, add_part, r);
        mprof__image_symbols(image, answer, r);
        for (uint32_t i = 0; i < r->part_count; i++) {
            const struct part *part = &r->parts[i];
            const struct part *first = part_of(r, part->address);
            if (first == NULL || first->plain)
                continue;
            bool hidden =
                is_hidden(r, part->name, mprof__base_length(part->name));
            record_part(r, part->address, part->whole,
                        FRAGMENT | (hidden ? HIDDEN : 0));
        }
    }
    mprof__table_free(&r->by_hash);
    mprof__table_free(&r->by_address);
    mprof__unmap(r->parts, parts);
    mprof__unmap(r->questions, questions);
}

static void read_module(struct mprof__names *names, mprof_ref module,
                        const char *path) {
    struct mprof__image image;
    struct reading *r = mprof__map(sizeof *r);
    int saved = errno;
    if (r == NULL)
        return;
    *r = (struct reading){.names = names,
                          .module = module,
                          .path = path,
                          .plumbing = mprof__has_plumbing(path)};
    const struct mprof_module *record = mprof__arena_at(names->arena, module);
    mprof__image_open_symbols(&image, path, record->build_id,
                              record->build_id_bytes);
    read_image(r, &image);
    mprof__image_close(&image);
    mprof__unmap(r, sizeof *r);
    errno = saved;
}

bool mprof__part_at(struct mprof__names *names, mprof_ref module,
                    const char *path, uint64_t address,
                    struct mprof__part *part) {
    uint64_t is_read = (uint64_t)module << 36 ^ 3;
    if (mprof__table_find(&names->parts, is_read) == NULL) {
        mprof__lock(&names->arena->lock);
        if (mprof__table_find(&names->parts, is_read) == NULL) {
            read_module(names, module, path);
            mprof__table_add(&names->parts, is_read, 0);
        }
        mprof__unlock(&names->arena->lock);
    }
    const struct mprof__slot *slot =
        mprof__table_find(&names->parts, key_of(module, address));
    if (slot == NULL)
        return false;
    *part = (struct mprof__part){.whole = slot->value >> ADDRESS_SHIFT,
                                 .fragment = (slot->value & FRAGMENT) != 0,
                                 .hidden = (slot->value & HIDDEN) != 0};
    return true;
}
