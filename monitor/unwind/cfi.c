/* cfi.c - run the programs of .eh_frame; see cfi.h. */
#include "monitor/unwind/cfi.h"

#include <string.h>

#include "monitor/unwind/arch.h"
#include "monitor/unwind/eh_frame.h"

enum {
    DW_OP_lit0 = 0x30,
    DW_OP_deref = 0x06,
    DW_OP_breg0 = 0x70,
    DW_OP_breg31 = 0x8f,
    DW_CFA_def_cfa_offset = 0x0e
};

/* Where a register of the caller is. */
enum saved { SAME, AT_CFA, AT_REGISTER, UNDEFINED, NOT_UNDERSTOOD };

struct row {
    int cfa_register; /* DWARF number; -1 when not understood */
    bool cfa_deref;
    int64_t cfa_offset;
    bool ra_signed;
    struct {
        enum saved how;
        int base; /* AT_REGISTER */
        int64_t offset;
    } bp, ra;
};

/* Expressions of the two forms that compilers write: register + offset, and
 * the word stored there. */
static bool simple_expression(struct mprof__cursor *p, int *base,
                              int64_t *offset, bool *deref) {
    uint64_t length = mprof__uleb(p);
    struct mprof__cursor q = *p;
    mprof__skip(p, length);
    if (p->bad)
        return false;
    q.end = p->at;
    uint8_t operation = MPROF__TAKE(uint8_t, &q);
    *base = operation - DW_OP_breg0;
    *offset = mprof__sleb(&q);
    *deref = q.at < q.end && *q.at == DW_OP_deref;
    return !q.bad && (*base == MPROF__DW_SP || *base == MPROF__DW_BP) &&
           q.at + (*deref ? 1 : 0) == q.end;
}

static void set_saved(struct row *row, uint64_t reg, enum saved how, int base,
                      int64_t offset) {
    if (reg == MPROF__DW_BP) {
        row->bp.how = how;
        row->bp.base = base;
        row->bp.offset = offset;
    } else if (reg == MPROF__DW_RA) {
        row->ra.how = how;
        row->ra.base = base;
        row->ra.offset = offset;
    }
}

static void restore(struct row *row, const struct row *initial, uint64_t reg) {
    if (reg == MPROF__DW_BP)
        row->bp = initial->bp;
    else if (reg == MPROF__DW_RA)
        row->ra = initial->ra;
}

/* Remembered ones in remembered ones: compilers write one, and the stack may be
 * nearly full. */
enum { STATES = 4 };

struct machine {
    struct row row, initial, stack[STATES];
    unsigned depth;
    uintptr_t location, pc;
    const struct mprof__fde *fde;
};

static void saved_by_expression(struct machine *m, struct mprof__cursor *p,
                                bool is_value) {
    uint64_t reg = mprof__uleb(p);
    int base;
    int64_t offset;
    bool deref;
    bool simple = simple_expression(p, &base, &offset, &deref);
    if (simple && !deref && !is_value)
        set_saved(&m->row, reg, AT_REGISTER, base, offset);
    else
        set_saved(&m->row, reg, NOT_UNDERSTOOD, 0, 0);
}

/* Read the expression that linkers write for .plt of x86-64, where each stub
 * pushes a word at its 6th or 11th byte: rsp + 8 + ((rip & 15) >= N) * 8. */
static bool plt_expression(struct machine *m, struct mprof__cursor *p) {
    static const uint8_t start[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a};
    static const uint8_t end[] = {0x2a, 0x33, 0x24, 0x22};
    enum { BYTES = sizeof start + 1 + sizeof end };
    struct mprof__cursor q = *p;
    if (mprof__uleb(&q) != BYTES || !mprof__has_bytes(&q, BYTES) ||
        memcmp(q.at, start, sizeof start) != 0 ||
        memcmp(q.at + sizeof start + 1, end, sizeof end) != 0)
        return false;
    uint8_t literal = q.at[sizeof start];
    if (literal < DW_OP_lit0 || literal > DW_OP_lit0 + 15)
        return false;
    m->row.cfa_register = MPROF__DW_SP;
    m->row.cfa_deref = false;
    m->row.cfa_offset =
        (m->pc & 15) >= (uintptr_t)(literal - DW_OP_lit0) ? 16 : 8;
    mprof__skip(&q, BYTES);
    *p = q;
    return true;
}

/* FACTOR times the alignment of data, whatever damaged tables say. */
static int64_t aligned(const struct machine *m, uint64_t factor) {
    return (int64_t)(factor * (uint64_t)m->fde->data_align);
}

/* The instructions that define the CFA.  False: not one of them. */
static bool step_cfa(struct machine *m, uint8_t op, struct mprof__cursor *p) {
    struct row *row = &m->row;
    switch (op) {
    case 0x0c: /* DW_CFA_def_cfa */
        row->cfa_register = (int)mprof__uleb(p);
        row->cfa_offset = (int64_t)mprof__uleb(p);
        row->cfa_deref = false;
        return true;
    case 0x0d: /* DW_CFA_def_cfa_register */
        row->cfa_register = (int)mprof__uleb(p);
        return true;
    case DW_CFA_def_cfa_offset:
        row->cfa_offset = (int64_t)mprof__uleb(p);
        return true;
    case 0x12: /* DW_CFA_def_cfa_sf */
        row->cfa_register = (int)mprof__uleb(p);
        row->cfa_offset = aligned(m, (uint64_t)mprof__sleb(p));
        row->cfa_deref = false;
        return true;
    case 0x13: /* DW_CFA_def_cfa_offset_sf */
        row->cfa_offset = aligned(m, (uint64_t)mprof__sleb(p));
        return true;
    case 0x0f: /* DW_CFA_def_cfa_expression */
        if (!(MPROF__PLT_PUSHES && plt_expression(m, p)) &&
            !simple_expression(p, &row->cfa_register, &row->cfa_offset,
                               &row->cfa_deref))
            row->cfa_register = -1;
        return true;
    default:
        return false;
    }
}

/* The instructions that say where a register is.  False: not one of them. */
static bool step_register(struct machine *m, uint8_t op,
                          struct mprof__cursor *p) {
    uint64_t reg;
    switch (op) {
    case 0x05: /* DW_CFA_offset_extended */
    case 0x11: /* DW_CFA_offset_extended_sf */
        reg = mprof__uleb(p);
        set_saved(&m->row, reg, AT_CFA, 0,
                  aligned(m, mprof__leb(p, op == 0x11)));
        return true;
    case 0x06: /* DW_CFA_restore_extended */
        restore(&m->row, &m->initial, mprof__uleb(p));
        return true;
    case 0x07: /* DW_CFA_undefined */
        set_saved(&m->row, mprof__uleb(p), UNDEFINED, 0, 0);
        return true;
    case 0x08: /* DW_CFA_same_value */
        set_saved(&m->row, mprof__uleb(p), SAME, 0, 0);
        return true;
    case 0x09: /* DW_CFA_register */
    case 0x14: /* DW_CFA_val_offset */
    case 0x15: /* DW_CFA_val_offset_sf */
        reg = mprof__uleb(p);
        mprof__uleb(p);
        set_saved(&m->row, reg, NOT_UNDERSTOOD, 0, 0);
        return true;
    case 0x10: /* DW_CFA_expression */
    case 0x16: /* DW_CFA_val_expression */
        saved_by_expression(m, p, op == 0x16);
        return true;
    default:
        return false;
    }
}

/* Advance, remember, restore, padding.  False: unknown instruction. */
static bool step_other(struct machine *m, uint8_t op, struct mprof__cursor *p) {
    uint64_t align = m->fde->code_align;
    switch (op) {
    case 0x00: /* DW_CFA_nop */
        return true;
    case 0x01: /* DW_CFA_set_loc */
        return false;
    case 0x02: /* DW_CFA_advance_loc1 */
        m->location += MPROF__TAKE(uint8_t, p) * align;
        return true;
    case 0x03:
        m->location += MPROF__TAKE(uint16_t, p) * align;
        return true;
    case 0x04:
        m->location += MPROF__TAKE(uint32_t, p) * align;
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
    case 0x2d: /* DW_CFA_AARCH64_negate_ra_state */
        m->row.ra_signed = !m->row.ra_signed;
        return MPROF__SIGNS_RETURNS;
    case 0x2e: /* DW_CFA_GNU_args_size */
        mprof__uleb(p);
        return true;
    default:
        return false;
    }
}

static bool step(struct machine *m, uint8_t op, struct mprof__cursor *p) {
    switch (op >> 6) {
    case 1: /* DW_CFA_advance_loc */
        m->location += (op & 0x3f) * m->fde->code_align;
        return true;
    case 2: /* DW_CFA_offset */
        set_saved(&m->row, op & 0x3f, AT_CFA, 0, aligned(m, mprof__uleb(p)));
        return true;
    case 3: /* DW_CFA_restore */
        restore(&m->row, &m->initial, op & 0x3f);
        return true;
    default:
        return step_cfa(m, op, p) || step_register(m, op, p) ||
               step_other(m, op, p);
    }
}

/* Nearly all instructions come in pairs: at the end of a function, one for each
 * register that it takes back.  Go on behind those.  False: beyond `pc`. */
static bool run_pairs(struct machine *m, struct mprof__cursor *p) {
    const uintptr_t align = m->fde->code_align, pc = m->pc;
    uintptr_t location = m->location;
    const uint8_t *at = p->at;
    for (; p->end - at > 2; at += 3) {
        if (at[0] >> 6 != 1 || at[1] != DW_CFA_def_cfa_offset || at[2] > 0x7f)
            break;
        location += (at[0] & 0x3f) * align;
        if (location > pc)
            return false;
        m->row.cfa_offset = at[2];
    }
    p->at = at;
    m->location = location;
    return true;
}

static bool run(struct machine *m, struct mprof__cursor p) {
    while (run_pairs(m, &p) && p.at < p.end) {
        uintptr_t location = m->location;
        uint8_t op = MPROF__TAKE(uint8_t, &p);
        if (!step(m, op, &p) || p.bad)
            return false;
        if (m->location != location && m->location > m->pc)
            return true;
    }
    return true;
}

static int base_of(int reg) {
    return reg == MPROF__DW_SP   ? MPROF__SP
           : reg == MPROF__DW_BP ? MPROF__BP
                                 : -1;
}

/* The return address is never in the caller's frame.  But the C library's lazy
 * binding says so on aarch64: its table forgets what .plt pushed. */
static bool forgets(const struct row *row) {
    return MPROF__HAS_LR && row->ra.how == AT_CFA && row->ra.offset >= 0;
}

/* Such a table has the return address at RA_OFFSET. */
static void raise_cfa(struct mprof__rule *rule, int64_t ra_offset) {
    /* Unsigned, as damaged tables may contain any number. */
    uint32_t forgotten = (uint32_t)ra_offset + sizeof(uintptr_t);
    rule->cfa_offset = (int32_t)((uint32_t)rule->cfa_offset + forgotten);
    rule->ra_offset = (int32_t)((uint32_t)rule->ra_offset - forgotten);
    if (rule->bp_base == MPROF__CFA)
        rule->bp_offset = (int32_t)((uint32_t)rule->bp_offset - forgotten);
    /* Behind the instruction that took it back, it is below the stack. */
    if (rule->cfa_base == MPROF__SP && rule->cfa_offset <= 0)
        rule->ra_in_lr = true;
}

static bool make_rule(const struct row *row, bool signal,
                      struct mprof__rule *rule) {
    rule->signal = signal;
    if (row->ra.how == UNDEFINED) {
        rule->outermost = true;
        return true;
    }
    int base = base_of(row->cfa_register);
    rule->ra_in_lr = MPROF__HAS_LR && row->ra.how == SAME;
    if (base < 0 || row->bp.how == NOT_UNDERSTOOD ||
        (row->ra.how != AT_CFA && row->ra.how != AT_REGISTER &&
         !rule->ra_in_lr))
        return false;
    /* The return instruction expects it there, whatever the tables say. */
    if (MPROF__RETURN_OFFSET != 0 && !signal && row->ra.how == AT_CFA &&
        row->ra.offset != MPROF__RETURN_OFFSET)
        return false;
    rule->cfa_base = (uint8_t)base;
    rule->cfa_deref = row->cfa_deref;
    rule->cfa_offset = (int32_t)row->cfa_offset;
    rule->ra_base = row->ra.how == AT_REGISTER ? (uint8_t)base_of(row->ra.base)
                                               : MPROF__CFA;
    rule->ra_offset = (int32_t)row->ra.offset;
    rule->ra_signed = row->ra_signed;
    rule->bp_saved = row->bp.how == AT_CFA || row->bp.how == AT_REGISTER;
    rule->bp_base =
        row->bp.how == AT_CFA ? MPROF__CFA : (uint8_t)base_of(row->bp.base);
    rule->bp_offset = (int32_t)row->bp.offset;
    if (!signal && forgets(row))
        raise_cfa(rule, row->ra.offset);
    return true;
}

/* The row of FDE for the instruction at PC in M. */
static bool find_row(const struct mprof__fde *fde, uintptr_t pc,
                     struct machine *m) {
    *m = (struct machine){.fde = fde, .pc = pc};
    m->row.cfa_register = -1;
    m->location = fde->start;
    if (!run(m, fde->cie))
        return false;
    m->initial = m->row;
    return run(m, fde->fde);
}

bool mprof__cfi_find(uintptr_t pc, struct mprof__unwind *unwind) {
    struct mprof__fde fde;
    bool found = mprof__eh_find(pc, unwind, &fde);
    if ((!found || fde.signal) && mprof__bare_rule(pc, unwind))
        return true;
    if (!found || fde.return_column != MPROF__DW_RA)
        return false;
    struct machine m;
    if (!find_row(&fde, pc, &m) ||
        !make_rule(&m.row, fde.signal, &unwind->rule))
        return false;
    /* An incomplete table is right at the first instruction at least. */
    if (unwind->rule.ra_in_lr && pc == fde.start && !fde.signal &&
        find_row(&fde, pc + 4, &m) && forgets(&m.row))
        raise_cfa(&unwind->rule, m.row.ra.offset);
    return true;
}
