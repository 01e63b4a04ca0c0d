/* elf_image.h - the symbols of ELF files, for the monitor. */
#ifndef MONITOR_BASE_ELF_IMAGE_H
#define MONITOR_BASE_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is what begins at BASE an ELF file, or mapped from one, of 64 bits? */
bool mprof__is_elf(const void *base);

/* An ELF file, mapped to read its symbols; it may be deleted meanwhile.  errno
 * stays, and threads are not cancelled there. */
struct mprof__image {
    const unsigned char *base; /* NULL: not an ELF file with symbols */
    size_t bytes;
};
void mprof__image_open(struct mprof__image *image, const char *path);
/* The same for the file PATH with the build id of BYTES bytes, and no other
 * that took its place; if it has been stripped, that with its symbols, where
 * the system has one. */
void mprof__image_open_symbols(struct mprof__image *image, const char *path,
                               const uint8_t *build_id, size_t bytes);
void mprof__image_close(struct mprof__image *image);

/* Call VISIT for the functions among the symbols until it returns nonzero;
 * ADDRESS is the ELF address.  Names live as long as the image. */
void mprof__image_symbols(const struct mprof__image *image,
                          int (*visit)(const char *name, uint64_t address,
                                       void *data),
                          void *data);

/* The symbols of a file alone, mapped: pages that are not asked for take no
 * memory, and what reads them makes no system call.  None, where `count` is
 * 0. */
struct mprof__symbols {
    const Elf64_Sym *list;
    size_t count;
    const char *names;
    size_t name_bytes;
    void *map; /* with both of them, or NULL */
    size_t map_bytes;
};
void mprof__symbols_map(struct mprof__symbols *symbols, const char *path);
void mprof__symbols_unmap(struct mprof__symbols *symbols);

/* Call VISIT for the functions among them until it returns nonzero. */
typedef int mprof__visit_symbol(const struct mprof__symbols *symbols,
                                const Elf64_Sym *symbol, void *data);
void mprof__symbols_each(const struct mprof__symbols *symbols,
                         mprof__visit_symbol *visit, void *data);

/* The same for symbols of TYPE, such as STT_OBJECT. */
void mprof__symbols_of(const struct mprof__symbols *symbols, unsigned type,
                       mprof__visit_symbol *visit, void *data);

/* Is SYMBOL a better name THAN another one of the same address?  Readers choose
 * the same (report/elf/symbols.c): no local one, then the fewest underscores
 * before it, then the shortest, then by the alphabet. */
bool mprof__is_better_symbol(const struct mprof__symbols *symbols,
                             const Elf64_Sym *symbol, const Elf64_Sym *than);

/* Where the program begins, an ELF address; 0: nowhere. */
uint64_t mprof__image_start(const struct mprof__image *image);

/* The name of the function at the ELF address ADDRESS, or NULL. */
const char *mprof__image_symbol_at(const struct mprof__image *image,
                                   uint64_t address);

#endif
