/* elf_file.h - an ELF file and its DWARF: the one place where either is opened.
 *
 * The debug information is in the file itself, or in a separate file on
 * this machine: one found by build id below /usr/lib/debug, or one that
 * .gnu_debuglink names.  Nothing is ever downloaded.
 */
#ifndef REPORT_ELF_ELF_FILE_H
#define REPORT_ELF_ELF_FILE_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>

#include "report/data/profile.h"

enum report__elf_state {
    MPROF__ELF_OPEN,
    MPROF__ELF_OTHER,      /* the file is there, and no ELF file */
    MPROF__ELF_CHANGED,    /* it is not the one that was profiled */
    MPROF__ELF_UNREADABLE, /* not for this user */
    MPROF__ELF_GONE        /* no such file */
};

/* All zeros is one that is not open. */
struct report__elf_file {
    Dwfl *dwfl;
    Dwfl_Module *module;
    const char *path; /* as it was given; not owned */
    int separate_fd;  /* a debug file's that libdwfl did not look for, + 1 */
    Elf *separate;
    Dwarf *separate_dwarf;
    bool looked; /* for its debug information: in `dwarf`, or there is none */
    Dwarf *dwarf;
    GElf_Addr dwarf_bias;
};

/* Does the file PATH begin as an ELF file? */
bool report__is_elf(const char *path);

/* Open PATH, which must be the file of MODULE; MODULE may be NULL: then any
 * will do.  FILE is valid in each case, and open in the first one only; end
 * with report__elf_close(). */
enum report__elf_state report__elf_open(struct report__elf_file *file,
                                        const char *path,
                                        const struct report__module *module);

/* Its symbols and code; *BIAS is what their addresses are ahead of the file's.
 * NULL: they cannot be read. */
Elf *report__elf_image(const struct report__elf_file *file, GElf_Addr *bias);

/* Its debug information, which is looked for once; *BIAS as above.  NULL: there
 * is none. */
Dwarf *report__elf_dwarf(struct report__elf_file *file, GElf_Addr *bias);

/* Does it have debug information that is compressed in a way (zstd) which this
 * version of elfutils cannot undo? */
bool report__elf_compressed(const struct report__elf_file *file);

/* May be called twice. */
void report__elf_close(struct report__elf_file *file);

/* The units of its debug information, and the files that hold the rest of them
 * (split DWARF). */
struct report__unit {
    Dwarf_CU *cu; /* NULL: before the first one */
    uint8_t type; /* DW_UT_compile, ... */
    Dwarf_Die die;
    Dwarf_Die split; /* a skeleton's unit in another file; or zeros */
};

/* Go on to the next UNIT of DWARF, which is FILE's or of a file that FILE
 * names; false: there is none.  libdw opens the file that a skeleton names, and
 * would wait for ever for a FIFO: so it gets only regular files. */
bool report__next_unit(const struct report__elf_file *file, Dwarf *dwarf,
                       struct report__unit *unit);

#endif
