/* complete.h - data files that an earlier program in this process has left
 * behind open, as it was replaced by this one. */
#ifndef MONITOR_RECORD_COMPLETE_H
#define MONITOR_RECORD_COMPLETE_H

/* Complete the file PATH.  Does nothing unless it is one of these, and whole as
 * far as its header tells. */
void mprof__complete_earlier(const char *path);

#endif
