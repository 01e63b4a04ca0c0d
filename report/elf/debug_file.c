/* debug_file.c - find and open the DWARF of an ELF file. */
#include "report/elf/debug_file.h"
#include "report/elf/debug_link.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"

/* Which separate file belongs to an ELF file. */
struct wanted {
    const uint8_t *build_id;
    ssize_t build_id_bytes; /* 0 or less: none */
    GElf_Word crc;
};

/* Only a regular file: opening another might block. */
static Elf *open_elf(const char *path, int *fd) {
    struct stat status;
    Elf *elf = NULL;

    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return NULL;
    if (fstat(*fd, &status) == 0 && S_ISREG(status.st_mode))
        elf = elf_begin(*fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF)
        return elf;
    elf_end(elf);
    close(*fd);
    *fd = -1;
    return NULL;
}

static bool has_build_id(Elf *elf, const uint8_t *wanted, ssize_t bytes) {
    const void *found;
    ssize_t size = dwelf_elf_gnu_build_id(elf, &found);

    if (size <= 0)
        return bytes <= 0;
    return size == bytes && memcmp(found, wanted, (size_t)size) == 0;
}

/* A program may contain only DWARF of other kinds, such as .debug_frame. */
static bool has_units(Dwarf *dwarf) {
    return dwarf_get_units(dwarf, NULL, &(Dwarf_CU *){NULL}, NULL, NULL, NULL,
                           NULL) == 0;
}

static bool open_dwarf(struct report__debug_file *file, Elf *elf) {
    file->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    if (file->dwarf && has_units(file->dwarf))
        return true;
    dwarf_end(file->dwarf);
    file->dwarf = NULL;
    return false;
}

static bool try_debug_file(struct report__debug_file *file, const char *path,
                           const struct wanted *wanted) {
    Elf *elf = open_elf(path, &file->fd[1]);
    if (!elf)
        return false;
    bool same =
        wanted->build_id_bytes > 0
            ? has_build_id(elf, wanted->build_id, wanted->build_id_bytes)
            : report__debug_crc(file->fd[1], wanted->crc);
    if (same && open_dwarf(file, elf)) {
        file->elf[1] = elf;
        return true;
    }
    elf_end(elf);
    close(file->fd[1]);
    file->fd[1] = -1;
    return false;
}

static bool find_by_build_id(struct report__debug_file *file,
                             const struct wanted *wanted) {
    char path[sizeof DEBUG_ROOT + 160];
    int at;

    if (wanted->build_id_bytes < 2 || wanted->build_id_bytes > 64)
        return false;
    at = snprintf(path, sizeof path, "%s/.build-id/%02x/", DEBUG_ROOT,
                  wanted->build_id[0]);
    for (ssize_t i = 1; i < wanted->build_id_bytes; i++)
        at += sprintf(path + at, "%02x", wanted->build_id[i]);
    strcpy(path + at, ".debug");
    return try_debug_file(file, path, wanted);
}

struct attempt {
    struct report__debug_file *file;
    const struct wanted *wanted;
};

static bool try_link(const char *path, void *data) {
    const struct attempt *attempt = data;
    return try_debug_file(attempt->file, path, attempt->wanted);
}

static bool find_by_link(struct report__debug_file *file, const char *elf_path,
                         struct wanted *wanted) {
    const char *name = dwelf_elf_gnu_debuglink(file->elf[0], &wanted->crc);
    struct attempt attempt = {file, wanted};

    return report__debug_link(elf_path, name, try_link, &attempt);
}

enum report__debug_state
report__debug_open(struct report__debug_file *file, const char *path,
                   const struct report__module *module) {
    struct wanted wanted = {.build_id = NULL};
    const void *bits = NULL;

    *file = (struct report__debug_file){.fd = {-1, -1}};
    elf_version(EV_CURRENT);
    file->elf[0] = open_elf(path, &file->fd[0]);
    if (!file->elf[0])
        return access(path, R_OK) == 0 ? MPROF__DEBUG_NONE
               : errno == EACCES       ? MPROF__DEBUG_UNREADABLE
                                       : MPROF__DEBUG_GONE;
    if (module &&
        !has_build_id(file->elf[0], module->build_id, module->build_id_bytes))
        return MPROF__DEBUG_CHANGED;
    if (open_dwarf(file, file->elf[0]))
        return MPROF__DEBUG_FOUND;
    wanted.build_id_bytes = dwelf_elf_gnu_build_id(file->elf[0], &bits);
    wanted.build_id = bits;
    if (find_by_build_id(file, &wanted) || find_by_link(file, path, &wanted))
        return MPROF__DEBUG_FOUND;
    return MPROF__DEBUG_NONE;
}

void report__debug_close(struct report__debug_file *file) {
    dwarf_end(file->dwarf);
    file->dwarf = NULL;
    for (int i = 0; i < 2; i++) {
        elf_end(file->elf[i]);
        file->elf[i] = NULL;
        if (file->fd[i] >= 0)
            close(file->fd[i]);
        file->fd[i] = -1;
    }
}
