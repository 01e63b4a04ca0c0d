/* exports.c - see exports.h.
 *
 * The hash table, as DT_GNU_HASH says:
 *
 *     buckets | first symbol | words of the filter | shift     4 bytes each
 *     filter: words that have two bits of each name's hash
 *     by bucket: its first symbol, or 0
 *     by symbol, from the first one on: its hash; odd for the last of a bucket
 */
#include "monitor/base/exports.h"

#include <elf.h>
#include <string.h>

struct hash_table {
    uint32_t buckets, first, words, shift;
};

enum { WORD_BITS = 64 };

/* Is there something to read in the BYTES at ADDRESS? */
static bool reads(const struct mprof__exports *x, uintptr_t address,
                  size_t bytes) {
    uintptr_t until = mprof__loaded_until(&x->file, address);
    return until != 0 && bytes <= until - address;
}

struct mprof__exports mprof__exports_of(const struct mprof__loaded *file,
                                        const ElfW(Dyn) * dynamic) {
    struct mprof__exports x = {.file = *file};
    if (!reads(&x, (uintptr_t)dynamic, sizeof *dynamic))
        return x;
    uintptr_t until = mprof__loaded_until(file, (uintptr_t)dynamic);
    size_t left = (until - (uintptr_t)dynamic) / sizeof *dynamic;
    for (; left > 0 && dynamic->d_tag != DT_NULL; left--, dynamic++) {
        /* The loader made run-time addresses of most. */
        uintptr_t value = dynamic->d_un.d_ptr;
        uintptr_t address = value < file->start ? file->bias + value : value;
        if (dynamic->d_tag == DT_GNU_HASH && address % 8 == 0)
            x.hash = address;
        else if (dynamic->d_tag == DT_SYMTAB && address % 8 == 0)
            x.symbols = address;
        else if (dynamic->d_tag == DT_STRTAB)
            x.names = address;
        else if (dynamic->d_tag == DT_STRSZ)
            x.name_bytes = value;
    }
    if (x.symbols == 0 || !reads(&x, x.names, x.name_bytes) ||
        !reads(&x, x.hash, sizeof(struct hash_table)))
        x.hash = 0;
    return x;
}

static uint32_t hash_of(const char *name) {
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* May there be a name with HASH? */
static bool may_have(const struct mprof__exports *x,
                     const struct hash_table *table, uint32_t hash) {
    enum { HASH_BITS = 32 };
    if (table->shift >= HASH_BITS)
        return false;
    uintptr_t at = (uintptr_t)(table + 1) +
                   (hash / WORD_BITS & (table->words - 1)) * sizeof(uint64_t);
    uint64_t bits = (uint64_t)1 << hash % WORD_BITS |
                    (uint64_t)1 << (hash >> table->shift) % WORD_BITS;
    return reads(x, at, sizeof bits) && (*(const uint64_t *)at & bits) == bits;
}

static bool is_at(const struct mprof__exports *x, uint32_t number,
                  const char *name, uintptr_t address) {
    uintptr_t at = x->symbols + number * sizeof(ElfW(Sym));
    const ElfW(Sym) *symbol = (const void *)at;
    size_t bytes = strlen(name) + 1;
    return reads(x, at, sizeof *symbol) && symbol->st_shndx != SHN_UNDEF &&
           x->file.bias + symbol->st_value == address &&
           symbol->st_name < x->name_bytes &&
           bytes <= x->name_bytes - symbol->st_name &&
           memcmp((const char *)x->names + symbol->st_name, name, bytes) == 0;
}

bool mprof__exports_at(const struct mprof__exports *x, const char *name,
                       uintptr_t address) {
    const struct hash_table *table = (const void *)x->hash;
    uint32_t hash = hash_of(name);
    if (x->hash == 0 || table->buckets == 0 || !may_have(x, table, hash))
        return false;
    uintptr_t buckets =
        (uintptr_t)(table + 1) + table->words * sizeof(uint64_t);
    uintptr_t hashes = buckets + table->buckets * sizeof(uint32_t);
    uintptr_t at = buckets + hash % table->buckets * sizeof(uint32_t);
    if (!reads(x, at, sizeof(uint32_t)))
        return false;
    /* A bucket without names has 0, which is less. */
    for (uint32_t i = *(const uint32_t *)at; i >= table->first; i++) {
        at = hashes + (uintptr_t)(i - table->first) * sizeof(uint32_t);
        if (!reads(x, at, sizeof(uint32_t)))
            return false;
        uint32_t other = *(const uint32_t *)at;
        if ((other | 1) == (hash | 1) && is_at(x, i, name, address))
            return true;
        if (other & 1)
            return false;
    }
    return false;
}
