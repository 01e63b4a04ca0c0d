/* runnable.c - see runnable.h.  Offsets in a file only lead to other places of
 * that file, and little is read of it, piece by piece. */
#define _GNU_SOURCE
#include "monitor/format/runnable.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
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

enum { MOST_SEGMENTS = 64, MOST_SECTIONS = 128, MOST_DYNAMIC = 512 };
enum { MOST_TEXT = 16 << 20 }; /* bytes that are looked through for names */

bool mprof__find_program(const char *program, char found[PATH_MAX]) {
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

static bool read_at(int fd, void *what, size_t bytes, uint64_t at) {
    return at <= INT64_MAX &&
           pread(fd, what, bytes, (off_t)at) == (ssize_t)bytes;
}

/* Names that are looked for, and whether what is after them matters. */
struct names {
    const char *const *name;
    bool whole;
};

static bool is_one_of(const char *text, const struct names *names) {
    for (const char *const *name = names->name; *name != NULL; name++)
        if (names->whole ? strcmp(text, *name) == 0
                         : strncmp(text, *name, strlen(*name)) == 0)
            return true;
    return false;
}

/* Is one of NAMES in the table of strings of BYTES at AT? */
static bool has_text(int fd, uint64_t at, uint64_t bytes,
                     const struct names *names) {
    enum { PIECE = 4096, LONGEST = 64 };
    char text[PIECE + 1];
    if (bytes > MOST_TEXT)
        bytes = MOST_TEXT;
    for (uint64_t done = 0; done < bytes;) {
        size_t n = bytes - done < PIECE ? (size_t)(bytes - done) : PIECE;
        bool last = done + n == bytes;
        if (!read_at(fd, text, n, at + done))
            return false;
        text[n] = '\0';
        /* A text that begins near the end of a piece is in the next one. */
        size_t i = 0, limit = last || n <= LONGEST ? n : n - LONGEST;
        while (i < limit) {
            if (is_one_of(text + i, names))
                return true;
            i += strlen(text + i) + 1;
        }
        if (last)
            return false;
        done += i < n ? i : n;
    }
    return false;
}

/* An ELF file. */
struct program {
    int fd;
    Elf64_Ehdr header;
    Elf64_Phdr segment[MOST_SEGMENTS];
    unsigned segments;
};

static const Elf64_Phdr *segment_of(const struct program *p, uint32_t type) {
    for (unsigned i = 0; i < p->segments; i++)
        if (p->segment[i].p_type == type)
            return &p->segment[i];
    return NULL;
}

/* Where in the file is what will be at ADDRESS?  0: nowhere. */
static uint64_t place_of(const struct program *p, uint64_t address) {
    for (unsigned i = 0; i < p->segments; i++) {
        const Elf64_Phdr *s = &p->segment[i];
        if (s->p_type == PT_LOAD && address >= s->p_vaddr &&
            address - s->p_vaddr < s->p_filesz)
            return s->p_offset + (address - s->p_vaddr);
    }
    return 0;
}

/* Does it ask for a library of a sanitizer, or contain one? */
static bool is_sanitized(const struct program *p) {
    static const char *const libraries[] = {
        "libasan.so",   "libtsan.so",    "liblsan.so",  "libhwasan.so",
        "libclang_rt.", "__asan_init",   "__tsan_init", "__msan_init",
        "__lsan_init",  "__hwasan_init", NULL};
    static const struct names names = {libraries, false};
    const Elf64_Phdr *dynamic = segment_of(p, PT_DYNAMIC);
    uint64_t texts = 0, bytes = 0;
    for (unsigned i = 0; dynamic != NULL && i < MOST_DYNAMIC &&
                         (i + 1) * sizeof(Elf64_Dyn) <= dynamic->p_filesz;
         i++) {
        Elf64_Dyn entry;
        if (!read_at(p->fd, &entry, sizeof entry,
                     dynamic->p_offset + i * sizeof entry) ||
            entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_STRTAB)
            texts = place_of(p, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_STRSZ)
            bytes = entry.d_un.d_val;
    }
    return texts != 0 && has_text(p->fd, texts, bytes, &names);
}

/* Is it linked with libmprof_malloc.a, as far as its symbols say? */
static bool has_monitor(const struct program *p) {
    static const char *const ours[] = {"mprof_start", NULL};
    static const struct names names = {ours, true};
    const Elf64_Ehdr *h = &p->header;
    if (h->e_shentsize != sizeof(Elf64_Shdr))
        return false;
    for (unsigned i = 0; i < h->e_shnum && i < MOST_SECTIONS; i++) {
        Elf64_Shdr section, texts;
        if (!read_at(p->fd, &section, sizeof section,
                     h->e_shoff + i * sizeof section))
            return false;
        if (section.sh_type == SHT_SYMTAB && section.sh_link < h->e_shnum &&
            read_at(p->fd, &texts, sizeof texts,
                    h->e_shoff + section.sh_link * sizeof texts) &&
            has_text(p->fd, texts.sh_offset, texts.sh_size, &names))
            return true;
    }
    return false;
}

static const char *examine(int fd, bool *clashes) {
    struct program p;
    char loader[256] = "";
    p.fd = fd;
    if (!read_at(fd, &p.header, sizeof p.header, 0) ||
        memcmp(p.header.e_ident, ELFMAG, SELFMAG) != 0)
        return NULL;
    if (p.header.e_machine != OUR_MACHINE ||
        p.header.e_ident[EI_CLASS] != ELFCLASS64) {
        *clashes = true; /* its loader would complain */
        return "it is for another kind of processor";
    }
    p.segments = p.header.e_phnum;
    if (p.header.e_phentsize != sizeof *p.segment ||
        p.segments > MOST_SEGMENTS ||
        !read_at(fd, p.segment, p.segments * sizeof *p.segment,
                 p.header.e_phoff))
        return NULL;
    const Elf64_Phdr *interpreter = segment_of(&p, PT_INTERP);
    if (interpreter == NULL)
        return has_monitor(&p)
                   ? NULL
                   : "it is linked statically, and not with libmprof_malloc.a";
    if (interpreter->p_filesz < sizeof loader &&
        read_at(fd, loader, interpreter->p_filesz, interpreter->p_offset))
        *clashes = strstr(loader, "ld-musl") != NULL;
    if (*clashes)
        return "it is not linked with the GNU C library";
    *clashes = is_sanitized(&p);
    if (*clashes)
        return "it was compiled with a sanitizer, which takes malloc()'s place";
    return gets_rights(fd)
               ? "it runs with another user's rights, so the system preloads "
                 "nothing"
               : NULL;
}

/* The file that the script FD names in its first line, open; -1: it is no
 * script, or there is none.  FD stays open. */
static int open_interpreter(int fd, bool *is_script) {
    char line[256] = "";
    ssize_t n = pread(fd, line, sizeof line - 1, 0);
    *is_script = n >= 3 && line[0] == '#' && line[1] == '!';
    if (!*is_script)
        return -1;
    char *start = line + 2 + strspn(line + 2, " \t");
    start[strcspn(start, " \t\n")] = '\0';
    return open(start, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

const char *mprof__not_recordable(const char *file, int fd, bool *clashes) {
    enum { MOST_SCRIPTS = 4 };
    int saved = errno, own = -1;
    const char *why = NULL;
    struct stat status;
    *clashes = false;
    if (fd < 0)
        fd = own = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    for (int i = 0; i < MOST_SCRIPTS && fd >= 0; i++) {
        bool is_script;
        if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
            break;
        int interpreter = open_interpreter(fd, &is_script);
        if (!is_script) {
            why = examine(fd, clashes);
            break;
        }
        if (own >= 0)
            close(own);
        fd = own = interpreter;
    }
    if (own >= 0)
        close(own);
    errno = saved;
    return why;
}
