/* tell.h - lines on standard error, for whoever asked for a recording. */
#ifndef MONITOR_RECORD_TELL_H
#define MONITOR_RECORD_TELL_H

/* Write LINE, of LENGTH bytes, whatever becomes of it. */
void mprof__say(const char *line, int length);

/* The data file PATH lacks something, as ERROR, an errno, says why. */
void mprof__tell_shortage(const char *path, int error);

/* What the C heap had, in the last line of the process; digits are grouped as
 * the user's locale does. */
struct mprof__heap_now;
void mprof__tell_summary(const struct mprof__heap_now *sums);

/* The log PATH has nothing more, or there is none, as ERROR says why. */
void mprof__tell_log_end(const char *path, int error);
void mprof__tell_no_log(const char *path, int error);

/* The sum of a group, in the file PATH, has nothing of this process. */
void mprof__tell_no_group(const char *path, int error);

/* Somebody else has cut the data file PATH. */
void mprof__tell_loss(const char *path);

#endif
