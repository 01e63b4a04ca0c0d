/* budget.h - memory in proportion to the files that are read.
 *
 * What a small damaged file may ask for is without bounds: a name that doubles
 * whenever it is written, a table of tables.  The command may not take more
 * than so many bytes for each byte of the files that it reads; then it is out
 * of memory.  For a process of its own only: the limit is the process's.
 */
#ifndef REPORT_BASE_BUDGET_H
#define REPORT_BASE_BUDGET_H

/* From here on there is a limit. */
void report__budget_begin(void);

/* The file FD is read, too; each file counts once.  Does nothing without a
 * limit. */
void report__budget_add(int fd);

#endif
