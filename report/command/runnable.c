/* runnable.c - see runnable.h. */
#define _GNU_SOURCE
#include "report/command/runnable.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifdef __aarch64__
enum { OUR_MACHINE = EM_AARCH64 };
#else
enum { OUR_MACHINE = EM_X86_64 };
#endif

/* Into FOUND the file that execvp() takes for PROGRAM. */
static bool find(const char *program, char found[PATH_MAX]) {
    const char *path = getenv("PATH");
    if (strchr(program, '/'))
        path = "";
    else if (!path)
        return false;
    for (const char *end;; path = end + 1) {
        end = strchrnul(path, ':');
        int n = snprintf(found, PATH_MAX, "%.*s%s%s", (int)(end - path), path,
                         end > path ? "/" : "", program);
        if (n < PATH_MAX && access(found, X_OK) == 0)
            return true;
        if (*end == '\0')
            return false;
    }
}

/* With the rights of its owner, or some of root's, which this process lacks. */
static bool gets_rights(int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return false;
    bool set_uid = status.st_mode & S_ISUID && status.st_uid != getuid();
    bool set_gid = status.st_mode & S_ISGID && status.st_mode & S_IXGRP &&
                   status.st_gid != getgid();
    bool capable =
        getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
    return set_uid || set_gid || capable;
}

static bool begins_with_one_of(const char *text, const char *const *starts) {
    for (; *starts; starts++)
        if (strncmp(text, *starts, strlen(*starts)) == 0)
            return true;
    return false;
}

/* The name of entry I of a table of symbols, if it is defined, or of needed
 * libraries; NULL: it has none. */
static const char *entry_name(Elf *elf, Elf_Data *data, const GElf_Shdr *header,
                              int i) {
    GElf_Dyn entry;
    GElf_Sym symbol;
    if (header->sh_type != SHT_DYNAMIC)
        return gelf_getsym(data, i, &symbol) && symbol.st_shndx != SHN_UNDEF
                   ? elf_strptr(elf, header->sh_link, symbol.st_name)
                   : NULL;
    return gelf_getdyn(data, i, &entry) && entry.d_tag == DT_NEEDED
               ? elf_strptr(elf, header->sh_link, entry.d_un.d_val)
               : NULL;
}

/* Does a section of TYPE have a name that begins as one of STARTS? */
static bool has_name(Elf *elf, GElf_Word type, const char *const *starts) {
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &header) || header.sh_type != type)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        size_t count =
            data && header.sh_entsize ? data->d_size / header.sh_entsize : 0;
        for (size_t i = 0; i < count && i < INT_MAX; i++) {
            const char *name = entry_name(elf, data, &header, (int)i);
            if (name && begins_with_one_of(name, starts))
                return true;
        }
    }
    return false;
}

/* Does it ask for a library of a sanitizer, or contain one? */
static bool is_sanitized(Elf *elf) {
    static const char *const libraries[] = {
        "libasan.", "libtsan.", "liblsan.", "libhwasan.", "libclang_rt.", NULL};
    static const char *const symbols[] = {"__asan_init",   "__tsan_init",
                                          "__msan_init",   "__lsan_init",
                                          "__hwasan_init", NULL};
    return has_name(elf, SHT_DYNAMIC, libraries) ||
           has_name(elf, SHT_DYNSYM, symbols);
}

static bool has_monitor(Elf *elf) {
    static const char *const ours[] = {"mprof_start", NULL};
    return has_name(elf, SHT_SYMTAB, ours);
}

/* The loader that the program asks for; NULL: it asks for none. */
static const char *loader_of(Elf *elf) {
    size_t count, size;
    GElf_Phdr header;
    const char *file = elf_rawfile(elf, &size);
    if (elf_getphdrnum(elf, &count) != 0)
        return NULL;
    for (size_t i = 0; i < count && i < INT_MAX; i++)
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_INTERP &&
            file && header.p_offset < size &&
            header.p_filesz <= size - header.p_offset &&
            memchr(file + header.p_offset, '\0', header.p_filesz))
            return file + header.p_offset;
    return NULL;
}

static const char *examine(Elf *elf, int fd, bool *clashes) {
    GElf_Ehdr header;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
        return NULL;
    if (header.e_machine != OUR_MACHINE || gelf_getclass(elf) != ELFCLASS64)
        return "it is for another kind of processor";
    const char *loader = loader_of(elf);
    if (!loader)
        return has_monitor(elf)
                   ? NULL
                   : "it is linked statically, and not with libmprof_malloc.a";
    *clashes = strstr(loader, "ld-musl") != NULL;
    if (*clashes)
        return "it is not linked with the GNU C library";
    *clashes = is_sanitized(elf);
    if (*clashes)
        return "it was compiled with a sanitizer, which takes malloc()'s place";
    return gets_rights(fd)
               ? "it runs with the rights of somebody else, so nothing is "
                 "preloaded"
               : NULL;
}

/* Into INTERPRETER what the script FD names in its first line; false: it is no
 * script. */
static bool read_script(int fd, char interpreter[PATH_MAX]) {
    char line[256] = "";
    ssize_t n = pread(fd, line, sizeof line - 1, 0);
    if (n < 3 || line[0] != '#' || line[1] != '!')
        return false;
    char *start = line + 2 + strspn(line + 2, " \t");
    start[strcspn(start, " \t\n")] = '\0';
    snprintf(interpreter, PATH_MAX, "%s", start);
    return *start != '\0';
}

const char *report__not_recordable(const char *program, bool *clashes) {
    enum { MOST_SCRIPTS = 4 };
    char path[PATH_MAX];
    const char *why = NULL;
    struct stat status;
    int fd = -1;
    *clashes = false;
    if (!find(program, path))
        return NULL;
    for (int i = 0; i < MOST_SCRIPTS; i++) {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0 || !read_script(fd, path))
            break;
        close(fd);
        fd = -1;
    }
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        elf_version(EV_CURRENT);
        Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
        why = elf ? examine(elf, fd, clashes) : NULL;
        elf_end(elf);
    }
    if (fd >= 0)
        close(fd);
    return why;
}
