/* c-jit.c - machine code that was made at run time, without unwind tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROUNDS = 100 };

/* push rbx; sub rsp,32; mov rax,rsi; call rax; add rsp,32; pop rbx; ret:
 * calls its second argument with its first. */
static const unsigned char code[] = {0x53, 0x48, 0x83, 0xec, 0x20, 0x48,
                                     0x89, 0xf0, 0xff, 0xd0, 0x48, 0x83,
                                     0xc4, 0x20, 0x5b, 0xc3};

typedef void *made(size_t bytes, void *(*function)(size_t));

static void *from_made(size_t bytes) {
    return malloc(bytes);
}

static void call_made(made *function) {
    for (int i = 0; i < ROUNDS; i++) {
        free(function(36, malloc));
        function(37, from_made);
    }
}

static made *make(void) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        exit(77);
    memcpy(page, code, sizeof code);
    return (made *)page;
}

int main(void) {
    made *function = make();
    call_made(function);
    /* Other code in the same place, with another frame. */
    munmap((void *)function, 4096);
    call_made(make());
    puts("made");
    return 0;
}
