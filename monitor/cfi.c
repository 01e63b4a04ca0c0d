/* cfi.c - read .eh_frame; see cfi.h.  x86-64 only. */
#define _GNU_SOURCE
#include "cfi.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* DWARF numbers of the registers, System V ABI for AMD64, figure 3.36. */
enum { DW_RBP = 6, DW_RSP = 7, DW_RA = 16 };

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

enum {
    DW_OP_lit0 = 0x30,
    DW_OP_deref = 0x06,
    DW_OP_breg0 = 0x70,
    DW_OP_breg31 = 0x8f
};

/* Where a register of the caller is. */
enum saved { SAME, AT_CFA, AT_REGISTER, UNDEFINED, NOT_UNDERSTOOD };

struct row {
    int cfa_register; /* DWARF number; -1 when not understood */
    bool cfa_deref;
    int64_t cfa_offset;
    struct {
        enum saved how;
        int base; /* AT_REGISTER */
        int64_t offset;
    } bp, ra;
};

struct program {
    const uint8_t *cie, *cie_end; /* initial instructions */
    const uint8_t *fde, *fde_end;
    uint64_t code_align;
    int64_t data_align;
    uintptr_t start, end; /* of the function */
    bool signal;
};

static uint64_t uleb(const uint8_t **p) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = *(*p)++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return value;
}

static int64_t sleb(const uint8_t **p) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = *(*p)++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

#define TAKE(type, p)                                                          \
    ({                                                                         \
        type value_;                                                           \
        memcpy(&value_, *(p), sizeof value_);                                  \
        *(p) += sizeof value_;                                                 \
        value_;                                                                \
    })

/* Read a pointer in one of the encodings that linkers write. */
static bool encoded(const uint8_t **p, uint8_t encoding, uintptr_t data_base,
                    uintptr_t *value) {
    uintptr_t here = (uintptr_t)*p;
    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        *value = TAKE(uint64_t, p);
        break;
    case DW_EH_PE_udata4:
        *value = TAKE(uint32_t, p);
        break;
    case DW_EH_PE_sdata4:
        *value = (uintptr_t)(intptr_t)TAKE(int32_t, p);
        break;
    case DW_EH_PE_udata2:
        *value = TAKE(uint16_t, p);
        break;
    case DW_EH_PE_sdata2:
        *value = (uintptr_t)(intptr_t)TAKE(int16_t, p);
        break;
    case DW_EH_PE_uleb128:
        *value = uleb(p);
        break;
    case DW_EH_PE_sleb128:
        *value = (uintptr_t)sleb(p);
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

static bool read_cie(const uint8_t *cie, struct program *program,
                     uint8_t *pointer_encoding, bool *augmented) {
    const uint8_t *p = cie;
    uint32_t length = TAKE(uint32_t, &p);
    if (length == 0 || length == 0xffffffff)
        return false;
    program->cie_end = p + length;
    if (TAKE(uint32_t, &p) != 0)
        return false;
    uint8_t version = *p++;
    const char *augmentation = (const char *)p;
    p += strlen(augmentation) + 1;
    if (version != 1 && version != 3)
        return false;
    program->code_align = uleb(&p);
    program->data_align = sleb(&p);
    if ((version == 1 ? *p++ : uleb(&p)) != DW_RA)
        return false;
    *pointer_encoding = DW_EH_PE_absptr;
    *augmented = augmentation[0] == 'z';
    if (!*augmented) {
        program->cie = p;
        return augmentation[0] == '\0';
    }
    uint64_t size = uleb(&p);
    program->cie = p + size;
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
            program->signal = true;
            break;
        default:
            return false;
        }
    }
    return true;
}

static bool read_fde(const uint8_t *fde, struct program *program) {
    const uint8_t *p = fde;
    uint32_t length = TAKE(uint32_t, &p);
    if (length == 0 || length == 0xffffffff)
        return false;
    program->fde_end = p + length;
    const uint8_t *cie = p;
    uint32_t back = TAKE(uint32_t, &p);
    uint8_t encoding;
    bool augmented;
    if (back == 0 || !read_cie(cie - back, program, &encoding, &augmented))
        return false;
    uintptr_t size;
    if (!encoded(&p, encoding, 0, &program->start) ||
        !encoded(&p, encoding & 0x0f, 0, &size))
        return false;
    program->end = program->start + size;
    if (augmented) {
        uint64_t bytes = uleb(&p);
        p += bytes;
    }
    program->fde = p;
    return true;
}

/* Expressions of the two forms that compilers write: register + offset, and
 * the word stored there. */
static bool simple_expression(const uint8_t **p, int *base, int64_t *offset,
                              bool *deref) {
    uint64_t length = uleb(p);
    const uint8_t *q = *p, *end = *p + length;
    *p = end;
    if (q == end || *q < DW_OP_breg0 || *q > DW_OP_breg31)
        return false;
    *base = *q++ - DW_OP_breg0;
    *offset = sleb(&q);
    *deref = q < end && *q == DW_OP_deref;
    return (*base == DW_RSP || *base == DW_RBP) && q + (*deref ? 1 : 0) == end;
}

static void set_saved(struct row *row, uint64_t reg, enum saved how, int base,
                      int64_t offset) {
    if (reg == DW_RBP) {
        row->bp.how = how;
        row->bp.base = base;
        row->bp.offset = offset;
    } else if (reg == DW_RA) {
        row->ra.how = how;
        row->ra.base = base;
        row->ra.offset = offset;
    }
}

static void restore(struct row *row, const struct row *initial, uint64_t reg) {
    if (reg == DW_RBP)
        row->bp = initial->bp;
    else if (reg == DW_RA)
        row->ra = initial->ra;
}

enum { STATES = 16 };

struct machine {
    struct row row, initial, stack[STATES];
    unsigned depth;
    uintptr_t location, pc;
    const struct program *program;
};

static void saved_by_expression(struct machine *m, const uint8_t **p,
                                bool is_value) {
    uint64_t reg = uleb(p);
    int base;
    int64_t offset;
    bool deref;
    bool simple = simple_expression(p, &base, &offset, &deref);
    if (simple && !deref && !is_value)
        set_saved(&m->row, reg, AT_REGISTER, base, offset);
    else
        set_saved(&m->row, reg, NOT_UNDERSTOOD, 0, 0);
}

/* What linkers write for .plt, where each entry pushes a word at its 6th or
 * 11th byte: rsp + 8 + ((rip & 15) >= N) * 8. */
static bool plt_expression(struct machine *m, const uint8_t **p) {
    static const uint8_t start[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a};
    static const uint8_t end[] = {0x2a, 0x33, 0x24, 0x22};
    const uint8_t *q = *p;
    if (uleb(&q) != sizeof start + 1 + sizeof end ||
        memcmp(q, start, sizeof start) != 0 ||
        memcmp(q + sizeof start + 1, end, sizeof end) != 0)
        return false;
    uint8_t literal = q[sizeof start];
    if (literal < DW_OP_lit0 || literal > DW_OP_lit0 + 15)
        return false;
    m->row.cfa_register = DW_RSP;
    m->row.cfa_deref = false;
    m->row.cfa_offset =
        (m->pc & 15) >= (uintptr_t)(literal - DW_OP_lit0) ? 16 : 8;
    *p = q + sizeof start + 1 + sizeof end;
    return true;
}

static void cfa_by_expression(struct machine *m, const uint8_t **p) {
    if (plt_expression(m, p))
        return;
    if (!simple_expression(p, &m->row.cfa_register, &m->row.cfa_offset,
                           &m->row.cfa_deref))
        m->row.cfa_register = -1;
}

/* The instructions that define the CFA.  False: not one of them. */
static bool step_cfa(struct machine *m, uint8_t op, const uint8_t **p) {
    struct row *row = &m->row;
    switch (op) {
    case 0x0c: /* DW_CFA_def_cfa */
        row->cfa_register = (int)uleb(p);
        row->cfa_offset = (int64_t)uleb(p);
        row->cfa_deref = false;
        return true;
    case 0x0d: /* DW_CFA_def_cfa_register */
        row->cfa_register = (int)uleb(p);
        return true;
    case 0x0e: /* DW_CFA_def_cfa_offset */
        row->cfa_offset = (int64_t)uleb(p);
        return true;
    case 0x12: /* DW_CFA_def_cfa_sf */
        row->cfa_register = (int)uleb(p);
        row->cfa_offset = sleb(p) * m->program->data_align;
        row->cfa_deref = false;
        return true;
    case 0x13: /* DW_CFA_def_cfa_offset_sf */
        row->cfa_offset = sleb(p) * m->program->data_align;
        return true;
    case 0x0f: /* DW_CFA_def_cfa_expression */
        cfa_by_expression(m, p);
        return true;
    default:
        return false;
    }
}

/* The instructions that say where a register is.  False: not one of them. */
static bool step_register(struct machine *m, uint8_t op, const uint8_t **p) {
    int64_t align = m->program->data_align;
    uint64_t reg;
    switch (op) {
    case 0x05: /* DW_CFA_offset_extended */
        reg = uleb(p);
        set_saved(&m->row, reg, AT_CFA, 0, (int64_t)uleb(p) * align);
        return true;
    case 0x11: /* DW_CFA_offset_extended_sf */
        reg = uleb(p);
        set_saved(&m->row, reg, AT_CFA, 0, sleb(p) * align);
        return true;
    case 0x06: /* DW_CFA_restore_extended */
        restore(&m->row, &m->initial, uleb(p));
        return true;
    case 0x07: /* DW_CFA_undefined */
        set_saved(&m->row, uleb(p), UNDEFINED, 0, 0);
        return true;
    case 0x08: /* DW_CFA_same_value */
        set_saved(&m->row, uleb(p), SAME, 0, 0);
        return true;
    case 0x09: /* DW_CFA_register */
    case 0x14: /* DW_CFA_val_offset */
    case 0x15: /* DW_CFA_val_offset_sf */
        reg = uleb(p);
        uleb(p);
        set_saved(&m->row, reg, NOT_UNDERSTOOD, 0, 0);
        return true;
    case 0x10: /* DW_CFA_expression */
        saved_by_expression(m, p, false);
        return true;
    case 0x16: /* DW_CFA_val_expression */
        saved_by_expression(m, p, true);
        return true;
    default:
        return false;
    }
}

/* Advance, remember, restore, padding.  False: unknown instruction. */
static bool step_other(struct machine *m, uint8_t op, const uint8_t **p) {
    uint64_t align = m->program->code_align;
    switch (op) {
    case 0x00: /* DW_CFA_nop */
        return true;
    case 0x01: /* DW_CFA_set_loc */
        return false;
    case 0x02: /* DW_CFA_advance_loc1 */
        m->location += TAKE(uint8_t, p) * align;
        return true;
    case 0x03:
        m->location += TAKE(uint16_t, p) * align;
        return true;
    case 0x04:
        m->location += TAKE(uint32_t, p) * align;
        return true;
    case 0x0a: /* DW_CFA_remember_state */
        if (m->depth == STATES)
            return false;
        m->stack[m->depth++] = m->row;
        return true;
    case 0x0b: /* DW_CFA_restore_state */
        if (m->depth == 0)
            return false;
        m->row = m->stack[--m->depth];
        return true;
    case 0x2e: /* DW_CFA_GNU_args_size */
        uleb(p);
        return true;
    default:
        return false;
    }
}

static bool run(struct machine *m, const uint8_t *p, const uint8_t *end) {
    while (p < end) {
        uintptr_t location = m->location;
        uint8_t op = *p++;
        switch (op >> 6) {
        case 1: /* DW_CFA_advance_loc */
            m->location += (op & 0x3f) * m->program->code_align;
            break;
        case 2: /* DW_CFA_offset */
            set_saved(&m->row, op & 0x3f, AT_CFA, 0,
                      (int64_t)uleb(&p) * m->program->data_align);
            break;
        case 3: /* DW_CFA_restore */
            restore(&m->row, &m->initial, op & 0x3f);
            break;
        default:
            if (!step_cfa(m, op, &p) && !step_register(m, op, &p) &&
                !step_other(m, op, &p))
                return false;
        }
        if (m->location != location && m->location > m->pc)
            return true;
    }
    return true;
}

static int base_of(int reg) {
    return reg == DW_RSP ? MPROF__SP : reg == DW_RBP ? MPROF__BP : -1;
}

static bool make_rule(const struct row *row, bool signal,
                      struct mprof__rule *rule) {
    memset(rule, 0, sizeof *rule);
    rule->signal = signal;
    if (row->ra.how == UNDEFINED) {
        rule->outermost = true;
        return true;
    }
    int base = base_of(row->cfa_register);
    if (base < 0 || (row->ra.how != AT_CFA && row->ra.how != AT_REGISTER) ||
        row->bp.how == NOT_UNDERSTOOD)
        return false;
    rule->cfa_base = (uint8_t)base;
    rule->cfa_deref = row->cfa_deref;
    rule->cfa_offset = (int32_t)row->cfa_offset;
    rule->ra_base =
        row->ra.how == AT_CFA ? MPROF__CFA : (uint8_t)base_of(row->ra.base);
    rule->ra_offset = (int32_t)row->ra.offset;
    rule->bp_saved = row->bp.how == AT_CFA || row->bp.how == AT_REGISTER;
    rule->bp_base =
        row->bp.how == AT_CFA ? MPROF__CFA : (uint8_t)base_of(row->bp.base);
    rule->bp_offset = (int32_t)row->bp.offset;
    return true;
}

bool mprof__cfi_find(uintptr_t pc, struct mprof__unwind *unwind) {
    memset(unwind, 0, sizeof *unwind);
    struct dl_find_object object;
    if (_dl_find_object((void *)pc, &object) != 0)
        return false;
    unwind->module_start = (uintptr_t)object.dlfo_map_start;
    unwind->module_end = (uintptr_t)object.dlfo_map_end;
    unwind->module = object.dlfo_link_map;
    if (object.dlfo_eh_frame == NULL)
        return false;
    const uint8_t *fde = search_header(object.dlfo_eh_frame, pc);
    struct program program = {0};
    if (fde == NULL || !read_fde(fde, &program) || pc < program.start ||
        pc >= program.end)
        return false;
    unwind->function = program.start;
    struct machine m = {.program = &program, .pc = pc};
    m.row.cfa_register = -1;
    m.location = program.start;
    if (!run(&m, program.cie, program.cie_end))
        return false;
    m.initial = m.row;
    if (!run(&m, program.fde, program.fde_end))
        return false;
    return make_rule(&m.row, program.signal, &unwind->rule);
}
