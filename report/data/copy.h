/* copy.h - the first pass of the reader. */
#ifndef REPORT_DATA_COPY_H
#define REPORT_DATA_COPY_H

#include <sys/types.h>

#include "report/data/reader.h"

/* Where a data file comes from. */
struct report__source {
    int fd;           /* a regular file; or -1: */
    const void *data; /* it is in memory */
    uint64_t size;    /* bytes */
};

/* Up to BYTES of SOURCE, at byte AT; less only at its end.  -1 with errno. */
ssize_t report__read_source(const struct report__source *source, uint64_t at,
                            void *buffer, size_t bytes);

/* Copy what is needed of SOURCE, of which the header is READER's already and
 * was checked; used and size are right.  Sizes, types and the check sum are
 * checked, and refs[] become known.  False when the file is damaged. */
bool report__copy_file(struct report__reader *reader,
                       const struct report__source *source);

#endif
