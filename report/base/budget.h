/* budget.h - memory in proportion to the files that are read.
 *
 * A small damaged file may demand any amount of memory: by a name that doubles
 * whenever it is written, or a table of tables.  So the command may take only a
 * certain number of bytes for each byte of the files that it reads; then it is
 * out of memory.  Only for a process of its own: the limit is the process's.
 */
#ifndef REPORT_BASE_BUDGET_H
#define REPORT_BASE_BUDGET_H

/* From here on there is a limit. */
void report__budget_begin(void);

/* The file FD is read, too; each file counts once.  Does nothing without a
 * limit. */
void report__budget_add(int fd);

#endif
