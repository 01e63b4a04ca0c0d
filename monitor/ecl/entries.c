/* entries.c - see entries.h. */
#include "monitor/ecl/entries.h"

#include <stdbool.h>
#include <string.h>

#include "monitor/unwind/arch.h"
#include "monitor/unwind/cfi.h"

/* Search for the symbol of the first LENGTH characters of NAME and ENDING; the
 * C compiler may have appended a dot and more. */
struct find_other {
    const char *name;
    size_t length;
    const char *ending;
    uint64_t address; /* 0: there is none */
};

static int maybe_other(const char *name, uint64_t address, void *data) {
    struct find_other *find = data;
    size_t ending = strlen(find->ending);
    if (strncmp(name, find->name, find->length) != 0 ||
        strncmp(name + find->length, find->ending, ending) != 0)
        return 0;
    const char *rest = name + find->length + ending;
    if (rest[0] != '\0' && strncmp(rest, ".constprop.", 11) != 0 &&
        strncmp(rest, ".isra.", 6) != 0)
        return 0;
    find->address = address;
    return 1;
}

bool mprof__pair_by_symbols(const struct mprof__image *image, uintptr_t start,
                            uintptr_t bias, struct mprof__pair *pair) {
    static const char ending[] = "_va";
    const size_t more = sizeof ending - 1;
    const char *name = mprof__image_symbol_at(image, start - bias);
    if (name == NULL)
        return false;
    *pair = (struct mprof__pair){start, start};
    if (name[0] != 'L')
        return true;
    struct find_other other = {name, strcspn(name, "."), ending, 0};
    mprof__image_symbols(image, maybe_other, &other);
    if (other.address != 0) {
        pair->entry = bias + other.address;
    } else if (other.length > more &&
               strncmp(name + other.length - more, ending, more) == 0) {
        other.length -= more;
        other.ending = "";
        mprof__image_symbols(image, maybe_other, &other);
        if (other.address != 0)
            pair->body = bias + other.address;
    }
    return true;
}

/* An entry calls its body, and one function of the runtime where the number of
 * arguments is wrong; any other function calls more of those. */
uintptr_t mprof__body_by_code(uintptr_t entry) {
    enum { LONGEST = 512 };
    struct mprof__unwind around, there;
    uintptr_t body = 0, elsewhere = 0;
    if (!mprof__cfi_find(entry, &around) || around.function != entry ||
        around.module == NULL)
        return entry;
    for (uintptr_t at = entry;
         at < entry + LONGEST && at + MPROF__CALL_BYTES <= around.module_end;
         at += MPROF__CODE_STEP) {
        uintptr_t target = mprof__call_target(at);
        if (target < around.module_start || target >= around.module_end ||
            target == entry)
            continue;
        if (!mprof__cfi_find(at, &there) || there.function != entry)
            break;
        bool stub = mprof__is_stub(target);
        if (!stub &&
            (!mprof__cfi_find(target, &there) || there.function != target))
            continue;
        uintptr_t *called = stub ? &elsewhere : &body;
        if (*called != 0 && *called != target)
            return entry;
        *called = target;
    }
    return body != 0 ? body : entry;
}
