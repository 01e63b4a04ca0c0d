/* variables.c - see variables.h. */
#define _GNU_SOURCE
#include "monitor/scan/variables.h"

#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "monitor/base/loaded.h"
#include "monitor/base/table.h"
#include "monitor/format/paths.h"
#include "monitor/names/modules.h"

static void add(struct mprof__variables *v, struct mprof__variable variable) {
    if (variable.start >= variable.end)
        return;
    void *list = mprof__with_room(v->list, v->count, &v->room, sizeof *v->list);
    if (list == NULL)
        return;
    v->list = list;
    v->list[v->count++] = variable;
}

static struct mprof__variable_file *add_file(struct mprof__variables *v) {
    void *files = mprof__with_room(v->files, v->file_count, &v->file_room,
                                   sizeof *v->files);
    if (files == NULL)
        return NULL;
    v->files = files;
    return &v->files[v->file_count++];
}

/*
 * Files
 */

/* Where the file of MAP begins; 0: that is not known. */
static uintptr_t start_of(const struct link_map *map,
                          const struct mprof__mappings *mappings) {
    enum { PAGE = 4096 };
    uintptr_t start = map->l_name[0] == '\0'
                          ? (uintptr_t)getauxval(AT_PHDR) & -(uintptr_t)PAGE
                          : map->l_addr;
    const struct mprof__mapping *m = mprof__mapping_at(mappings, start);
    return m != NULL && m->readable && m->start == start &&
                   mprof__is_elf((const void *)start)
               ? start
               : 0;
}

static int add_symbol(const struct mprof__symbols *symbols,
                      const Elf64_Sym *symbol, void *data) {
    struct mprof__variables *v = data;
    uintptr_t start = v->files[v->file_count - 1].bias + symbol->st_value;
    add(v, (struct mprof__variable){.start = start,
                                    .end = start + symbol->st_size,
                                    .name = symbols->names + symbol->st_name});
    return 0;
}

/* The data of the file of MAP, and its variables.  *TLS: how many files with
 * thread-local ones there were before. */
static void add_map(struct mprof__variables *v, const struct link_map *map,
                    uintptr_t start, size_t *tls) {
    static char path[PATH_MAX]; /* one scan at a time */
    const struct mprof__loaded loaded = {start, start, map->l_addr};
    unsigned count = 0;
    const ElfW(Phdr) *header = mprof__loaded_headers(&loaded, &count);
    struct mprof__variable_file *file = add_file(v);
    if (file == NULL)
        return;
    mprof__module_path(map, path, sizeof path);
    *file = (struct mprof__variable_file){.bias = map->l_addr};
    mprof__symbols_map(&file->symbols, path);
    for (unsigned i = 0; header != NULL && i < count; i++) {
        uintptr_t at = map->l_addr + header[i].p_vaddr;
        if (header[i].p_type == PT_TLS)
            file->tls = ++*tls;
        if (header[i].p_type == PT_LOAD && header[i].p_flags & PF_W)
            add(v, (struct mprof__variable){.start = at,
                                            .end = at + header[i].p_memsz,
                                            .name =
                                                mprof__loaded_name(map->l_name),
                                            .is_file = true});
    }
    mprof__symbols_of(&file->symbols, STT_OBJECT, add_symbol, v);
}

/*
 * Threads
 */

/* The GNU C library has for each thread a vector of the blocks of files, found
 * at its thread pointer; see "ELF Handling For Thread-Local Storage" (Drepper,
 * 2005).  0: the block was not made yet, or is elsewhere. */
static uintptr_t local_block(uintptr_t local, size_t number,
                             const struct mprof__mappings *mappings) {
#ifdef __x86_64__
    struct entry {
        uintptr_t at, to_free;
    };
    const struct mprof__mapping *m = mprof__mapping_at(mappings, local + 8);
    if (m == NULL || !m->readable)
        return 0;
    const struct entry *vector = ((const struct entry *const *)local)[1];
    m = mprof__mapping_at(mappings, (uintptr_t)(vector + number));
    if (m == NULL || !m->readable || (uintptr_t)(vector - 1) < m->start ||
        number > vector[-1].at)
        return 0;
    uintptr_t at = vector[number].at;
    return at == UINTPTR_MAX || mprof__mapping_at(mappings, at) == NULL ? 0
                                                                        : at;
#else
    (void)local, (void)number, (void)mappings;
    return 0;
#endif
}

struct block {
    struct mprof__variables *variables;
    uintptr_t start;
};

static int add_local(const struct mprof__symbols *symbols,
                     const Elf64_Sym *symbol, void *data) {
    const struct block *block = data;
    uintptr_t start = block->start + symbol->st_value;
    add(block->variables,
        (struct mprof__variable){.start = start,
                                 .end = start + symbol->st_size,
                                 .name = symbols->names + symbol->st_name,
                                 .is_local = true});
    return 0;
}

static void add_thread(struct mprof__variables *v,
                       const struct mprof__mappings *mappings,
                       uintptr_t local) {
    for (size_t i = 0; i < v->file_count; i++) {
        const struct mprof__variable_file *file = &v->files[i];
        struct block block = {
            v, file->tls == 0 ? 0 : local_block(local, file->tls, mappings)};
        if (block.start != 0)
            mprof__symbols_of(&file->symbols, STT_TLS, add_local, &block);
    }
}

/*
 * By address
 */

/* Files behind what is in them, larger variables behind smaller ones. */
static int is_before(const struct mprof__variable *a,
                     const struct mprof__variable *b) {
    return a->is_file != b->is_file ? b->is_file
           : a->start != b->start   ? a->start < b->start
                                    : a->end < b->end;
}

/* Heap sort (Williams, 1964): no memory, no recursion. */
static void sift(struct mprof__variable *list, size_t at, size_t count) {
    struct mprof__variable moved = list[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_before(&list[child], &list[child + 1]))
            child++;
        if (!is_before(&moved, &list[child]))
            break;
        list[at] = list[child];
    }
    list[at] = moved;
}

static void sort(struct mprof__variable *list, size_t count) {
    for (size_t i = count / 2; i-- > 0;)
        sift(list, i, count);
    for (size_t i = count; i-- > 1;) {
        struct mprof__variable first = list[0];
        list[0] = list[i];
        list[i] = first;
        sift(list, 0, i);
    }
}

void mprof__variables_begin(struct mprof__variables *v,
                            const struct mprof__mappings *mappings,
                            const uintptr_t *local, size_t count) {
    size_t tls = 0;
    const struct link_map *map = _r_debug.r_map;
    for (; map != NULL; map = map->l_next) {
        uintptr_t start = start_of(map, mappings);
        if (start != 0)
            add_map(v, map, start, &tls);
    }
    for (size_t i = 0; i < count; i++)
        add_thread(v, mappings, local[i]);
    if (v->count > 0)
        sort(v->list, v->count);
}

void mprof__variables_end(struct mprof__variables *v) {
    for (size_t i = 0; i < v->file_count; i++)
        mprof__symbols_unmap(&v->files[i].symbols);
    mprof__unmap(v->list, v->room * sizeof *v->list);
    mprof__unmap(v->files, v->file_room * sizeof *v->files);
    memset(v, 0, sizeof *v);
}

const struct mprof__variable *
mprof__variable_at(const struct mprof__variables *v, uintptr_t address,
                   uintptr_t *until) {
    size_t low = 0, high = v->count;
    const struct mprof__variable *file = NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct mprof__variable *m = &v->list[middle];
        if (!m->is_file && m->start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < v->count && !v->list[low].is_file && v->list[low].start < *until)
        *until = v->list[low].start;
    /* An alias may be smaller than what it is one of. */
    for (size_t i = low; i-- > 0 && low - i <= 4;)
        if (v->list[i].end > address) {
            if (v->list[i].end < *until)
                *until = v->list[i].end;
            return &v->list[i];
        }
    for (size_t i = v->count; i-- > 0 && v->list[i].is_file;) {
        const struct mprof__variable *f = &v->list[i];
        if (f->start <= address && address < f->end)
            file = f;
        else if (f->start > address && f->start < *until)
            *until = f->start;
    }
    if (file != NULL && file->end < *until)
        *until = file->end;
    return file;
}
