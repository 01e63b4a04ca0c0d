/* missed.h - the programs of which nothing was recorded, as they would not have
 * run: a line for each, in a file beside the first process's data file.
 *
 *     mprof.data -> .mprof.data.missed: "NAME (WHY)\n"...
 */
#ifndef MONITOR_FORMAT_MISSED_H
#define MONITOR_FORMAT_MISSED_H

#include <stdbool.h>
#include <stddef.h>

/* Write into NAME, of SIZE bytes, the name of the file for the data file DATA.
 * False: it is too long. */
bool mprof__missed_name(const char *data, char *name, size_t size);

/* Note the program in FILE, because of WHY.  In a child of vfork(), too. */
void mprof__missed_add(const char *data, const char *file, const char *why);

/* Into TEXT, of SIZE bytes, the first program of the data file DATA, and how
 * many there are more; "" when there is none. */
void mprof__missed_read(const char *data, char *text, size_t size);

#endif
