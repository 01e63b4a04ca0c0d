/* messages.h - lines on standard error, for the user who asked for a recording.
 */
#ifndef MONITOR_RECORD_MESSAGES_H
#define MONITOR_RECORD_MESSAGES_H

/* Write LINE, of LENGTH bytes, whatever becomes of it. */
void mprof__message_line(const char *line, int length);

/* Print what is missing in the data file of SESSION, which has ended, or in its
 * log. */
struct mprof__session;
void mprof__message_end(const struct mprof__session *session);

/* Print the numbers of the C heap, in the last line of the process; digits are
 * grouped by the user's locale. */
struct mprof__heap_now;
void mprof__message_summary(const struct mprof__heap_now *sums);

/* Print which of its files a log lacks, if any, and why. */
struct mprof__log_errors;
void mprof__message_log(const struct mprof__log_errors *errors);

#endif
