/* reader.h - what the files share that read a data file. */
#ifndef REPORT_DATA_READER_H
#define REPORT_DATA_READER_H

#include <string.h>

#include "report/data/profile.h"

#define MPROF_TYPES (MPROF_EQUAL + 1)
/* In place of a type: blocks of which only the head is kept. */
#define MPROF_LEFT_OUT 0

struct report__trees;

struct report__block {
    uint32_t thread;
    uint32_t before; /* things in those before it */
    uint32_t units;  /* size of a thing, in 8 bytes, as a ref counts */
};

struct report__reader {
    struct report__pool *pool;
    const char *name;    /* the file's, for messages */
    const char *error;   /* NULL as long as all is well */
    uint64_t used, size; /* the bytes that were read; there may be more now */
    struct mprof_header header;
    /* The bytes of the file but what is in the blocks in refs[MPROF_LEFT_OUT]:
     * LEFT_OUT bytes in those before each.  What is at [run.from, run.to) of
     * the file is that much further in front. */
    unsigned char *kept;
    uint64_t kept_bytes, *left_out;
    struct {
        uint64_t from, to, left_out;
    } run;
    /* The profile's.  At first parent and function are refs, and in place of
     * the thread there is the counter. */
    struct report__node *nodes;
    uint32_t node_count;
    /* By type: its records, in the order of the file. */
    mprof_ref *refs[MPROF_TYPES];
    uint32_t count[MPROF_TYPES];
    /* Of blocks: by record, and one more; and the number of all things. */
    struct report__block *blocks[MPROF_TYPES];
    uint32_t things[MPROF_TYPES];
    uint32_t found; /* the thread of the thing that was followed to last */
    /* By type that there is, and by page of the file: records that begin before
     * it; behind the last one all. */
    uint32_t *paged[MPROF_TYPES], last_page;
    const char **texts; /* of strings, that were read; or NULL */
    struct report__trees *trees;
    uint64_t high; /* the highest of the threads, see format.h */
    struct report__profile *profile;
};

/* Always false, so that a check can return it; the first error counts. */
bool report__cannot_read(struct report__reader *reader, int error);
bool report__damaged(struct report__reader *reader, uint64_t offset,
                     const char *what);

/* Where BYTES bytes at byte AT of the file are; NULL: they were not kept. */
unsigned char *report__kept_at(struct report__reader *reader, uint64_t at,
                               size_t bytes);

/* Copy them to OUT; zeros where they were not kept. */
static inline void report__take(struct report__reader *reader, uint64_t at,
                                void *out, size_t bytes) {
    const unsigned char *from = report__kept_at(reader, at, bytes);
    if (from != NULL)
        memcpy(out, from, bytes);
    else
        memset(out, 0, bytes);
}

/* OPTIONAL: the ref may be 0.  LATER: it may lead forwards. */
enum report__ref_flags { MPROF_OPTIONAL = 1, MPROF_LATER = 2 };

/* Follow the REF in the field at byte FIELD of the record or thing at OWNER.
 * *INDEX becomes its index within TYPE, or MPROF_NONE.  False when the file is
 * damaged. */
bool report__follow(struct report__reader *reader, uint64_t owner,
                    unsigned field, mprof_ref ref, uint32_t type, int flags,
                    uint32_t *index);

/* The same for the things in blocks of TYPE, which may lie further on.  In an
 * open file one may be missing, whose number was copied before it was made.
 * reader->found is its thread. */
bool report__follow_thing(struct report__reader *reader, uint64_t owner,
                          unsigned field, mprof_ref ref, uint32_t type,
                          int flags, uint32_t *index);

/* Before any ref is followed: refs[] are known. */
void report__page_records(struct report__reader *reader);

/* Is there a record of TYPE at REF? */
bool report__is_record(struct report__reader *reader, uint32_t type,
                       mprof_ref ref);

/* Store the Lisp counter at byte AT, in a file of any version, in *COUNT. False
 * when the file is damaged. */
bool report__read_lisp_counter(struct report__reader *reader, uint64_t at,
                               struct mprof_count *count);

/* The contents of a counter that follows live objects.  In Lisp the first half
 * of the lifetime is the sum of the ages of live objects, and thread and site
 * are not used. */
struct report__lives {
    mprof_ref thread, site;
    struct mprof_c_numbers number;
};

/* Read the counter at byte AT, of a thread of HEAP, that follows live objects.
 */
bool report__read_lives(struct report__reader *reader, uint64_t at,
                        uint32_t heap, struct report__lives *lives);

/* Bytes of a thing in a block of TYPE, of a thread of which it is known what
 * LIVES or not. */
uint32_t report__thing_bytes(const struct report__reader *reader, uint32_t type,
                             bool lives);

/* Find the things in the blocks of TYPE; the threads are read. */
bool report__count_things(struct report__reader *reader, uint32_t type);

/* Call READ for all of them, in the order of the file: for number INDEX, which
 * is at byte AT and of THREAD, until it returns false. */
bool report__each_thing(struct report__reader *reader, uint32_t type,
                        bool (*read)(struct report__reader *reader, uint64_t at,
                                     uint32_t index, uint32_t thread));

/* The text that the REF in the field at byte FIELD of the record at OWNER
 * leads to; *TEXT is NULL for no text.  False when the file is damaged. */
bool report__read_string(struct report__reader *reader, uint64_t owner,
                         unsigned field, mprof_ref ref, int flags,
                         const char **text);

/* Read all records but blocks, then what is in these.  False when the file is
 * damaged. */
bool report__read_records(struct report__reader *reader);
bool report__read_trees(struct report__reader *reader);

/* Which modules of PROFILE are one file. */
void report__identify_files(struct report__pool *pool,
                            struct report__profile *profile);

/* lives.c: compute the live objects at the peak, and lifetimes, at last. */
void report__settle_lives(struct report__profile *profile);

/* curve.c: read the CURVE at byte AT; and complete it, when the rest of the
 * file is read. */
bool report__read_curve(struct report__reader *reader, uint64_t at);
bool report__read_mark(struct report__reader *reader, uint64_t at);
void report__settle_curve(struct report__reader *reader);

/* collections.c: the COLLECTIONS at byte AT. */
bool report__read_collections(struct report__reader *reader, uint64_t at);

#define MPROF_FIELD(type, field) offsetof(struct mprof_##type, field)

/* In a function that reads the record `in` at byte `at`: the place of its
 * FIELD, for report__follow() and its relatives. */
#define AT(field) (at + offsetof(typeof(in), field))
#define REF(field) at, offsetof(typeof(in), field), in.field

#endif
