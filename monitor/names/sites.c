/* sites.c - find and record sites, and check whether they still hold.
 *
 * A site holds for a generation (generation.h), and is checked again in the
 * next.  To check means to read the library's headers.  These cannot vanish
 * meanwhile: the thread is in the library's code, as that is on its stack.
 */
#include "monitor/names/sites.h"

#include <link.h>
#include <string.h>

#include "monitor/base/atomic.h"
#include "monitor/base/self.h"
#include "monitor/names/adapter.h"
#include "monitor/names/modules.h"
#include "monitor/names/names.h"
#include "monitor/unwind/generation.h"

/* The site of every new return address when there is no memory for more. */
static const struct mprof__site no_site;

struct range {
    uintptr_t start, end;
    bool found; /* something in it */
};

static bool in_range(uint64_t key, uint64_t value, void *data) {
    struct range *range = data;
    (void)value;
    key &= ~((uint64_t)1 << 63);
    if (key < range->start || key >= range->end)
        return false;
    range->found = true;
    return true;
}

/* Forget what is known of the code at START..END; under the lock. */
static void forget(struct mprof__names *names, uintptr_t start, uintptr_t end) {
    struct range range = {start, end, false};
    struct mprof__slot *slot = mprof__table_find(&names->modules, start);
    if (slot != NULL && (mprof_ref)slot->value != 0) {
        struct mprof_module *module =
            mprof__arena_at(names->arena, (mprof_ref)slot->value);
        module->flags |= MPROF_MODULE_UNLOADED;
    }
    mprof__table_sweep(&names->modules, in_range, &range);
    mprof__table_sweep(&names->functions, in_range, &range);
    mprof__table_sweep(&names->sites, in_range, &range);
    /* The threads forget what they know by return address. */
    if (range.found)
        mprof__modules_changed();
}

void mprof__names_unload(struct mprof__names *names, uintptr_t start,
                         uintptr_t end) {
    mprof__lock(&names->arena->lock);
    forget(names, start, end);
    mprof__unlock(&names->arena->lock);
}

/* Is the module of UNWIND the one that is recorded there?  If not, forget all
 * that is known of code in its place: of another one, or of parts of several.
 */
static bool is_current(struct mprof__names *names,
                       const struct mprof__unwind *unwind, uint32_t now) {
    if (unwind->module == NULL)
        return true;
    struct mprof__slot *slot =
        mprof__table_find(&names->modules, unwind->module_start);
    if (slot != NULL) {
        /* Without a record, for want of room, there is nothing to compare. */
        if (slot->value >> 32 == now || (mprof_ref)slot->value == 0)
            return true;
        const struct mprof_module *module =
            mprof__arena_at(names->arena, (mprof_ref)slot->value);
        if (mprof__module_is_still(names, module)) {
            slot->value =
                (uint64_t)mprof__holds_for(now) << 32 | (mprof_ref)slot->value;
            return true;
        }
        forget(names, module->start, module->end);
    }
    forget(names, unwind->module_start, unwind->module_end);
    return false;
}

static mprof_ref native_function(struct mprof__names *names,
                                 const struct mprof__unwind *unwind) {
    struct mprof__slot *slot =
        mprof__table_find(&names->functions, unwind->function);
    if (slot != NULL)
        return (mprof_ref)slot->value;
    struct mprof__name *name = mprof__name_new(names, MPROF_C);
    uint64_t address = unwind->function;
    mprof_ref module = 0;
    if (unwind->module != NULL) {
        mprof__adapter.native(unwind->function, unwind->module, name);
        module = mprof__module(names, unwind);
        address -= unwind->module->l_addr;
    } else {
        strcpy(name->symbol, MPROF__SIGNAL_RETURN);
    }
    mprof_ref ref = mprof__function_add(names, address, module, name);
    if (ref != 0)
        mprof__table_add(&names->functions, unwind->function, ref);
    return ref;
}

static bool find_rule(uintptr_t pc, bool exact, struct mprof__unwind *unwind) {
    if (mprof__cfi_find(exact ? pc : pc - 1, unwind))
        return true;
    /* makecontext() has functions return to one that never called. */
    if (exact || !mprof__cfi_find(pc, unwind) || unwind->function != pc)
        return false;
    unwind->rule.outermost = true;
    return true;
}

/* The SITE at PC; 0: no room. */
static mprof_ref record_site(struct mprof__names *names,
                             const struct mprof__site *site, uintptr_t pc) {
    struct mprof__arena *arena = names->arena;
    if (site->function == 0 ||
        !mprof__arena_has_room(arena, MPROF__FOR_COUNTERS))
        return 0;
    struct mprof_site *record =
        mprof__arena_record(arena, MPROF_SITE, sizeof *record);
    if (record == NULL)
        return 0;
    const struct mprof__slot *module =
        mprof__table_find(&names->modules, site->unwind.module_start);
    record->function = site->function;
    record->module = module == NULL ? 0 : (mprof_ref)module->value;
    record->return_address = pc;
    return mprof__arena_publish(arena, record);
}

static const struct mprof__site *
add_site(struct mprof__names *names, uintptr_t pc, bool exact, uint64_t key) {
    uint32_t now = mprof__this_generation();
    struct mprof__site *site = mprof__chunks_alloc(names->memory, sizeof *site);
    if (site == NULL)
        return &no_site;
    site->has_rule = find_rule(pc, exact, &site->unwind);
    if (site->has_rule) {
        site->interpreter = mprof__adapter.interprets(site->unwind.function);
    } else {
        /* Its start has no FDE: constructors are called from there. */
        site->beyond = site->unwind.module_start == _r_debug.r_ldbase;
        /* Its name is known by its symbol, if it has one. */
        site->unwind.function = pc - !exact;
    }
    if (site->has_rule || (site->unwind.module != NULL && !site->beyond)) {
        is_current(names, &site->unwind, now);
        site->function = native_function(names, &site->unwind);
    } else {
        site->function =
            mprof__function_special(names, MPROF_UNKNOWN, &names->unknown);
    }
    site->ref = record_site(names, site, pc);
    site->checked = mprof__holds_for(now);
    mprof__table_add(&names->sites, key, (uintptr_t)site);
    return site;
}

/* Is SITE, of another generation, still true? */
static bool is_true(struct mprof__names *names, struct mprof__site *site,
                    uintptr_t pc, bool exact) {
    uint32_t now = mprof__this_generation();
    struct mprof__unwind unwind;
    if (find_rule(pc, exact, &unwind) != site->has_rule ||
        unwind.module_start != site->unwind.module_start ||
        (unwind.module != NULL && !is_current(names, &unwind, now)))
        return false;
    mprof__store_release(&site->checked, mprof__holds_for(now));
    return true;
}

static const struct mprof__site *
look_up(struct mprof__names *names, uintptr_t pc, bool exact, uint64_t key) {
    struct mprof__slot *slot = mprof__table_find(&names->sites, key);
    if (slot == NULL)
        return add_site(names, pc, exact, key);
    struct mprof__site *site = (struct mprof__site *)(uintptr_t)slot->value;
    if (is_true(names, site, pc, exact))
        return site;
    forget(names, pc, pc + 1);
    return add_site(names, pc, exact, key);
}

const struct mprof__site *mprof__site_of(void *context, uintptr_t pc,
                                         bool exact) {
    struct mprof__names *names = context;
    uint64_t key = exact ? pc | (uint64_t)1 << 63 : pc;
    struct mprof__slot *slot = mprof__table_find(&names->sites, key);
    if (__builtin_expect(slot != NULL, 1)) {
        const struct mprof__site *site =
            (const struct mprof__site *)(uintptr_t)slot->value;
        if (__builtin_expect(mprof__load_acquire(&site->checked) ==
                                 mprof__this_generation(),
                             1))
            return site;
    }
    mprof__lock(&names->arena->lock);
    const struct mprof__site *site = look_up(names, pc, exact, key);
    mprof__unlock(&names->arena->lock);
    return site;
}
