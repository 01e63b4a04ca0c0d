/* variables.h - the variables of the program and its libraries, by address. */
#ifndef MONITOR_SCAN_VARIABLES_H
#define MONITOR_SCAN_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/base/elf_image.h"
#include "monitor/scan/roots.h"

/* Memory with a name: as in the symbol table, of C++ mangled. */
struct mprof__variable {
    uintptr_t start, end;
    const char *name;
    bool is_local; /* to a thread */
    bool is_file;  /* the data of the file `name`, in which variables are */
};

/* A file that has symbols; the addresses in it are ELF addresses. */
struct mprof__variable_file {
    struct mprof__symbols symbols;
    uintptr_t bias;
    size_t tls; /* number of its block in each thread; 0: none */
};

struct mprof__variables {
    struct mprof__variable *list; /* once sorted, by address */
    size_t count, room;
    struct mprof__variable_file *files;
    size_t file_count, file_room;
};

/* Read the names of variables in the files that are loaded; LOCAL are the
 * thread pointers of COUNT threads.  Without memory for all, some names are
 * missing.  Zeroed memory is filled, and stays valid until
 * mprof__variables_end().  No lock is taken. */
void mprof__variables_begin(struct mprof__variables *variables,
                            const struct mprof__mappings *mappings,
                            const uintptr_t *local, size_t count);
void mprof__variables_end(struct mprof__variables *variables);

/* Return the variable that has ADDRESS, else the file; NULL: neither.  *UNTIL
 * is lowered to the end of that, or to where the next one begins. */
const struct mprof__variable *
mprof__variable_at(const struct mprof__variables *variables, uintptr_t address,
                   uintptr_t *until);

#endif
