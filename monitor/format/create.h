/* create.h - every file that this project creates. */
#ifndef MONITOR_FORMAT_CREATE_H
#define MONITOR_FORMAT_CREATE_H

#include <stddef.h>
#include <sys/types.h>

/* For data files: they hold command lines, and names of files. */
#define MPROF__PRIVATE 0600

/* Create the file PATH, to read and to write, with MODE less the umask.
 * Existing files are not touched, and links not followed.  -1 and errno, which
 * is EEXIST when PATH is taken. */
int mprof__create(const char *path, mode_t mode);

/* Create a file in the folder of TARGET, by an unpredictable name, which is
 * written into NAME, of SIZE bytes. */
int mprof__create_beside(const char *target, char *name, size_t size,
                         mode_t mode);

#endif
