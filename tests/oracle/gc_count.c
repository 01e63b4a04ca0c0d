/* gc_count.c - counts what the collector is asked for while mprof records.
 *
 * Loaded with LD_PRELOAD into the patched ECL, it stands before the public
 * allocation functions of the collector, which is libgc or a part of libecl,
 * and adds up the blocks and bytes that they gave.  It knows nothing of the
 * patch: what it counts is what the profile has to show, to the byte.
 *
 * The program under test starts and stops the recording through oracle_start()
 * and oracle_stop() (si:call-cfun calls them).  These open and close the count
 * in the same breath as mprof's, and before that wait for the threads that
 * stand in oracle_gate(), so that nobody is caught between the two.
 *
 * Environment: MPROF_LIBRARY, the libmprof.so to load; MPROF_DATA, its data
 * file; ORACLE_LOG, where oracle_stop() writes its findings; ORACLE_CALLERS=1
 * finds who asked without the monitor's hook being called, by replacing the
 * hook with one that passes on what it gets; ORACLE_LIVE=1 has the
 * recording tell what is alive, and has the collector itself tell, by a weak
 * link to each block that it gave; ORACLE_LIMIT=BYTES is the recording's limit,
 * and with ORACLE_SAMPLING=BYTES it looks at one byte in so many.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "monitor/ecl/ecl_version.h"

#if GBC_BOEHM == 0
#include <ecl/gc/gc_mark.h>
#include <ecl/gc/gc_typed.h>
#else
#include <gc/gc_mark.h>
#include <gc/gc_typed.h>
#endif

#include "mprof.h"

#define ORACLE_API __attribute__((visibility("default")))

/* Called from Lisp, by name; each returns 0 or one of the MPROF_E codes. */
ORACLE_API int oracle_start(int threads);
ORACLE_API int oracle_stop(int threads);
ORACLE_API int oracle_reset(void);
ORACLE_API int oracle_save(const char *file);
ORACLE_API int oracle_gate(void);

extern const struct ecl_monitor *ecl_set_monitor(const struct ecl_monitor *)
    __attribute__((weak));

struct count {
    uint64_t blocks;
    uint64_t bytes;
};

/* Who asked, by return address; 0 is free.  Open addressing, never removed. */
enum { CALLERS = 4096 };
struct caller {
    uintptr_t address;
    struct count all;
    struct count unseen; /* the hook was not called for these */
};
static struct caller callers[CALLERS];
static struct caller no_room; /* all callers that found the table full */

static bool counting;
static struct count total;
static uint64_t by_monitor; /* blocks asked for by mprof_start() and the like */

/* Where the collector and this library are mapped.  The collector's functions
 * call each other, or jump so that they return to ours: only what comes from
 * elsewhere counts.  (Not the nesting decides: a finalizer may run inside of a
 * request.)
 */
struct range {
    uintptr_t start;
    uintptr_t end;
};
static struct range collector, oracle;

static __thread bool in_monitor;
/* The last request of this thread that the hook has not been called for. */
static __thread uint64_t pending, pending_bytes;

static void add(struct count *c, uint64_t bytes) {
    __atomic_add_fetch(&c->blocks, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&c->bytes, bytes, __ATOMIC_RELAXED);
}

static struct caller *find_caller(uintptr_t address) {
    size_t at = (address * 0x9e3779b97f4a7c15u) >> 52;
    for (size_t i = 0; i < CALLERS; i++, at = (at + 1) % CALLERS) {
        uintptr_t found =
            __atomic_load_n(&callers[at].address, __ATOMIC_RELAXED);
        if ((found == 0 && __atomic_compare_exchange_n(
                               &callers[at].address, &found, address, false,
                               __ATOMIC_RELAXED, __ATOMIC_RELAXED)) ||
            found == address)
            return &callers[at];
    }
    return &no_room;
}

static void settle(void) {
    if (pending != 0)
        add(&find_caller(pending)->unseen, pending_bytes);
    pending = 0;
}

static struct range range_of(void *address) {
    struct dl_find_object module = {0};
    _dl_find_object(address, &module);
    return (struct range){(uintptr_t)module.dlfo_map_start,
                          (uintptr_t)module.dlfo_map_end};
}

static bool in_range(uintptr_t address, const struct range *range) {
    return address >= range->start && address < range->end;
}

/* The functions of the library at MAP that begin with GC_, and all between. */
static struct range collector_in(const struct link_map *map) {
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            symbols = (const void *)d->d_un.d_ptr;
        if (d->d_tag == DT_STRTAB)
            names = (const void *)d->d_un.d_ptr;
    }
    struct range found = {UINTPTR_MAX, 0};
    /* The linker puts the names right behind the symbols. */
    for (const ElfW(Sym) *s = symbols; (const char *)(s + 1) <= names; s++) {
        uintptr_t start = map->l_addr + s->st_value;
        if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_value == 0 ||
            strncmp(names + s->st_name, "GC_", 3) != 0)
            continue;
        if (start < found.start)
            found.start = start;
        if (start + s->st_size > found.end)
            found.end = start + s->st_size;
    }
    return found;
}

static struct range find_collector(void *function) {
    struct dl_find_object module = {0};
    struct range range = range_of(function);
    uintptr_t lisp = (uintptr_t)dlsym(RTLD_DEFAULT, "cl_boot");
    if (!in_range(lisp, &range))
        return range;
    _dl_find_object(function, &module);
    return collector_in(module.dlfo_link_map);
}

static void *find_real(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) {
        fprintf(stderr, "oracle: no %s\n", name);
        exit(99);
    }
    collector = find_collector(function);
    oracle = range_of((void *)find_real);
    return function;
}

/* Blocks that were given, by address; 0 is free.  What is given where another
 * block was takes its place. */
enum { BLOCK_BITS = 22, BLOCKS = 1 << BLOCK_BITS };
struct block {
    uintptr_t address;
    uint64_t bytes;
    /* The address, hidden; the collector makes it 0 when the block is dead, and
     * no finalizer needs it. */
    void *link;
};
static struct block *blocks; /* NULL: nobody asks what is alive */

static struct block *find_block(uintptr_t address) {
    size_t at = (address * 0x9e3779b97f4a7c15u) >> (64 - BLOCK_BITS);
    for (size_t i = 0; i < BLOCKS; i++, at = (at + 1) % BLOCKS) {
        uintptr_t found =
            __atomic_load_n(&blocks[at].address, __ATOMIC_RELAXED);
        if (found == 0 && __atomic_compare_exchange_n(
                              &blocks[at].address, &found, address, false,
                              __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return &blocks[at];
        if (found == address)
            return &blocks[at];
    }
    fputs("oracle: too many blocks\n", stderr);
    exit(99);
}

static void watch_blocks(void) {
    const char *wanted = getenv("ORACLE_LIVE");
    if (wanted == NULL || *wanted != '1' || blocks != NULL)
        return;
    blocks = mmap(NULL, BLOCKS * sizeof *blocks, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (blocks == MAP_FAILED)
        exit(99);
}

static void watch_block(const void *address, uint64_t bytes) {
    struct block *block = find_block((uintptr_t)address);
    block->bytes = bytes;
    block->link = (void *)GC_HIDE_POINTER(address);
    GC_register_long_link(&block->link, address);
}

static void forget_block(const void *address) {
    struct block *block = find_block((uintptr_t)address);
    if (block->link != NULL)
        GC_unregister_long_link(&block->link);
    block->link = NULL;
}

static struct count find_alive(void) {
    struct count alive = {0, 0};
    for (size_t i = 0; i < BLOCKS; i++)
        if (blocks[i].link != NULL)
            add(&alive, blocks[i].bytes);
    return alive;
}

static void forget_blocks(void) {
    for (size_t i = 0; i < BLOCKS; i++)
        if (blocks[i].address != 0)
            forget_block((void *)blocks[i].address);
}

static void given(const void *block, uint64_t bytes, const void *caller) {
    uintptr_t from = (uintptr_t)caller;
    if (block == NULL || in_range(from, &collector) || in_range(from, &oracle))
        return;
    if (in_monitor)
        __atomic_add_fetch(&by_monitor, 1, __ATOMIC_RELAXED);
    if (!__atomic_load_n(&counting, __ATOMIC_RELAXED))
        return;
    settle();
    add(&total, bytes);
    add(&find_caller(from)->all, bytes);
    if (blocks != NULL)
        watch_block(block, bytes);
    pending = from;
    pending_bytes = bytes;
}

/* NAME(parameters) calls the collector's NAME(arguments) and counts BYTES.  Who
 * asks is read first: the collector may run a finalizer, and the monitor then
 * put a mark in the place of that address. */
#define INTERPOSE(name, bytes, parameters, arguments)                          \
    ORACLE_API void *name parameters {                                         \
        static void *(*real)parameters;                                        \
        const void *caller = __builtin_return_address(0);                      \
        __asm__ volatile("" : "+r"(caller));                                   \
        if (real == NULL)                                                      \
            *(void **)&real = find_real(#name);                                \
        void *block = real arguments;                                          \
        given(block, bytes, caller);                                           \
        return block;                                                          \
    }

INTERPOSE(GC_malloc, n, (size_t n), (n))
INTERPOSE(GC_malloc_atomic, n, (size_t n), (n))
INTERPOSE(GC_malloc_uncollectable, n, (size_t n), (n))
INTERPOSE(GC_malloc_atomic_uncollectable, n, (size_t n), (n))
INTERPOSE(GC_malloc_ignore_off_page, n, (size_t n), (n))
INTERPOSE(GC_malloc_atomic_ignore_off_page, n, (size_t n), (n))
INTERPOSE(GC_malloc_stubborn, n, (size_t n), (n))
INTERPOSE(GC_memalign, n, (size_t alignment, size_t n), (alignment, n))
INTERPOSE(GC_realloc, n, (void *old, size_t n), (old, n))
INTERPOSE(GC_generic_malloc, n, (size_t n, int kind), (n, kind))
INTERPOSE(GC_malloc_explicitly_typed, n, (size_t n, GC_word type), (n, type))
INTERPOSE(GC_malloc_explicitly_typed_ignore_off_page, n,
          (size_t n, GC_word type), (n, type))
INTERPOSE(GC_calloc_explicitly_typed, count *n,
          (size_t count, size_t n, GC_word type), (count, n, type))

/* What is freed by name. */
ORACLE_API void GC_free(void *block) {
    static void (*real)(void *);
    if (real == NULL)
        *(void **)&real = find_real("GC_free");
    if (block != NULL && blocks != NULL)
        forget_block(block);
    real(block);
}

/* The hook that ORACLE_CALLERS puts before the monitor's. */

static const struct ecl_monitor *real_monitor;
static struct ecl_monitor passing;

static void __attribute__((noinline, optimize("no-optimize-sibling-calls")))
pass_allocated(cl_type type, int storage, cl_index bytes, cl_object clas,
               void *block) {
    if (pending != 0 && pending_bytes == bytes)
        pending = 0;
    real_monitor->allocated(type, storage, bytes, clas, block);
}

static void put_hook_before(void) {
    const char *wanted = getenv("ORACLE_CALLERS");
    if (wanted == NULL || *wanted != '1')
        return;
    real_monitor = ecl_set_monitor(NULL);
    passing = *real_monitor;
    passing.allocated = pass_allocated;
    ecl_set_monitor(&passing);
}

/* The monitor's functions. */

static struct {
    int (*start)(const char *);
    int (*stop)(void);
    int (*reset)(void);
    int (*save)(const char *);
    int (*status)(struct mprof_status *);
    int (*set_live)(int);
    int (*set_sampling)(unsigned bytes);
    void (*set_limit)(uint64_t);
} mprof;

static const char *variable(const char *name) {
    const char *value = getenv(name);
    if (value == NULL || *value == '\0') {
        fprintf(stderr, "oracle: %s is not set\n", name);
        exit(99);
    }
    return value;
}

static void load_monitor(void) {
    static void *library;
    if (library != NULL)
        return;
    library = dlopen(variable("MPROF_LIBRARY"), RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        fprintf(stderr, "oracle: %s\n", dlerror());
        exit(99);
    }
    *(void **)&mprof.start = dlsym(library, "mprof_start");
    *(void **)&mprof.stop = dlsym(library, "mprof_stop");
    *(void **)&mprof.reset = dlsym(library, "mprof_reset");
    *(void **)&mprof.save = dlsym(library, "mprof_save");
    *(void **)&mprof.status = dlsym(library, "mprof_status");
    *(void **)&mprof.set_live = dlsym(library, "mprof_set_live");
    *(void **)&mprof.set_sampling = dlsym(library, "mprof_set_sampling");
    *(void **)&mprof.set_limit = dlsym(library, "mprof_set_limit");
}

/* The gate: threads wait in C, where they cannot allocate. */

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static unsigned at_gate, gate_openings;

int oracle_gate(void) {
    pthread_mutex_lock(&gate_lock);
    unsigned opening = gate_openings;
    at_gate++;
    pthread_cond_broadcast(&gate_moved);
    while (opening == gate_openings)
        pthread_cond_wait(&gate_moved, &gate_lock);
    pthread_mutex_unlock(&gate_lock);
    return 0;
}

static void wait_at_gate(unsigned threads) {
    pthread_mutex_lock(&gate_lock);
    while (at_gate < threads)
        pthread_cond_wait(&gate_moved, &gate_lock);
    pthread_mutex_unlock(&gate_lock);
}

static void open_gate(void) {
    pthread_mutex_lock(&gate_lock);
    at_gate = 0;
    gate_openings++;
    pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate_lock);
}

/* Start both counts once THREADS threads stand at the gate; let them go. */
int oracle_start(int threads) {
    load_monitor();
    const char *file = variable("MPROF_DATA");
    wait_at_gate((unsigned)threads);
    watch_blocks();
    in_monitor = true;
    const char *limit = getenv("ORACLE_LIMIT");
    if (limit != NULL)
        mprof.set_limit(strtoull(limit, NULL, 10));
    const char *sampling = getenv("ORACLE_SAMPLING");
    int error = blocks == NULL ? 0 : mprof.set_live(MPROF_LIVE_ON);
    if (error == 0 && sampling != NULL)
        error = mprof.set_sampling((unsigned)strtoul(sampling, NULL, 10));
    if (error == 0)
        error = mprof.start(file);
    in_monitor = false;
    if (error == 0)
        put_hook_before();
    __atomic_store_n(&counting, error == 0, __ATOMIC_SEQ_CST);
    open_gate();
    return error;
}

/* Begin both counts at zero, while the monitor runs. */
int oracle_reset(void) {
    load_monitor();
    bool was_counting = counting;
    __atomic_store_n(&counting, false, __ATOMIC_SEQ_CST);
    in_monitor = true;
    int error = mprof.reset();
    in_monitor = false;
    if (error == 0)
        put_hook_before();
    total = (struct count){0, 0};
    if (blocks != NULL)
        forget_blocks();
    memset(callers, 0, sizeof callers);
    __atomic_store_n(&counting, was_counting, __ATOMIC_SEQ_CST);
    return error;
}

int oracle_save(const char *file) {
    load_monitor();
    in_monitor = true;
    int error = mprof.save(file);
    in_monitor = false;
    return error;
}

static void print_caller(FILE *log, const struct caller *c) {
    Dl_info info = {0};
    const char *name = "?", *module = "?";
    if (dladdr((void *)(c->address - 1), &info) != 0) {
        module = info.dli_fname != NULL ? info.dli_fname : module;
        name = info.dli_sname != NULL ? info.dli_sname : name;
    }
    uintptr_t offset = c->address - (uintptr_t)info.dli_fbase;
    fprintf(log, "caller %s %s+0x%lx blocks %lu bytes %lu unseen %lu %lu\n",
            name, module, (unsigned long)offset, (unsigned long)c->all.blocks,
            (unsigned long)c->all.bytes, (unsigned long)c->unseen.blocks,
            (unsigned long)c->unseen.bytes);
}

static void write_findings(void) {
    struct mprof_status status;
    FILE *log = fopen(variable("ORACLE_LOG"), "we");
    if (log == NULL) {
        perror("oracle: ORACLE_LOG");
        exit(99);
    }
    mprof.status(&status);
    fprintf(log, "oracle %lu %lu\n", (unsigned long)total.blocks,
            (unsigned long)total.bytes);
    fprintf(log, "status %lu %lu\n", (unsigned long)status.allocs,
            (unsigned long)status.bytes);
    if (blocks != NULL) {
        struct count alive = find_alive();
        fprintf(log, "alive %lu %lu\n", (unsigned long)alive.blocks,
                (unsigned long)alive.bytes);
    }
    fprintf(log, "unplaced %lu\n", (unsigned long)status.unplaced_allocs);
    fprintf(log, "threads %lu\n", (unsigned long)status.threads);
    fprintf(log, "by-monitor %lu\n", (unsigned long)by_monitor);
    for (size_t i = 0; i < CALLERS; i++)
        if (callers[i].address != 0)
            print_caller(log, &callers[i]);
    if (no_room.all.blocks != 0)
        print_caller(log, &no_room);
    fclose(log);
}

/* Stop both counts once THREADS threads stand at the gate, write what was
 * found, and let them go. */
int oracle_stop(int threads) {
    wait_at_gate((unsigned)threads);
    /* What finalizers allocate when the monitor has the collector collect would
     * be in its count only. */
    if (blocks != NULL)
        GC_gcollect();
    __atomic_store_n(&counting, false, __ATOMIC_SEQ_CST);
    settle();
    in_monitor = true;
    int error = mprof.stop();
    write_findings();
    in_monitor = false;
    open_gate();
    return error;
}
