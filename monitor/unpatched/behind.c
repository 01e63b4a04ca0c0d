/* behind.c - the functions behind ours, and the code of libecl. */
#define _GNU_SOURCE
#include "monitor/unpatched/unpatched.h"

#include <dlfcn.h>
#include <link.h>

const struct ecl_monitor *mprof__unpatched_monitor;
struct mprof__code mprof__libecl;

void *mprof__behind(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

struct mprof__code mprof__code_of(const char *name) {
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    void *start = mprof__behind(name);
    if (start == NULL ||
        dladdr1(start, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 ||
        symbol == NULL || info.dli_saddr != start)
        return (struct mprof__code){0, 0};
    return (struct mprof__code){(uintptr_t)start,
                                (uintptr_t)start + symbol->st_size};
}

/* The code of the library that has the address START of *CODE. */
static int find_segment(struct dl_phdr_info *info, size_t size, void *code_) {
    struct mprof__code *code = code_;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        const struct mprof__code whole = {start, start + segment->p_memsz};
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) &&
            mprof__is_in(&whole, code->start)) {
            *code = whole;
            return 1;
        }
    }
    return 0;
}

bool mprof__find_libecl(void) {
    mprof__libecl.start = (uintptr_t)mprof__behind("ecl_cons");
    return dl_iterate_phdr(find_segment, &mprof__libecl) != 0;
}
