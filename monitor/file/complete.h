/* complete.h - data files that an earlier program in this process has left
 * behind open, as it was replaced by this one. */
#ifndef MONITOR_FILE_COMPLETE_H
#define MONITOR_FILE_COMPLETE_H

#include <stdint.h>

/* Complete the file PATH, if it is one of these and has all that its header
 * announces.  Return the bytes that were live in it and are still in the sum of
 * a group. */
uint64_t mprof__complete_earlier(const char *path);

#endif
