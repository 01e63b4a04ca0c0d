/* run_html.h - `mprof run --html`: run a program, and make a page of it. */
#ifndef REPORT_COMMAND_RUN_HTML_H
#define REPORT_COMMAND_RUN_HTML_H

/* Fork.  In the child it returns -1: that becomes the program.  In this process
 * it goes on when the program has ended: it makes the page FILE of the data
 * file that MPROF_DATA names and of those beside it that the program's children
 * left, and returns the program's exit status, or ends by the signal that ended
 * it.  A line on standard error says why there is no page. */
int report__run_with_page(const char *file);

#endif
