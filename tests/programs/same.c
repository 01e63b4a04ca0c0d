/* same.c - the same start for a program, whichever tool watches it.
 *
 * What a program allocates depends on its environment, where valgrind and mprof
 * both leave variables, and on addresses: cc1 has a table of 32 kB for each
 * 16 MiB in which it maps memory, Python one for its arenas.  Preloaded, this
 * gives main() of the program that SAME_IN names an environment of our own,
 * after all constructors have run, and puts what that program itself maps at
 * addresses of our own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int main_function(int, char **, char **);
typedef int start_function(main_function *, int, char **, void (*)(void),
                           void (*)(void), void (*)(void), void *);

static main_function *real_main;
static int watched;
static char *same[] = {"PATH=/usr/bin:/bin",
                       "LC_ALL=C",
                       "HOME=/nonexistent",
                       "PYTHONHASHSEED=0",
                       "PERL_HASH_SEED=0",
                       "PERL_PERTURB_KEYS=0",
                       NULL};

static int same_main(int argc, char **argv, char **environment) {
    const char *program = getenv("SAME_IN");
    if (program && !strcmp(program, program_invocation_short_name)) {
        environ = environment = same;
        watched = 1;
    }
    return real_main(argc, argv, environment);
}

int __libc_start_main(main_function *main, int argc, char **argv,
                      void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
    start_function *start =
        (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = main;
    return start(same_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* The tools map memory too. */
static int from_program(void *caller) {
    Dl_info here, there;
    return watched && dladdr(caller, &here) &&
           dladdr((void *)real_main, &there) &&
           here.dli_fbase == there.dli_fbase;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd,
           off_t offset) {
    static uintptr_t next = (uintptr_t)1 << 33;
    if (!address && flags & MAP_ANONYMOUS &&
        from_program(__builtin_return_address(0)))
        address = (void *)__atomic_fetch_add(&next, (bytes + 8191) & -4096,
                                             __ATOMIC_RELAXED);
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd,
                           offset);
}

/* The same, by the name that programs with large files call */
void *mmap64(void *address, size_t bytes, int protection, int flags, int fd,
             off64_t offset) __attribute__((alias("mmap")));
