/* debug_file.h - the DWARF of an ELF file.
 *
 * The debug information stands in the file itself, or in a separate file on
 * this machine: one found by build id below /usr/lib/debug, or one that
 * .gnu_debuglink names.  Nothing is ever downloaded.
 */
#ifndef MPROF_DEBUG_FILE_H
#define MPROF_DEBUG_FILE_H

#include <elfutils/libdw.h>

#include "report/data/profile.h"

enum mprof__debug_state {
    MPROF__DEBUG_FOUND,
    MPROF__DEBUG_NONE,       /* the file is there, and has none */
    MPROF__DEBUG_CHANGED,    /* the file is not the one that was profiled */
    MPROF__DEBUG_UNREADABLE, /* not for this user */
    MPROF__DEBUG_GONE        /* no such file */
};

/* An open file; [1] is the separate debug file.  dwarf is NULL when there is
 * no debug information. */
struct mprof__debug_file {
    int fd[2];
    Elf *elf[2];
    Dwarf *dwarf;
};

/* Open PATH, which must be the file of MODULE; MODULE may be NULL: then any
 * file will do.  FILE is valid in each case; end with mprof__debug_close(). */
enum mprof__debug_state mprof__debug_open(struct mprof__debug_file *file,
                                          const char *path,
                                          const struct mprof__module *module);

/* May be called twice. */
void mprof__debug_close(struct mprof__debug_file *file);

#endif
