/* log_file.h - the file of a log; see log.h. */
#ifndef MONITOR_LOG_LOG_FILE_H
#define MONITOR_LOG_LOG_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The log's file: lines are copied to a window of it, so that what was written
 * stays when the process is killed. */
struct mprof__log_file {
    char path[PATH_MAX]; /* "": none */
    dev_t device;
    ino_t inode;
    char *window;  /* WINDOW bytes of addresses, of which */
    size_t mapped; /* so many are the file's, from `offset` on, */
    size_t used;   /* and so many are lines */
    uint64_t offset;
    size_t step; /* bytes that it grows by next */
    bool cut;    /* another process has cut it; atomic */
    int refused; /* 0, or why nothing more is written: an errno */
};

bool mprof__log_file_create(struct mprof__log_file *file, const char *path);
/* Room for BYTES, at most MPROF__LOG_LINE; NULL: there is none any more. */
enum { MPROF__LOG_LINE = 256 };
char *mprof__log_file_room(struct mprof__log_file *file);
void mprof__log_file_settle(struct mprof__log_file *file);
void mprof__log_file_close(struct mprof__log_file *file);

#endif
