/* complete.h - data files that an earlier program in this process has left
 * behind open, as it was replaced by this one. */
#ifndef MONITOR_FILE_COMPLETE_H
#define MONITOR_FILE_COMPLETE_H

#include <stdint.h>

/* Complete the file PATH.  Does nothing unless it is one of these, and whole as
 * far as its header tells.  Returns the bytes that lived in it and are still in
 * the sum of a group. */
uint64_t mprof__complete_earlier(const char *path);

#endif
