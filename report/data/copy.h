/* copy.h - the first pass of the reader. */
#ifndef REPORT_DATA_COPY_H
#define REPORT_DATA_COPY_H

#include <sys/types.h>

#include "report/data/reader.h"

/* Up to BYTES of file FD, at byte AT; less only at its end.  -1 with errno. */
ssize_t report__read_at(int fd, uint64_t at, void *buffer, size_t bytes);

/* Copy what is needed of the file FD, of which the header is READER's already
 * and was checked; used and size are right.  Sizes, types and the check sum are
 * checked, and refs[] become known.  False when the file is damaged. */
bool report__copy_file(struct report__reader *reader, int fd);

#endif
