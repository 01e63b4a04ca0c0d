/* elf_file.c - see elf_file.h. */
#include "report/elf/elf_file.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/format/crc.h"
#include "report/base/budget.h"

/* Only a regular file: opening another might block.  -1: errno says why. */
static int open_regular(const char *path) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        report__budget_add(fd);
        return fd;
    }
    close(fd);
    errno = EINVAL;
    return -1;
}

/* libdwfl takes archives and compressed files, too, of any size. */
static bool has_magic(int fd) {
    char magic[SELFMAG];
    return pread(fd, magic, SELFMAG, 0) == SELFMAG &&
           memcmp(magic, ELFMAG, SELFMAG) == 0;
}

bool report__is_elf(const char *path) {
    int fd = open_regular(path);
    bool elf = fd >= 0 && has_magic(fd);
    if (fd >= 0)
        close(fd);
    return elf;
}

/* Whether CRC is the check sum of the file open as FD, whose position stays. */
static bool has_crc(int fd, uint32_t crc) {
    unsigned char buffer[65536];
    uint32_t sum = 0;
    ssize_t n;
    off_t at = 0;

    while ((n = pread(fd, buffer, sizeof buffer, at)) > 0) {
        sum = mprof__crc32(sum, buffer, (size_t)n);
        at += n;
    }
    return n == 0 && sum == crc;
}

/* The file NAME, from .gnu_debuglink of FILE, with the check sum CRC; where
 * debuggers look for it: beside FILE, in .debug there, and in the same folder
 * below /usr/lib/debug.  -1: there is none. */
static int find_link(const char *file, const char *name, uint32_t crc) {
    static const char *const patterns[] = {"%.*s%s", "%.*s.debug/%s",
                                           "/usr/lib/debug%.*s%s"};
    char path[2 * PATH_MAX];
    char *real = realpath(file, NULL);
    int fd = -1;

    for (int i = 0; real && name && !strchr(name, '/') && i < 3 && fd < 0;
         i++) {
        int n = snprintf(path, sizeof path, patterns[i],
                         (int)(strrchr(real, '/') + 1 - real), real, name);
        if (n >= (int)sizeof path || strcmp(path, real) == 0)
            continue;
        fd = open_regular(path);
        if (fd >= 0 && !has_crc(fd, crc)) {
            close(fd);
            fd = -1;
        }
    }
    free(real);
    return fd;
}

/* Debug files by build id, or else by name and check sum.  libdwfl's standard
 * search does the same, but may go on to ask servers. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name,
                          Dwarf_Addr base, const char *file, const char *link,
                          GElf_Word crc, char **found) {
    int fd = dwfl_build_id_find_debuginfo(module, data, name, base, file, link,
                                          crc, found);

    if (fd >= 0)
        report__budget_add(fd);
    if (fd >= 0 || *found || !file)
        return fd;
    return find_link(file, link, crc);
}

static char *debug_path;
static const Dwfl_Callbacks callbacks = {
    .find_debuginfo = find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_path,
};

/* A file that was replaced since has other addresses. */
static bool same_build(const struct report__module *module,
                       Dwfl_Module *found) {
    const unsigned char *bits;
    GElf_Addr address;
    int size = dwfl_module_build_id(found, &bits, &address);

    if (size <= 0)
        return module->build_id_bytes == 0;
    return (uint32_t)size == module->build_id_bytes &&
           memcmp(bits, module->build_id, (size_t)size) == 0;
}

/* FD is libdwfl's from here on, if that takes it. */
static enum report__elf_state take_file(struct report__elf_file *file,
                                        const char *path, int fd,
                                        const struct report__module *module) {
    file->dwfl = dwfl_begin(&callbacks);
    if (file->dwfl)
        file->module = dwfl_report_offline(file->dwfl, "", path, fd);
    if (!file->module) {
        close(fd);
        return MPROF__ELF_OTHER;
    }
    dwfl_report_end(file->dwfl, NULL, NULL);
    if (module && !same_build(module, file->module))
        return MPROF__ELF_CHANGED;
    return MPROF__ELF_OPEN;
}

enum report__elf_state report__elf_open(struct report__elf_file *file,
                                        const char *path,
                                        const struct report__module *module) {
    enum report__elf_state state = MPROF__ELF_OTHER;
    int fd = open_regular(path);

    *file = (struct report__elf_file){.path = path};
    if (fd < 0)
        return errno == EACCES   ? MPROF__ELF_UNREADABLE
               : errno == EINVAL ? MPROF__ELF_OTHER
                                 : MPROF__ELF_GONE;
    if (has_magic(fd))
        state = take_file(file, path, fd, module);
    else
        close(fd);
    if (state != MPROF__ELF_OPEN)
        report__elf_close(file);
    return state;
}

Elf *report__elf_image(const struct report__elf_file *file, GElf_Addr *bias) {
    return dwfl_module_getelf(file->module, bias);
}

/* A program may contain only DWARF of other kinds, such as .debug_frame; it is
 * not searched for more by libdwfl then. */
static bool has_units(Dwarf *dwarf) {
    return dwarf && dwarf_get_units(dwarf, NULL, &(Dwarf_CU *){NULL}, NULL,
                                    NULL, NULL, NULL) == 0;
}

static Dwarf *open_separate(struct report__elf_file *file, Elf *image) {
    char *found = NULL;
    const char *path;
    GElf_Word crc = 0;
    const char *link = dwelf_elf_gnu_debuglink(image, &crc);
    void **data;

    dwfl_module_info(file->module, &data, NULL, NULL, NULL, NULL, &path, NULL);
    file->separate_fd =
        1 + find_debuginfo(file->module, data, "", 0, path, link, crc, &found);
    free(found);
    if (file->separate_fd == 0)
        return NULL;
    file->separate = elf_begin(file->separate_fd - 1, ELF_C_READ_MMAP, NULL);
    file->separate_dwarf = dwarf_begin_elf(file->separate, DWARF_C_READ, NULL);
    return has_units(file->separate_dwarf) ? file->separate_dwarf : NULL;
}

static Dwarf *find_dwarf(struct report__elf_file *file, GElf_Addr *bias) {
    Dwarf *dwarf = dwfl_module_getdwarf(file->module, bias);
    if (has_units(dwarf))
        return dwarf;
    Elf *image = dwfl_module_getelf(file->module, bias);
    return image ? open_separate(file, image) : NULL;
}

Dwarf *report__elf_dwarf(struct report__elf_file *file, GElf_Addr *bias) {
    if (!file->looked)
        file->dwarf = find_dwarf(file, &file->dwarf_bias);
    file->looked = true;
    *bias = file->dwarf_bias;
    return file->dwarf;
}

bool report__elf_compressed(const struct report__elf_file *file) {
    GElf_Addr bias;
    GElf_Shdr section;
    GElf_Chdr compressed;
    Elf *images[] = {report__elf_image(file, &bias), file->separate};

    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        Elf_Scn *s = NULL;
        while (images[i] != NULL && (s = elf_nextscn(images[i], s)))
            if (gelf_getshdr(s, &section) && gelf_getchdr(s, &compressed) &&
                section.sh_flags & SHF_COMPRESSED &&
                compressed.ch_type != ELFCOMPRESS_ZLIB)
                return true;
    }
    return false;
}

void report__elf_close(struct report__elf_file *file) {
    if (file->separate_dwarf)
        dwarf_end(file->separate_dwarf);
    if (file->separate)
        elf_end(file->separate);
    if (file->separate_fd > 0)
        close(file->separate_fd - 1);
    if (file->dwfl)
        dwfl_end(file->dwfl);
    *file = (struct report__elf_file){.dwfl = NULL};
}

/* Units */

static const char *text_of(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

/* Return true if PATH is a regular file: others must not be opened. */
static bool is_harmless(const char *path) {
    struct stat status;
    return stat(path, &status) != 0 ? errno != EACCES : S_ISREG(status.st_mode);
}

/* Into PATH what libdw makes of FOLDER, DIRECTORY and NAME. */
static bool join(char *path, const char *folder, const char *directory,
                 const char *name) {
    bool absolute = *name == '/';
    if (absolute)
        folder = directory = "";
    else if (*directory == '/')
        folder = "";
    int n = snprintf(path, PATH_MAX, "%s%s%s%s", folder, directory,
                     absolute || !*directory ? "" : "/", name);
    return n > 0 && n < PATH_MAX;
}

/* May the file that the skeleton DIE names be opened, wherever it is sought? */
static bool may_be_opened(const struct report__elf_file *file, Dwarf_Die *die) {
    /* The file's, or of one with its debug information. */
    static const char *const below[] = {"/", "/.debug/"};
    char whole[PATH_MAX] = "", folder[PATH_MAX], path[PATH_MAX];
    const char *name = text_of(die, DW_AT_dwo_name);
    const char *directory = text_of(die, DW_AT_comp_dir);

    if (!name)
        name = text_of(die, DW_AT_GNU_dwo_name);
    if (!name)
        return true;
    if (!file->path || !realpath(file->path, whole))
        return false;
    for (int i = 0; i < 2; i++) {
        int length = (int)(strrchr(whole, '/') - whole);
        int n =
            snprintf(folder, sizeof folder, "%.*s%s", length, whole, below[i]);
        if (n >= (int)sizeof folder || !join(path, folder, "", name) ||
            !is_harmless(path) ||
            !join(path, folder, directory ? directory : "", name) ||
            !is_harmless(path))
            return false;
    }
    return true;
}

bool report__next_unit(const struct report__elf_file *file, Dwarf *dwarf,
                       struct report__unit *unit) {
    memset(&unit->split, 0, sizeof unit->split);
    if (dwarf_get_units(dwarf, unit->cu, &unit->cu, NULL, &unit->type,
                        &unit->die, NULL) != 0)
        return false;
    if (unit->type == DW_UT_skeleton && may_be_opened(file, &unit->die) &&
        dwarf_cu_info(unit->cu, NULL, NULL, NULL, &unit->split, NULL, NULL,
                      NULL) != 0)
        memset(&unit->split, 0, sizeof unit->split);
    return true;
}
