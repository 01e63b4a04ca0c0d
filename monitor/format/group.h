/* group.h - the file by which the processes of one run add up what lives. */
#ifndef MONITOR_FORMAT_GROUP_H
#define MONITOR_FORMAT_GROUP_H

#include <stdint.h>

#define MPROF_GROUP_MAGIC "MPROFGRP" /* 8 bytes, no NUL */

/* All of the file.  The processes have it mapped, and change it by atomic
 * operations. */
struct mprof_group {
    char magic[8];
    uint64_t live; /*  8: bytes, in all processes that have not ended */
    uint64_t peak; /* 16: the most that these were */
    uint64_t joined, ended; /* 24, 32: processes */
};

#endif
