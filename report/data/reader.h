/* reader.h - what read.c and records.c share. */
#ifndef REPORT_DATA_READER_H
#define REPORT_DATA_READER_H

#include "report/data/profile.h"

#define MPROF_TYPES (MPROF_SIZE + 1)

struct report__reader {
    struct report__pool *pool;
    const char *name;  /* of the file, for messages */
    const char *error; /* NULL as long as all is well */
    const unsigned char *data;
    uint64_t used;
    struct mprof_header header;
    /* By ref: 1 + the index of the record within its type, or 0. */
    uint32_t *index;
    uint32_t count[MPROF_TYPES];
    struct report__profile *profile;
};

/* Always false, so that a check can return it; the first error counts. */
bool report__damaged(struct report__reader *reader, uint64_t offset,
                     const char *what);

/* OPTIONAL: the ref may be 0.  LATER: it may lead forwards. */
enum report__ref_flags { MPROF_OPTIONAL = 1, MPROF_LATER = 2 };

/* The text that the REF in the field at byte FIELD of the record at OWNER
 * leads to; *TEXT is NULL for no text.  False when the file is damaged. */
bool report__read_string(struct report__reader *reader, uint64_t owner,
                         unsigned field, mprof_ref ref, int flags,
                         const char **text);

/* Read all records, whose offsets are in the index.  False when the file is
 * damaged. */
bool report__read_records(struct report__reader *reader);

#define MPROF_FIELD(type, field) offsetof(struct mprof_##type, field)

#endif
