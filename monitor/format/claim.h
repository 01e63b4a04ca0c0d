/* claim.h - the owner of the file that a recording would write to.
 *
 * A recording process holds a lock on its data file (of the open file
 * description, so it stays through forks, and ends with the last descriptor).
 * But a program may close descriptors that it did not open.  So the file also
 * names the process that writes it: the boot, the namespace of process numbers,
 * the number, and the time of its fork.  A file is replaced, moved or completed
 * only when all of that shows that its recording has ended, and it belongs to
 * this user.
 */
#ifndef MONITOR_FORMAT_CLAIM_H
#define MONITOR_FORMAT_CLAIM_H

#include <stdint.h>

#include "monitor/format/format.h"

enum mprof__claim {
    MPROF__FREE,    /* there is no such file, or an empty one of this user's */
    MPROF__ENDED,   /* a recording of this user's that has ended */
    MPROF__EARLIER, /* an earlier program's in this very process */
    MPROF__OURS,    /* this program's in this process */
    MPROF__OTHERS   /* anything else; errno says what */
};

/* Whose PATH is, for the program with the number IMAGE, or 0; unless it is free
 * or others', HEADER is what it begins with.  Opens it to read only, and
 * follows no link. */
enum mprof__claim mprof__claim(const char *path, uint64_t image,
                               struct mprof_header *header);
/* The same of the open file FD. */
enum mprof__claim mprof__claim_open(int fd, uint64_t image,
                                    struct mprof_header *header);

/* Lock the data file FD for as long as it is open or mapped, where files can be
 * locked. */
void mprof__claim_lock(int fd);

#endif
