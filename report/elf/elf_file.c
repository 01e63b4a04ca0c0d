/* elf_file.c - see elf_file.h. */
#include "report/elf/elf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/budget.h"
#include "report/elf/debug_link.h"

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

struct wanted {
    GElf_Word crc;
    int fd;
};

static bool try_link(const char *path, void *data) {
    struct wanted *wanted = data;
    wanted->fd = open_regular(path);
    if (wanted->fd >= 0 && report__debug_crc(wanted->fd, wanted->crc))
        return true;
    if (wanted->fd >= 0)
        close(wanted->fd);
    wanted->fd = -1;
    return false;
}

/* Debug files by build id, or else by name and check sum.  libdwfl's standard
 * search does the same, but may go on to ask servers. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name,
                          Dwarf_Addr base, const char *file, const char *link,
                          GElf_Word crc, char **found) {
    struct wanted wanted = {.crc = crc, .fd = -1};
    int fd = dwfl_build_id_find_debuginfo(module, data, name, base, file, link,
                                          crc, found);

    if (fd >= 0)
        report__budget_add(fd);
    if (fd >= 0 || *found || !file)
        return fd;
    report__debug_link(file, link, try_link, &wanted);
    return wanted.fd;
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
