/* run.h - `mprof run`: run a program and record what it allocates. */
#ifndef REPORT_COMMAND_RUN_H
#define REPORT_COMMAND_RUN_H

/* ARGV[0] is "run".  Returns the program's status with --html; else only when
 * the program was not run: 2 for a wrong option or a file that cannot be
 * written, 126 when the program cannot be executed, 127 when there is none; one
 * line on standard error says why. */
int report__run_main(int argc, char **argv);

#endif
