/* arena.c - create, grow and complete the data file. */
#define _GNU_SOURCE
#include "monitor/file/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/base/invariant.h"
#include "monitor/format/claim.h"
#include "monitor/format/crc.h"
#include "monitor/format/create.h"
#include "monitor/format/process.h"
#include "monitor/include/mprof.h"
#include "monitor/file/cut.h"
#include "monitor/unwind/arch.h"

/* Bytes by which the file grows: small against what a run writes anyway. */
enum { PIECE = 256 * 1024, PAGE = 4096, HIGH_FD = 500 };

/* From this size of the file on, its pieces are filled at once. */
enum { FILLED = 1024 * 1024 };

/* Requests at most between two that look for a file that is out of reach. */
enum { MOST_WAITS = 1 << 20 };

/* Enough for the totals of the largest programs that were tried. */
enum { MOST_RESERVED = 64 * 1024 * 1024 };

static bool still_our_file(struct mprof__arena *arena) {
    struct stat st;
    if (fstat(arena->fd, &st) != 0 || st.st_dev != arena->device ||
        st.st_ino != arena->inode)
        return false;
    if (arena->base != NULL && arena->mapped > 0 &&
        (uint64_t)st.st_size < mprof__arena_header(arena)->used)
        mprof__cut_found(arena);
    return true;
}

bool mprof__allocate_blocks(int fd, size_t offset, size_t bytes) {
    struct rlimit most;
    int error = EFBIG;
    if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY ||
        offset + bytes <= most.rlim_cur)
        do
            error = posix_fallocate(fd, (off_t)offset, (off_t)bytes);
        while (error == EINTR);
    if (error != 0)
        errno = error;
    return error == 0;
}

/* The program may have closed our descriptor, or have had no room for it. */
static bool open_again(struct mprof__arena *arena) {
    if (arena->fd >= 0 && still_our_file(arena))
        return true;
    arena->fd =
        arena->path == NULL
            ? -1
            : open(arena->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (arena->fd < 0)
        return false;
    if (still_our_file(arena))
        return true; /* The mapped pages have kept the lock. */
    close(arena->fd);
    arena->fd = -1;
    errno = ENOENT;
    return false;
}

/* Low numbers are the program's: it may count on them, or close them all. */
static void move_high(struct mprof__arena *arena) {
    int saved = errno, low = arena->fd;
    if (low < 0 || low >= HIGH_FD)
        return;
    int high = fcntl(low, F_DUPFD_CLOEXEC, HIGH_FD);
    if (high >= 0 || arena->path != NULL) {
        close(low);
        arena->fd = high;
    }
    errno = saved;
}

/* Write zeros up to SIZE, where there is nothing yet: the pages of a piece that
 * come together cost a fraction of what they do one by one, as they are
 * touched.  Where that is refused, it is only slower. */
static void fill(const struct mprof__arena *arena, size_t size) {
    static const char zeros[PAGE];
    static const struct iovec pages[PIECE / PAGE] = {
        [0 ... PIECE / PAGE - 1] = {(void *)zeros, PAGE}};
    size_t at = arena->mapped;
    while (at < size) {
        size_t left = (size - at) / PAGE;
        int n = left < PIECE / PAGE ? (int)left : PIECE / PAGE;
        ssize_t written = pwritev(arena->fd, pages, n, (off_t)at);
        if (written < PAGE)
            return;
        at += (size_t)written / PAGE * PAGE;
    }
}

/* The next BYTES of the file.  Far away something else may be there. */
static bool map_piece(const struct mprof__arena *arena, size_t bytes) {
    char *wanted = arena->base + arena->mapped;
    char *piece =
        mmap(wanted, bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | (arena->far ? MAP_FIXED_NOREPLACE : MAP_FIXED),
             arena->fd, (off_t)arena->mapped);
    if (piece != MAP_FAILED && piece != wanted) {
        munmap(piece, bytes);
        errno = EEXIST;
    }
    return piece == wanted;
}

static bool extend(struct mprof__arena *arena, size_t size) {
    bool fills = arena->mapped >= FILLED;
    if (!mprof__allocate_blocks(arena->fd, arena->mapped, size - arena->mapped))
        return false;
    if (fills)
        fill(arena, size);
    if (!map_piece(arena, size - arena->mapped))
        return false;
#ifdef MADV_POPULATE_WRITE
    if (fills)
        madvise(arena->base + arena->mapped, size - arena->mapped,
                MADV_POPULATE_WRITE);
#endif
    arena->mapped = size;
    return true;
}

static bool grow_now(struct mprof__arena *arena, size_t bytes) {
    size_t size = (bytes + PIECE - 1) / PIECE * PIECE;
    size_t least = (bytes + PAGE - 1) / PAGE * PAGE;
    if (arena->full || size > arena->limit)
        goto full;
    if (arena->waits > 0) {
        arena->waits--;
        return false;
    }
    /* Perhaps another time. */
    if (!open_again(arena)) {
        if (arena->backoff < MOST_WAITS)
            arena->backoff = 2 * arena->backoff + 1;
        arena->waits = arena->backoff;
        return false;
    }
    arena->backoff = 0;
    if (mprof__load_acquire(&arena->cut))
        goto full;
    bool grown = extend(arena, size) || extend(arena, least);
    move_high(arena);
    if (grown)
        return true;
    arena->refused = errno;
full:
    arena->full = true;
    return false;
}

/* open() and the like are where threads are cancelled; malloc() is not. */
static bool grow(struct mprof__arena *arena, size_t bytes) {
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    bool grown = grow_now(arena, bytes);
    pthread_setcancelstate(state, NULL);
    return grown;
}

static int open_file(const char *path) {
    struct mprof_header old;
    if (path == NULL)
        return memfd_create("mprof.data", MFD_CLOEXEC);
    if (mprof__claim(path, mprof__image_id(), &old) == MPROF__OTHERS)
        return -1;
    /* A reader of the old file keeps the old file. */
    if (unlink(path) != 0 && errno != ENOENT)
        return -1;
    int fd = mprof__create(path, MPROF__PRIVATE);
    if (fd >= 0)
        mprof__claim_lock(fd);
    return fd;
}

/* Addresses far from where the kernel and programs put anything, of which
 * BYTES are free for sure; NULL: there are none.  They are not reserved: that
 * would count as memory of a program that limits its own (RLIMIT_AS). */
static void *find_far_away(size_t bytes) {
#ifdef __SANITIZE_THREAD__
    return (void)bytes, NULL; /* it ends programs that use such addresses */
#endif
    enum { TRIES = 4 };
    const uintptr_t from = (uintptr_t)0x2000 << 32, many = 0x2000;
    uint64_t chance = mprof__image_id() ^ mprof__process_clock();
    for (int i = 0; i < TRIES; i++) {
        chance = chance * 6364136223846793005u + 1442695040888963407u;
        void *wanted = (void *)(from + ((chance >> 33) % many << 32));
        void *base =
            mmap(wanted, bytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (base == MAP_FAILED && errno != EEXIST)
            return NULL;
        if (base == MAP_FAILED)
            continue;
        munmap(base, bytes);
        if (base == wanted)
            return base;
    }
    return NULL;
}

/* Where there are none: at most BYTES anywhere, which are reserved. */
static void *reserve_anywhere(size_t *bytes) {
    for (; *bytes >= PIECE; *bytes = *bytes / 2 / PIECE * PIECE) {
        void *base = mmap(NULL, *bytes, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base != MAP_FAILED)
            return base;
    }
    return NULL;
}

/* Addresses for LIMIT bytes, or for less where the process may not have so
 * many: most of them are for the program. */
static bool find_addresses(struct mprof__arena *arena, size_t limit) {
    struct rlimit most;
    bool limited =
        getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY;
    if (limited && limit > most.rlim_cur / 8)
        limit = most.rlim_cur / 8;
    size_t bytes = (limit + PIECE - 1) / PIECE * PIECE;
    if (bytes < PIECE)
        bytes = PIECE;
    arena->base = find_far_away(bytes);
    arena->far = arena->base != NULL;
    if (!arena->far)
        arena->base = reserve_anywhere(&bytes);
    if (arena->base == NULL)
        return false;
    arena->limit = bytes;
    arena->reserve =
        bytes / 8 * 5 < MOST_RESERVED ? bytes / 8 * 5 : MOST_RESERVED;
    arena->mapped_before = mprof__load_relaxed(&mprof__mapped);
    return true;
}

int mprof__arena_open(struct mprof__arena *arena, const char *path,
                      size_t limit) {
    memset(arena, 0, sizeof *arena);
    pthread_mutex_init(&arena->lock, NULL);
    arena->fd = open_file(path);
    if (arena->fd < 0)
        return MPROF_E_OPEN;
    arena->path = path;
    struct stat st;
    int error = MPROF_E_OPEN;
    if (fstat(arena->fd, &st) != 0)
        goto fail;
    arena->device = st.st_dev;
    arena->inode = st.st_ino;
    if (!find_addresses(arena, limit)) {
        error = MPROF_E_MEMORY;
        goto fail;
    }
    if (path != NULL)
        mprof__cut_watch(arena);
    if (!grow(arena, MPROF_HEADER_BYTES)) {
        error = MPROF_E_WRITE;
        goto fail;
    }
    struct mprof_header *header = mprof__arena_header(arena);
    memcpy(header->magic, MPROF_MAGIC, sizeof header->magic);
    header->version = MPROF_VERSION;
    header->byte_order = MPROF_BYTE_ORDER;
    header->header_bytes = MPROF_HEADER_BYTES;
    header->used = MPROF_HEADER_BYTES;
    header->pid = (uint32_t)getpid();
    header->machine = MPROF__ELF_MACHINE;
    mprof__store_release(&header->state, MPROF_OPEN);
    return 0;
fail:;
    int saved = errno;
    if (path != NULL)
        unlink(path);
    mprof__arena_close(arena);
    errno = saved;
    return error;
}

static void leave_file(struct mprof__arena *arena) {
    if (arena->fd >= 0 && (arena->inode == 0 || still_our_file(arena)))
        close(arena->fd);
    arena->fd = -1;
}

void mprof__arena_leave_file(struct mprof__arena *arena) {
    if (mmap(arena->base, arena->mapped, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED)
        return;
    mprof__cut_unwatch(arena);
    leave_file(arena);
}

void mprof__arena_close(struct mprof__arena *arena) {
    mprof__cut_unwatch(arena);
    if (arena->base != NULL)
        munmap(arena->base, arena->far ? arena->mapped : arena->limit);
    arena->base = NULL;
    leave_file(arena);
}

void mprof__arena_clock(struct mprof__arena *arena) {
    mprof__arena_clock_at(arena, mprof__clock(CLOCK_MONOTONIC));
}

void mprof__arena_clock_at(struct mprof__arena *arena, uint64_t now) {
    struct mprof_header *header = mprof__arena_header(arena);
    mprof__store_relaxed(&header->duration, mprof__arena_time(arena, now));
    mprof__store_relaxed(&header->saved, mprof__process_clock());
    mprof__store_relaxed(&header->recorded, mprof__clock(CLOCK_REALTIME));
    mprof__store_relaxed(&header->memory, mprof__load_relaxed(&mprof__mapped));
}

static void check_ends(const struct mprof__arena *arena) {
    size_t used = mprof__arena_header(arena)->used;
    if (mprof__load_acquire(&arena->cut))
        return;
    MPROF__MUST(used % 8 == 0 && used >= MPROF_HEADER_BYTES);
    MPROF__MUST(used <= arena->mapped && arena->mapped <= arena->limit);
    MPROF__MUST(arena->mapped % PAGE == 0 && arena->limit % PAGE == 0);
    MPROF__MUST(arena->reserve < arena->limit);
}

void mprof__arena_check(const struct mprof__arena *arena) {
    size_t at = MPROF_HEADER_BYTES, used = mprof__arena_header(arena)->used;
    check_ends(arena);
    while (at < used) {
        const struct mprof_record *record = (void *)(arena->base + at);
        MPROF__MUST(record->type != 0 && record->bytes >= sizeof *record);
        MPROF__MUST(record->bytes % 8 == 0 && record->bytes <= used - at);
        at += record->bytes;
    }
    MPROF__MUST(at == used);
}

void *mprof__arena_record(struct mprof__arena *arena, uint32_t type,
                          size_t bytes) {
    bytes = (bytes + 7) & ~(size_t)7;
    size_t used = mprof__arena_header(arena)->used;
    /* Cut off, the header is empty, and no place for records. */
    if (used < MPROF_HEADER_BYTES ||
        (used + bytes > arena->mapped && !grow(arena, used + bytes)))
        return NULL;
    struct mprof_record *record = (void *)(arena->base + used);
    memset(record, 0, bytes);
    record->type = type;
    record->bytes = (uint32_t)bytes;
    return record;
}

mprof_ref mprof__arena_publish(struct mprof__arena *arena, void *record) {
    struct mprof_record *head = record;
    struct mprof_header *header = mprof__arena_header(arena);
    mprof__store_release(&header->used, header->used + head->bytes);
    if (MPROF__CHECKS)
        check_ends(arena);
    return mprof__arena_ref(arena, record);
}

mprof_ref mprof__arena_string(struct mprof__arena *arena, const char *text,
                              size_t length) {
    struct mprof_string *string = mprof__arena_record(
        arena, MPROF_STRING, offsetof(struct mprof_string, text) + length);
    if (string == NULL)
        return 0;
    string->length = (uint32_t)length;
    memcpy(string->text, text, length);
    return mprof__arena_publish(arena, string);
}

bool mprof__arena_is_whole(struct mprof__arena *arena) {
    struct stat st;
    bool whole = open_again(arena) && fstat(arena->fd, &st) == 0 &&
                 (size_t)st.st_size >= arena->mapped;
    move_high(arena);
    return whole;
}

void mprof__arena_text(const struct mprof__arena *arena, mprof_ref ref,
                       char *text, size_t size) {
    const struct mprof_string *string = mprof__arena_at(arena, ref);
    size_t length = ref == 0 ? 0 : string->length;
    if (length >= size)
        length = size - 1;
    memcpy(text, string->text, length);
    text[length] = '\0';
}

uint32_t mprof__arena_checksum(const struct mprof_header *header) {
    struct mprof_header complete = *header;
    complete.state = MPROF_CLOSED;
    complete.crc = 0;
    uint32_t crc = mprof__crc32(0, &complete, sizeof complete);
    return complete.used < sizeof complete
               ? 0
               : mprof__crc32(crc, header + 1, complete.used - sizeof complete);
}

/* Let the file end at SIZE.  False: it is not there any more, or cannot be
 * reached. */
static bool cut_off(struct mprof__arena *arena, uint64_t size) {
    struct stat st;
    if (open_again(arena)) {
        bool good = !mprof__load_acquire(&arena->cut) &&
                    ftruncate(arena->fd, (off_t)size) == 0;
        move_high(arena);
        return good;
    }
    /* The program may use all descriptors. */
    return arena->path != NULL && stat(arena->path, &st) == 0 &&
           st.st_dev == arena->device && st.st_ino == arena->inode &&
           (uint64_t)st.st_size >= size &&
           truncate(arena->path, (off_t)size) == 0;
}

int mprof__arena_complete(struct mprof__arena *arena) {
    struct mprof_header *header = mprof__arena_header(arena);
    if (mprof__load_acquire(&arena->cut))
        return mprof__cut_error();
    if (MPROF__CHECKS && arena->mapped > 0)
        mprof__arena_check(arena);
    uint32_t crc = mprof__arena_checksum(header);
    /* Only the mapped tail beyond the last record goes; it is not touched
     * again before mprof__arena_reopen() has given it back. */
    bool ended = cut_off(arena, header->used);
    if (mprof__load_acquire(&arena->cut))
        return mprof__cut_error();
    if (!ended)
        return 0; /* It remains an open one. */
    /* Whoever looks before the last store sees an open file. */
    header->crc = crc;
    mprof__store_release(&header->state, MPROF_CLOSED);
    return 0;
}

int mprof__arena_reopen(struct mprof__arena *arena) {
    struct mprof_header *header = mprof__arena_header(arena);
    if (!open_again(arena))
        return MPROF_E_WRITE;
    if (mprof__load_acquire(&arena->cut))
        return mprof__cut_error();
    mprof__store_release(&header->state, MPROF_OPEN);
    header->crc = 0;
    bool good = mprof__allocate_blocks(arena->fd, 0, arena->mapped);
    move_high(arena);
    return good ? 0 : MPROF_E_WRITE;
}

void mprof__arena_flush(struct mprof__arena *arena) {
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    msync(arena->base, arena->mapped, MS_ASYNC);
    if (arena->fd >= 0 && still_our_file(arena))
        sync_file_range(arena->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    pthread_setcancelstate(state, NULL);
}
