/* debug_file.h - the DWARF of an ELF file.
 *
 * The debug information stands in the file itself, or in a separate file on
 * this machine: one found by build id below /usr/lib/debug, or one that
 * .gnu_debuglink names.  Nothing is ever downloaded.
 */
#ifndef REPORT_ELF_DEBUG_FILE_H
#define REPORT_ELF_DEBUG_FILE_H

#include <elfutils/libdw.h>

#include "report/data/profile.h"

enum report__debug_state {
    MPROF__DEBUG_FOUND,
    MPROF__DEBUG_NONE,       /* the file is there, and has none */
    MPROF__DEBUG_CHANGED,    /* the file is not the one that was profiled */
    MPROF__DEBUG_UNREADABLE, /* not for this user */
    MPROF__DEBUG_GONE        /* no such file */
};

/* An open file; [1] is the separate debug file.  dwarf is NULL when there is
 * no debug information. */
struct report__debug_file {
    int fd[2];
    Elf *elf[2];
    Dwarf *dwarf;
};

/* Open PATH, which must be the file of MODULE; MODULE may be NULL: then any
 * file will do.  FILE is valid in each case; end with report__debug_close(). */
enum report__debug_state
report__debug_open(struct report__debug_file *file, const char *path,
                   const struct report__module *module);

/* May be called twice. */
void report__debug_close(struct report__debug_file *file);

#endif
