/* tell.h - lines on standard error, for whoever asked for a recording. */
#ifndef MONITOR_RECORD_TELL_H
#define MONITOR_RECORD_TELL_H

/* Write LINE, of LENGTH bytes, whatever becomes of it. */
void mprof__say(const char *line, int length);

/* What the data file of SESSION, which has ended, lacks, or its log. */
struct mprof__session;
void mprof__tell_end(const struct mprof__session *session);

/* What the C heap had, in the last line of the process; digits are grouped as
 * the user's locale does. */
struct mprof__heap_now;
void mprof__tell_summary(const struct mprof__heap_now *sums);

/* There is no log PATH, as ERROR, an errno, says why. */
void mprof__tell_no_log(const char *path, int error);

/* The sum of a group, in the file PATH, has nothing of this process. */
void mprof__tell_no_group(const char *path, int error);

#endif
