/* report.h - the reducer as a library: it returns the output of the command
 * `mprof` as a string.  Any thread may call these functions; they never exit
 * and never print. */
#ifndef REPORT_COMMAND_REPORT_H
#define REPORT_COMMAND_REPORT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Run the command with ARGUMENTS, which are separated by newlines, such as
 * "--terse\n--table=bins\nmprof.data".  Returns a string that begins with '0',
 * followed by what the command prints, or with '1', followed by one line that
 * says what went wrong, without a newline.  Give it to mprof_report_free().
 * NULL when memory is short.  ARGUMENTS may be NULL, as if empty. */
__attribute__((visibility("default"))) char *
mprof_report_string(const char *arguments);

/* NULL is allowed. */
__attribute__((visibility("default"))) void mprof_report_free(char *string);

#ifdef __cplusplus
}
#endif
#endif
