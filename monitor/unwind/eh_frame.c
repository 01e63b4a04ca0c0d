/* eh_frame.c - find the FDE for an address; see eh_frame.h. */
#define _GNU_SOURCE
#include "monitor/unwind/eh_frame.h"

#include <dlfcn.h>
#include <string.h>

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
static bool encoded(const uint8_t **p, uint8_t encoding, uintptr_t data_base,
                    uintptr_t *value) {
    uintptr_t here = (uintptr_t)*p;
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
    return !(encoding & DW_EH_PE_indirect);
}

/* The FDE whose function may contain PC: the last that starts at or before. */
static const uint8_t *search_header(const uint8_t *header, uintptr_t pc) {
    const uint8_t *p = header;
    uintptr_t frame, count;
    if (p[0] != 1 || p[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
        return NULL;
    uint8_t frame_encoding = p[1], count_encoding = p[2];
    p += 4;
    if (!encoded(&p, frame_encoding, (uintptr_t)header, &frame) ||
        count_encoding == DW_EH_PE_omit ||
        !encoded(&p, count_encoding, (uintptr_t)header, &count) || count == 0)
        return NULL;
    const struct { int32_t start, fde; } *table = (const void *)p;
    int64_t wanted = (int64_t)(pc - (uintptr_t)header);
    if (wanted < table[0].start)
        return NULL;
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (table[middle].start <= wanted)
            low = middle;
        else
            high = middle;
    }
    return header + table[low].fde;
}

static bool read_cie(const uint8_t *cie, struct mprof__fde *found,
                     uint8_t *pointer_encoding, bool *augmented) {
    const uint8_t *p = cie;
    uint32_t length = MPROF__TAKE(uint32_t, &p);
    if (length == 0 || length == 0xffffffff)
        return false;
    found->cie_end = p + length;
    if (MPROF__TAKE(uint32_t, &p) != 0)
        return false;
    uint8_t version = *p++;
    const char *augmentation = (const char *)p;
    p += strlen(augmentation) + 1;
    if (version != 1 && version != 3)
        return false;
    found->code_align = mprof__uleb(&p);
    found->data_align = mprof__sleb(&p);
    found->return_column = version == 1 ? *p++ : mprof__uleb(&p);
    *pointer_encoding = DW_EH_PE_absptr;
    *augmented = augmentation[0] == 'z';
    if (!*augmented) {
        found->cie = p;
        return augmentation[0] == '\0';
    }
    uint64_t size = mprof__uleb(&p);
    found->cie = p + size;
    for (const char *a = augmentation + 1; *a != '\0'; a++) {
        uintptr_t ignored;
        uint8_t encoding;
        switch (*a) {
        case 'R':
            *pointer_encoding = *p++;
            break;
        case 'P':
            encoding = *p++ & (uint8_t)~DW_EH_PE_indirect;
            if (!encoded(&p, encoding, 0, &ignored))
                return false;
            break;
        case 'L':
            p++;
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
    return true;
}

static bool read_fde(const uint8_t *fde, struct mprof__fde *found) {
    const uint8_t *p = fde;
    uint32_t length = MPROF__TAKE(uint32_t, &p);
    if (length == 0 || length == 0xffffffff)
        return false;
    found->fde_end = p + length;
    const uint8_t *cie = p;
    uint32_t back = MPROF__TAKE(uint32_t, &p);
    uint8_t encoding;
    bool augmented;
    if (back == 0 || !read_cie(cie - back, found, &encoding, &augmented))
        return false;
    uintptr_t size;
    if (!encoded(&p, encoding, 0, &found->start) ||
        !encoded(&p, encoding & 0x0f, 0, &size))
        return false;
    found->end = found->start + size;
    if (augmented) {
        uint64_t bytes = mprof__uleb(&p);
        p += bytes;
    }
    found->fde = p;
    return true;
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
    const uint8_t *fde = search_header(object.dlfo_eh_frame, pc);
    if (fde == NULL || !read_fde(fde, found) || pc < found->start ||
        pc >= found->end)
        return false;
    unwind->function = found->start;
    return true;
}
