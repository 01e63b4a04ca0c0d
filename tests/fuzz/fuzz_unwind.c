/* fuzz_unwind.c - the unwind tables of a loaded file.
 *
 * The bytes after struct input are what the loader has put into memory, up to
 * an end behind which there is nothing; in between there may be a part that
 * cannot be read.  This program takes the place of the loader's table, and says
 * that .eh_frame_hdr is there.
 */
#define _GNU_SOURCE
#include "tests/fuzz/fuzz.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "monitor/unwind/arch.h"
#include "monitor/unwind/cfi.h"
#include "monitor/unwind/eh_frame.h"

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#endif

/* WHOLE: the file is taken as one, as it has no ELF header in memory.  SPLIT:
 * there is a gap between two segments.  UNREADABLE: ... which is one, too. */
enum { WHOLE = 1, SPLIT = 2, UNREADABLE = 4 };

struct input {
    uint8_t how;
    uint8_t gap;     /* its bytes */
    uint16_t gap_at; /* where, in the bytes that follow */
    uint16_t header; /* where .eh_frame_hdr is in them */
    uint16_t pad;
    int32_t pc; /* from .eh_frame_hdr on */
};

enum { PAGE = 4096, ROOM = 32 * PAGE };

/* ROOM bytes, and a page that is not there behind them.  Always at one address:
 * in tables there may be absolute ones. */
static unsigned char *room(void) {
    static unsigned char *start;
    void *wanted = (void *)((uintptr_t)1 << 44);
    if (start)
        return start;
    start = mmap(wanted, ROOM + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                 -1, 0);
    FUZZ_EXPECT(start != MAP_FAILED);
    FUZZ_EXPECT(mprotect(start, ROOM, PROT_READ | PROT_WRITE) == 0);
    return start;
}

static void *asked; /* the answer for this address is ours */
static struct dl_find_object answer;
static struct link_map map;

/* In place of the C library's. */
int _dl_find_object(void *pc, struct dl_find_object *result) {
    int (*real)(void *, struct dl_find_object *);
    if (asked != NULL && pc == asked) {
        *result = answer;
        return 0;
    }
    void *symbol = dlsym(RTLD_NEXT, "_dl_find_object");
    memcpy(&real, &symbol, sizeof real);
    return real ? real(pc, result) : -1;
}

static void add_segment(ElfW(Ehdr) * elf, uintptr_t start, uintptr_t end,
                        unsigned flags) {
    ElfW(Phdr) *header = (ElfW(Phdr) *)(elf + 1) + elf->e_phnum++;
    *header = (ElfW(Phdr)){.p_type = PT_LOAD,
                           .p_flags = flags,
                           .p_vaddr = start - (uintptr_t)elf,
                           .p_memsz = end - start};
}

/* The first page of the file, and its segments between START and END. */
static void make_headers(const struct input *input, uintptr_t start,
                         uintptr_t end) {
    unsigned char *page = room();
    ElfW(Ehdr) *elf = (ElfW(Ehdr) *)page;
    uintptr_t gap_start = end, gap_end = end;
    if (input->how & SPLIT && input->gap_at < end - start) {
        gap_start = start + input->gap_at;
        gap_end = end - gap_start < input->gap ? end : gap_start + input->gap;
    }
    memset(page, 0, PAGE);
    if (input->how & WHOLE)
        return;
    memcpy(elf->e_ident, ELFMAG, SELFMAG);
    elf->e_ident[EI_CLASS] = ELFCLASS64;
    elf->e_phentsize = sizeof(ElfW(Phdr));
    elf->e_phoff = sizeof *elf;
    add_segment(elf, start, gap_start, PF_R | PF_X);
    if (input->how & UNREADABLE)
        add_segment(elf, gap_start, gap_end, PF_X);
    add_segment(elf, gap_end, end, PF_R);
    ASAN_POISON_MEMORY_REGION((void *)gap_start, gap_end - gap_start);
}

static bool is_within(const struct mprof__cursor *cursor) {
    return cursor->at <= cursor->end && !cursor->bad && cursor->at >= room() &&
           cursor->end <= room() + ROOM;
}

static void ask(uintptr_t pc) {
    struct mprof__unwind unwind;
    struct mprof__fde fde;
    asked = (void *)pc;
    bool found = mprof__eh_find(pc, &unwind, &fde);
    bool ruled = mprof__cfi_find(pc, &unwind);
    asked = NULL;
    if (found) {
        FUZZ_EXPECT(is_within(&fde.cie) && is_within(&fde.fde));
        FUZZ_EXPECT(fde.start <= pc && pc < fde.end);
    }
    const struct mprof__rule *rule = &unwind.rule;
    if (ruled && !rule->outermost) {
        FUZZ_EXPECT(rule->cfa_base == MPROF__SP || rule->cfa_base == MPROF__BP);
        FUZZ_EXPECT(rule->ra_base <= MPROF__CFA);
        FUZZ_EXPECT(!rule->bp_saved || rule->bp_base <= MPROF__CFA);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input input;
    unsigned char *end = room() + ROOM;
    if (size <= sizeof input || size - sizeof input > ROOM - PAGE)
        return 0;
    memcpy(&input, data, sizeof input);
    data += sizeof input, size -= sizeof input;
    memcpy(end - size, data, size);
    make_headers(&input, (uintptr_t)(end - size), (uintptr_t)end);
    if (!(input.how & WHOLE))
        ASAN_POISON_MEMORY_REGION(room() + PAGE, (size_t)(ROOM - PAGE) - size);
    map.l_addr = (uintptr_t)room();
    answer = (struct dl_find_object){.dlfo_map_start = room(),
                                     .dlfo_map_end = end,
                                     .dlfo_link_map = &map,
                                     .dlfo_eh_frame =
                                         end - size + input.header % size};
    ask((uintptr_t)answer.dlfo_eh_frame + (uintptr_t)(intptr_t)input.pc);
    ASAN_UNPOISON_MEMORY_REGION(room(), ROOM);
    memset(end - size, 0, size);
    return 0;
}
