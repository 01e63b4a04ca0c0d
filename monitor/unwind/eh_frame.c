/* eh_frame.c - find the FDE for an address; see eh_frame.h. */
#define _GNU_SOURCE
#include "monitor/unwind/eh_frame.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "monitor/base/loaded.h"

enum {
    DW_EH_PE_absptr = 0x00,
    DW_EH_PE_uleb128 = 0x01,
    DW_EH_PE_udata2 = 0x02,
    DW_EH_PE_udata4 = 0x03,
    DW_EH_PE_udata8 = 0x04,
    DW_EH_PE_sleb128 = 0x09,
    DW_EH_PE_sdata2 = 0x0a,
    DW_EH_PE_sdata4 = 0x0b,
    DW_EH_PE_sdata8 = 0x0c,
    DW_EH_PE_pcrel = 0x10,
    DW_EH_PE_datarel = 0x30,
    DW_EH_PE_indirect = 0x80,
    DW_EH_PE_omit = 0xff
};

/* Read a pointer in one of the encodings that linkers write. */
static bool encoded(struct mprof__cursor *p, uint8_t encoding,
                    uintptr_t data_base, uintptr_t *value) {
    uintptr_t here = (uintptr_t)p->at;
    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        *value = MPROF__TAKE(uint64_t, p);
        break;
    case DW_EH_PE_udata4:
        *value = MPROF__TAKE(uint32_t, p);
        break;
    case DW_EH_PE_sdata4:
        *value = (uintptr_t)(intptr_t)MPROF__TAKE(int32_t, p);
        break;
    case DW_EH_PE_udata2:
        *value = MPROF__TAKE(uint16_t, p);
        break;
    case DW_EH_PE_sdata2:
        *value = (uintptr_t)(intptr_t)MPROF__TAKE(int16_t, p);
        break;
    case DW_EH_PE_uleb128:
        *value = mprof__uleb(p);
        break;
    case DW_EH_PE_sleb128:
        *value = (uintptr_t)mprof__sleb(p);
        break;
    default:
        return false;
    }
    switch (encoding & 0x70) {
    case 0:
        break;
    case DW_EH_PE_pcrel:
        *value += here;
        break;
    case DW_EH_PE_datarel:
        *value += data_base;
        break;
    default:
        return false;
    }
    return !p->bad && !(encoding & DW_EH_PE_indirect);
}

/* The bytes from ADDRESS on, as far as its segment goes; none without one. */
static struct mprof__cursor bytes_at(const struct mprof__loaded *file,
                                     uintptr_t address) {
    uintptr_t end = mprof__loaded_until(file, address);
    return (struct mprof__cursor){.at = (const void *)address,
                                  .end = (const void *)(end ? end : address)};
}

/* An entry of the sorted table: the start of a function, and its FDE, relative
 * to HEADER. */
struct entry {
    int32_t start, fde;
};

static struct entry entry_at(const struct mprof__cursor *table, size_t i) {
    struct entry entry;
    memcpy(&entry, table->at + i * sizeof entry, sizeof entry);
    return entry;
}

/* The FDE whose function may contain PC: the last that starts at or before; 0:
 * there is none. */
static uintptr_t search_header(const struct mprof__loaded *file,
                               uintptr_t header, uintptr_t pc) {
    struct mprof__cursor p = bytes_at(file, header);
    uintptr_t frame, count;
    uint8_t version = MPROF__TAKE(uint8_t, &p);
    uint8_t frame_encoding = MPROF__TAKE(uint8_t, &p);
    uint8_t count_encoding = MPROF__TAKE(uint8_t, &p);
    if (version != 1 ||
        MPROF__TAKE(uint8_t, &p) != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
        !encoded(&p, frame_encoding, header, &frame) ||
        count_encoding == DW_EH_PE_omit ||
        !encoded(&p, count_encoding, header, &count) || count == 0 ||
        count > (size_t)(p.end - p.at) / sizeof(struct entry))
        return 0;
    int64_t wanted = (int64_t)(pc - header);
    if (wanted < entry_at(&p, 0).start)
        return 0;
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (entry_at(&p, middle).start <= wanted)
            low = middle;
        else
            high = middle;
    }
    return header + (uintptr_t)(intptr_t)entry_at(&p, low).fde;
}

/* Return the contents of an entry of .eh_frame, which begins with its length.
 */
static struct mprof__cursor entry_of(const struct mprof__loaded *file,
                                     uintptr_t address) {
    struct mprof__cursor p = bytes_at(file, address);
    uint32_t length = MPROF__TAKE(uint32_t, &p);
    p.bad |= length == 0 || length == 0xffffffff;
    if (mprof__has_bytes(&p, length))
        p.end = p.at + length;
    return p;
}

/* Read the data that belong to the letters of AUGMENTATION.  False: they are
 * not understood. */
static bool read_augmentation(struct mprof__cursor *p, const char *letter,
                              struct mprof__fde *found) {
    for (; *letter != '\0'; letter++) {
        uintptr_t ignored;
        uint8_t encoding;
        switch (*letter) {
        case 'R':
            found->encoding = MPROF__TAKE(uint8_t, p);
            break;
        case 'P':
            encoding = MPROF__TAKE(uint8_t, p) & (uint8_t)~DW_EH_PE_indirect;
            if (!encoded(p, encoding, 0, &ignored))
                return false;
            break;
        case 'L':
            mprof__skip(p, 1);
            break;
        case 'S':
            found->signal = true;
            break;
        case 'B': /* of aarch64: signed with the other key */
        case 'G': /* ... the stack has tags */
            break;
        default:
            return false;
        }
    }
    return !p->bad;
}

static bool read_cie(const struct mprof__loaded *file, uintptr_t cie,
                     struct mprof__fde *found) {
    struct mprof__cursor p = entry_of(file, cie);
    if (MPROF__TAKE(uint32_t, &p) != 0 || p.bad)
        return false;
    uint8_t version = MPROF__TAKE(uint8_t, &p);
    const char *augmentation = (const char *)p.at;
    mprof__skip(&p, strnlen(augmentation, (size_t)(p.end - p.at)) + 1);
    if (p.bad || (version != 1 && version != 3))
        return false;
    found->code_align = mprof__uleb(&p);
    found->data_align = mprof__sleb(&p);
    found->return_column =
        version == 1 ? MPROF__TAKE(uint8_t, &p) : mprof__uleb(&p);
    found->augmented = augmentation[0] == 'z';
    found->cie = p;
    if (!found->augmented)
        return !p.bad && augmentation[0] == '\0';
    uint64_t size = mprof__uleb(&p);
    found->cie = p;
    mprof__skip(&found->cie, size);
    return read_augmentation(&p, augmentation + 1, found) && !found->cie.bad;
}

static bool read_fde(const struct mprof__loaded *file, uintptr_t fde,
                     struct mprof__fde *found) {
    struct mprof__cursor p = entry_of(file, fde);
    uintptr_t cie = (uintptr_t)p.at;
    uint32_t back = MPROF__TAKE(uint32_t, &p);
    uintptr_t size;
    if (p.bad || back == 0 || !read_cie(file, cie - back, found) ||
        !encoded(&p, found->encoding, 0, &found->start) ||
        !encoded(&p, found->encoding & 0x0f, 0, &size))
        return false;
    found->end = found->start + size;
    if (found->augmented)
        mprof__skip(&p, mprof__uleb(&p));
    found->fde = p;
    return !p.bad;
}

bool mprof__eh_find(uintptr_t pc, struct mprof__unwind *unwind,
                    struct mprof__fde *found) {
    struct dl_find_object object;
    memset(unwind, 0, sizeof *unwind);
    memset(found, 0, sizeof *found);
    if (_dl_find_object((void *)pc, &object) != 0)
        return false;
    unwind->module_start = (uintptr_t)object.dlfo_map_start;
    unwind->module_end = (uintptr_t)object.dlfo_map_end;
    unwind->module = object.dlfo_link_map;
    if (object.dlfo_eh_frame == NULL)
        return false;
    struct mprof__loaded file = {.start = unwind->module_start,
                                 .end = unwind->module_end,
                                 .bias = unwind->module == NULL
                                             ? unwind->module_start
                                             : unwind->module->l_addr};
    uintptr_t fde = search_header(&file, (uintptr_t)object.dlfo_eh_frame, pc);
    if (fde == 0 || !read_fde(&file, fde, found) || pc < found->start ||
        pc >= found->end)
        return false;
    unwind->function = found->start;
    return true;
}
