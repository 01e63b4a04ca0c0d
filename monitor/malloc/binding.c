/* binding.c - whose functions libraries are bound to; see further.h.
 *
 * The slots of a library by which it calls others, or which have the addresses
 * of their functions, are found by its relocations, as the loader did.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/loaded.h"
#include "monitor/malloc/definitions.h"
#include "monitor/malloc/around.h"
#include "monitor/malloc/further.h"
#include "monitor/malloc/unseen.h"

#if defined __x86_64__
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOB_DAT = R_X86_64_GLOB_DAT };
enum { ADDRESS = R_X86_64_64 };
#elif defined __aarch64__
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOB_DAT = R_AARCH64_GLOB_DAT };
enum { ADDRESS = R_AARCH64_ABS64 };
#else
enum { JUMP_SLOT = -1, GLOB_DAT = -1, ADDRESS = -1 };
#endif

/* Return true if NAME is only found in allocators; other functions belong to an
 * allocator only if it has a malloc(). */
static bool is_own_name(const char *name) {
    static const char *const prefixes[] = {
        "mi_", "tc_", "mallocx", "rallocx", "xallocx", "dallocx", "sdallocx"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Written when the allocator is found, before others are bound. */
static uintptr_t homes[MPROF__FURTHERS]; /* start of the next ones' files */
static bool any;                         /* there are such functions */
static bool runs; /* the program does, so libraries come late; atomic */

static void find_functions(uintptr_t allocator) {
    static const char *const some[] = {"_Znwm", "mallocx", "mi_malloc",
                                       "tc_malloc"};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        uintptr_t home = mprof__next_definition(some[i]).start;
        any |= home != 0 && (home == allocator || is_own_name(some[i]));
    }
    for (unsigned i = 0; any && i < MPROF__FURTHERS; i++) {
        const char *name = mprof__further_name[i];
        struct mprof__definition next = mprof__next_definition(name);
        uintptr_t first = mprof__first_definition(name).start;
        /* The program's own one goes before it. */
        if (next.start == 0 || first != next.start ||
            (next.start != allocator && !is_own_name(name)))
            continue;
        mprof__further_next[i] = (mprof__further *)next.function;
        homes[i] = next.start;
    }
}

/* A library, and how its relocations name what they lead to. */
struct library {
    struct mprof__loaded file;
    const ElfW(Sym) * symbols;
    const char *texts;
    size_t text_bytes;
    uintptr_t read_only, read_only_end; /* since it was relocated */
    const char *name;
    const ElfW(Phdr) * headers;
    unsigned header_count;
};

/* Is there a word at ADDRESS that the library may write, or might until it was
 * relocated? */
static bool has_slot(const struct library *l, uintptr_t address) {
    for (unsigned i = 0; i < l->header_count; i++) {
        const ElfW(Phdr) *header = &l->headers[i];
        uintptr_t start = l->file.bias + header->p_vaddr;
        if (header->p_type == PT_LOAD && header->p_flags & PF_W &&
            address >= start && address - start < header->p_memsz &&
            header->p_memsz - (address - start) >= sizeof(uintptr_t))
            return true;
    }
    return false;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(a, *(const char *const *)b);
}

/* The number of NAME among the functions, -1: none. */
static int number_of(const char *name) {
    const char *const *found = bsearch(
        name, mprof__further_name, MPROF__FURTHERS, sizeof name, compare_names);
    return found == NULL ? -1 : (int)(found - mprof__further_name);
}

/* Does a function with NAME, of an allocator that has more than are known here,
 * allocate? */
static bool allocates(const char *name) {
    static const char *const what[] = {"alloc", "new", "dup", "realpath"};
    if (strncmp(name, "mi_", 3) != 0 && strncmp(name, "tc_", 3) != 0 &&
        strncmp(name, "smallocx_", 9) != 0)
        return false;
    if (strstr(name, "size") != NULL || strstr(name, "mi_option") == name ||
        strstr(name, "mode") != NULL || strstr(name, "stats") != NULL ||
        strncmp(name, "mi_heap_new", 12) == 0)
        return false;
    for (size_t i = 0; i < sizeof what / sizeof *what; i++)
        if (strstr(name, what[i]) != NULL)
            return true;
    return false;
}

static uintptr_t page_of(uintptr_t address) {
    return address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

/* Write VALUE at SLOT, where the loader has forbidden that perhaps. */
static bool write_slot(const struct library *l, uintptr_t *slot,
                       uintptr_t value) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = (uintptr_t)slot;
    void *start = (void *)page_of(at);
    bool read_only = at >= l->read_only && at < l->read_only_end;
    if (read_only && mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
        return false;
    mprof__store_release(slot, value);
    if (read_only)
        mprotect(start, page, PROT_READ);
    return true;
}

static void bind(const struct library *l, const ElfW(Rela) * relocation) {
    const ElfW(Sym) *symbol = &l->symbols[ELF64_R_SYM(relocation->r_info)];
    int type = (int)ELF64_R_TYPE(relocation->r_info);
    if ((type != JUMP_SLOT && type != GLOB_DAT && type != ADDRESS) ||
        symbol->st_name >= l->text_bytes)
        return;
    const char *name = l->texts + symbol->st_name;
    int number = number_of(name);
    uintptr_t at = l->file.bias + relocation->r_offset;
    if (number < 0) {
        if (symbol->st_shndx == SHN_UNDEF && allocates(name))
            mprof__unseen_function(name);
        return;
    }
    uintptr_t *slot = (uintptr_t *)at;
    if (homes[number] == 0 || homes[number] == l->file.start ||
        !has_slot(l, at))
        return;
    /* One that was not called yet leads to where the loader is asked. */
    bool is_bound =
        *slot == (uintptr_t)mprof__further_next[number] ||
        (type == JUMP_SLOT && *slot >= l->file.start && *slot < l->file.end &&
         *slot != l->file.bias + symbol->st_value);
    if (!is_bound)
        return;
    if (!write_slot(l, slot, (uintptr_t)mprof__further_ours[number]))
        mprof__unseen_function(name);
    else if (mprof__load_relaxed(&runs))
        mprof__unseen_before(l->name, name);
}

/* In the tables of a library, addresses are absolute, except those that the
 * loader did not relocate. */
static uintptr_t address_of(const struct library *l, ElfW(Addr) value) {
    return value < l->file.start ? l->file.bias + value : value;
}

static void bind_all(const struct library *l, ElfW(Addr) value, size_t bytes) {
    uintptr_t table = address_of(l, value);
    const ElfW(Rela) *relocation = (const void *)table;
    if (value == 0 || mprof__loaded_until(&l->file, table) < table + bytes)
        return;
    for (size_t i = 0; i < bytes / sizeof *relocation; i++)
        bind(l, &relocation[i]);
}

static void bind_library(struct library *l, const ElfW(Dyn) * dynamic) {
    ElfW(Addr) value[DT_NUM] = {0};
    for (; dynamic->d_tag != DT_NULL; dynamic++)
        if (dynamic->d_tag > 0 && dynamic->d_tag < DT_NUM)
            value[dynamic->d_tag] = dynamic->d_un.d_val;
    if (value[DT_SYMTAB] == 0 || value[DT_STRTAB] == 0)
        return;
    l->symbols = (const void *)address_of(l, value[DT_SYMTAB]);
    l->texts = (const char *)address_of(l, value[DT_STRTAB]);
    l->text_bytes = value[DT_STRSZ];
    bind_all(l, value[DT_RELA], value[DT_RELASZ]);
    bind_all(l, value[DT_JMPREL], value[DT_PLTRELSZ]);
}

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    struct library l = {.file = {.start = UINTPTR_MAX, .bias = info->dlpi_addr},
                        .name = info->dlpi_name,
                        .headers = info->dlpi_phdr,
                        .header_count = info->dlpi_phnum};
    const ElfW(Dyn) *dynamic = NULL;
    (void)size, (void)data;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = l.file.bias + header->p_vaddr;
        uintptr_t end = start + header->p_memsz;
        if (header->p_type == PT_DYNAMIC) {
            dynamic = (const void *)start;
        } else if (header->p_type == PT_GNU_RELRO) {
            /* As the loader has it: where a page ends late it is left. */
            l.read_only = page_of(start);
            l.read_only_end = page_of(end);
        } else if (header->p_type == PT_LOAD) {
            l.file.start = start < l.file.start ? start : l.file.start;
            l.file.end = end > l.file.end ? end : l.file.end;
        }
    }
    l.file.start = page_of(l.file.start);
    for (unsigned i = 0; i < MPROF__FURTHERS; i++)
        if (homes[i] == l.file.start)
            mprof__add_allocator(&l.file);
    uintptr_t here = (uintptr_t)mprof__further_bind;
    if (dynamic != NULL && (here < l.file.start || here >= l.file.end))
        bind_library(&l, dynamic);
    return 0;
}

void mprof__further_find(void) {
    struct mprof__definition first = mprof__first_definition("malloc");
    find_functions(mprof__next_definition("malloc").start);
    if (first.function != NULL && first.file != mprof__own_file())
        mprof__unseen_malloc(&first);
}

void mprof__further_bind(void) {
    if (any)
        dl_iterate_phdr(visit, NULL);
    mprof__store_relaxed(&runs, true);
}
