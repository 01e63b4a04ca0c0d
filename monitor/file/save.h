/* save.h - copy the data file while the recording runs. */
#ifndef MONITOR_FILE_SAVE_H
#define MONITOR_FILE_SAVE_H

#include "monitor/file/arena.h"

/* Write a complete copy of the data to PATH, by way of a temporary file.  EDIT,
 * if it is not NULL, is called with it and DATA before.  Takes the arena's
 * lock. */
int mprof__arena_save(struct mprof__arena *arena, const char *path,
                      void (*edit)(struct mprof_header *copy, const void *data),
                      const void *data);

#endif
