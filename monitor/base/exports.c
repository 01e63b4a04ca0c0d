/* exports.c - see exports.h.
 *
 * The hash table, as DT_GNU_HASH says:
 *
 *     buckets | first symbol | words of the filter | shift     4 bytes each
 *     filter: words that have two bits of each name's hash
 *     by bucket: its first symbol, or 0
 *     by symbol, from the first one on: its hash; odd for the last of a bucket
 *
 * An older DT_HASH is only read for the number of symbols, its second word: few
 * files have nothing else, and few names are looked up.
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
    uintptr_t until = mprof__loaded_until(file, (uintptr_t)dynamic);
    size_t left =
        until == 0 ? 0 : (until - (uintptr_t)dynamic) / sizeof *dynamic;
    uintptr_t gnu_hash = 0, old_hash = 0;
    for (; left > 0 && dynamic->d_tag != DT_NULL; left--, dynamic++) {
        /* The loader made run-time addresses of most. */
        uintptr_t value = dynamic->d_un.d_ptr;
        uintptr_t address = value < file->start ? file->bias + value : value;
        if (dynamic->d_tag == DT_GNU_HASH && address % 8 == 0)
            gnu_hash = address;
        else if (dynamic->d_tag == DT_HASH && address % 4 == 0)
            old_hash = address;
        else if (dynamic->d_tag == DT_VERSYM && address % 2 == 0)
            x.versions = address;
        else if (dynamic->d_tag == DT_SYMTAB && address % 8 == 0)
            x.symbols = address;
        else if (dynamic->d_tag == DT_STRTAB)
            x.names = address;
        else if (dynamic->d_tag == DT_STRSZ)
            x.name_bytes = value;
    }
    x.old_hash = gnu_hash == 0;
    x.hash = x.old_hash ? old_hash : gnu_hash;
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

/* The address of symbol NUMBER, if it is NAME in the version that a program is
 * linked with; else 0. */
static uintptr_t address_of(const struct mprof__exports *x, uint32_t number,
                            const char *name) {
    enum { HIDDEN = 0x8000 };
    uintptr_t at = x->symbols + number * sizeof(ElfW(Sym));
    uintptr_t version = x->versions + number * sizeof(ElfW(Half));
    const ElfW(Sym) *symbol = (const void *)at;
    size_t bytes = strlen(name) + 1;
    if (!reads(x, at, sizeof *symbol) || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_name >= x->name_bytes ||
        bytes > x->name_bytes - symbol->st_name ||
        memcmp((const char *)x->names + symbol->st_name, name, bytes) != 0)
        return 0;
    bool hidden = x->versions != 0 && reads(x, version, sizeof(ElfW(Half))) &&
                  *(const ElfW(Half) *)version & HIDDEN;
    return hidden || symbol->st_value == 0 ? 0
                                           : x->file.bias + symbol->st_value;
}

static uintptr_t look_in_gnu_hash(const struct mprof__exports *x,
                                  const char *name) {
    const struct hash_table *table = (const void *)x->hash;
    uint32_t hash = hash_of(name);
    if (table->buckets == 0 || !may_have(x, table, hash))
        return 0;
    uintptr_t buckets =
        (uintptr_t)(table + 1) + table->words * sizeof(uint64_t);
    uintptr_t hashes = buckets + table->buckets * sizeof(uint32_t);
    uintptr_t at = buckets + hash % table->buckets * sizeof(uint32_t);
    if (!reads(x, at, sizeof(uint32_t)))
        return 0;
    /* A bucket without names has 0, which is less. */
    for (uint32_t i = *(const uint32_t *)at; i >= table->first; i++) {
        at = hashes + (uintptr_t)(i - table->first) * sizeof(uint32_t);
        if (!reads(x, at, sizeof(uint32_t)))
            return 0;
        uint32_t other = *(const uint32_t *)at;
        uintptr_t found =
            (other | 1) == (hash | 1) ? address_of(x, i, name) : 0;
        if (found != 0 || other & 1)
            return found;
    }
    return 0;
}

uintptr_t mprof__exports_find(const struct mprof__exports *x,
                              const char *name) {
    if (x->hash == 0)
        return 0;
    if (!x->old_hash)
        return look_in_gnu_hash(x, name);
    uint32_t count = ((const uint32_t *)x->hash)[1];
    uintptr_t found = 0;
    for (uint32_t i = 1; i < count && found == 0; i++) {
        if (!reads(x, x->symbols + i * sizeof(ElfW(Sym)), sizeof(ElfW(Sym))))
            break;
        found = address_of(x, i, name);
    }
    return found;
}
