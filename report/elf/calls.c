/* calls.c - where a call instruction leads.
 *
 * Understood are a call of a fixed address, which may be a stub of the
 * procedure linkage table, and a call through a slot that the loader fills.
 */
#include "report/elf/calls.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* A slot that the loader fills. */
struct slot {
    uint64_t address;
    struct report__target target;
};

struct report__calls {
    Elf *elf;
    const unsigned char *image; /* the file */
    size_t size, segment_count;
    struct slot *slots; /* by address */
    size_t slot_count;
};

static int compare_slots(const void *a, const void *b) {
    const struct slot *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* Of those that are in the file, whatever the headers of its sections say. */
static size_t count_relocations(Elf *elf) {
    size_t count = 0, bytes = gelf_fsize(elf, ELF_T_RELA, 1, EV_CURRENT);
    GElf_Shdr header;
    Elf_Data *data;

    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
        if (gelf_getshdr(s, &header) && header.sh_type == SHT_RELA &&
            bytes > 0 && (data = elf_getdata(s, NULL)))
            count += data->d_size / bytes;
    return count;
}

/* The slot that a relocation fills, if it is one that may be called. */
static bool read_slot(Elf *elf, const GElf_Shdr *symbols, Elf_Data *table,
                      const GElf_Rela *rela, struct slot *slot) {
    GElf_Sym symbol;

    *slot = (struct slot){.address = rela->r_offset};
    switch (GELF_R_TYPE(rela->r_info)) {
    case R_X86_64_RELATIVE:
        slot->target.address = (uint64_t)rela->r_addend;
        return true;
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT:
        if (!table ||
            !gelf_getsym(table, (int)GELF_R_SYM(rela->r_info), &symbol))
            return false;
        slot->target.symbol = elf_strptr(elf, symbols->sh_link, symbol.st_name);
        return slot->target.symbol && *slot->target.symbol;
    default:
        return false;
    }
}

static void read_slots(struct report__calls *c, Elf_Scn *section,
                       size_t capacity) {
    GElf_Shdr header, symbols;
    GElf_Rela rela;
    Elf_Data *table = NULL, *data;

    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA)
        return;
    Elf_Scn *link = elf_getscn(c->elf, header.sh_link);
    if (link && gelf_getshdr(link, &symbols) &&
        (symbols.sh_type == SHT_DYNSYM || symbols.sh_type == SHT_SYMTAB))
        table = elf_getdata(link, NULL);
    data = elf_getdata(section, NULL);
    for (int i = 0; data && gelf_getrela(data, i, &rela); i++)
        if (c->slot_count < capacity &&
            read_slot(c->elf, &symbols, table, &rela, &c->slots[c->slot_count]))
            c->slot_count++;
}

struct report__calls *report__calls_new(Elf *elf) {
    struct report__calls *c = calloc(1, sizeof *c);
    GElf_Ehdr header;
    size_t slots = count_relocations(elf);

    if (!c)
        return NULL;
    c->elf = elf;
    c->image = (const unsigned char *)elf_rawfile(elf, &c->size);
    c->slots = calloc(slots + 1, sizeof *c->slots);
    if (!c->image || !c->slots || !gelf_getehdr(elf, &header) ||
        header.e_machine != EM_X86_64 ||
        elf_getphdrnum(elf, &c->segment_count) != 0) {
        report__calls_free(c);
        return NULL;
    }
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
        read_slots(c, s, slots);
    qsort(c->slots, c->slot_count, sizeof *c->slots, compare_slots);
    return c;
}

void report__calls_free(struct report__calls *calls) {
    if (!calls)
        return;
    free(calls->slots);
    free(calls);
}

/* COUNT bytes of code at ADDRESS, or NULL. */
static const unsigned char *code_at(const struct report__calls *c,
                                    uint64_t address, size_t count) {
    for (size_t i = 0; i < c->segment_count; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(c->elf, (int)i, &segment) ||
            segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) ||
            address < segment.p_vaddr ||
            address - segment.p_vaddr >= segment.p_filesz)
            continue;
        uint64_t inside = address - segment.p_vaddr;
        if (segment.p_filesz - inside < count || segment.p_offset > c->size ||
            c->size - segment.p_offset < inside + count)
            return NULL;
        return c->image + segment.p_offset + inside;
    }
    return NULL;
}

/* The operand of an instruction that ends at END, relative to END. */
static uint64_t operand(const unsigned char *code, uint64_t end) {
    int32_t distance;
    memcpy(&distance, code, sizeof distance);
    return end + (uint64_t)(int64_t)distance;
}

static struct report__target slot_target(const struct report__calls *c,
                                         uint64_t address) {
    struct slot key = {.address = address};
    const struct slot *slot =
        bsearch(&key, c->slots, c->slot_count, sizeof key, compare_slots);
    return slot ? slot->target : (struct report__target){0, NULL};
}

/* A stub of the linkage table: [endbr64] [bnd] jmp *slot(%rip). */
static struct report__target follow(const struct report__calls *c,
                                    uint64_t address) {
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    const unsigned char *code = code_at(c, address, 11);
    size_t at = 0;

    if (code && memcmp(code, endbr64, sizeof endbr64) == 0)
        at = sizeof endbr64;
    if (code && code[at] == 0xf2)
        at++;
    if (code && code[at] == 0xff && code[at + 1] == 0x25)
        return slot_target(c, operand(code + at + 2, address + at + 6));
    return (struct report__target){code ? address : 0, NULL};
}

struct report__target report__call_target(const struct report__calls *calls,
                                          uint64_t return_address) {
    const unsigned char *code = code_at(calls, return_address - 6, 6);

    if (code && code[0] == 0xff && code[1] == 0x15)
        return slot_target(calls, operand(code + 2, return_address));
    if (code && code[1] == 0xe8)
        return follow(calls, operand(code + 2, return_address));
    return (struct report__target){0, NULL};
}
