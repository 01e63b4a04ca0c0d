/* session.c - create and free a recording; its functions. */
#define _GNU_SOURCE
#include "monitor/record/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "monitor/base/atomic.h"
#include "monitor/format/process.h"
#include "monitor/include/mprof.h"
#include "monitor/names/adapter.h"
#include "monitor/record/heap_events.h"
#include "monitor/names/sites.h"
#include "monitor/record/messages.h"
#include "monitor/record/thread.h"

uint64_t mprof__autosave;
uint32_t mprof__parent;

/* The arguments of this process, blanks between them. */
static mprof_ref read_command(struct mprof__arena *arena) {
    char text[1024];
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text);
    close(fd);
    while (n > 0 && text[n - 1] == '\0')
        n--;
    if (n == sizeof text)
        memcpy(text + n - 3, "...", 3);
    for (ssize_t i = 0; i < n; i++)
        if (text[i] == '\0' || text[i] == '\n')
            text[i] = ' ';
    return n > 0 ? mprof__arena_string(arena, text, (size_t)n) : 0;
}

static void describe(struct mprof__session *session) {
    struct mprof__arena *arena = &session->arena;
    struct mprof_header *header = mprof__arena_header(arena);
    static char text[PATH_MAX]; /* the API's lock is held */
    header->heaps = session->heaps;
    header->parent = mprof__parent;
    header->ppid = (uint32_t)getppid();
    header->image = mprof__image_id();
    header->output_pipe = mprof__process_pipe(STDOUT_FILENO);
    header->start_time = mprof__clock(CLOCK_REALTIME);
    struct mprof__process self = mprof__process_self();
    header->boot = self.boot;
    header->pids = self.pids;
    header->forked = self.forked;
    ssize_t n = readlink("/proc/self/exe", text, sizeof text);
    if (n > 0)
        header->program = mprof__arena_string(arena, text, (size_t)n);
    header->command = read_command(arena);
    mprof__adapter.runtime(text, sizeof text);
    header->runtime = mprof__arena_string(arena, text, strlen(text));
}

/* The program may go to another folder before the file is opened again. */
static const char *make_absolute(struct mprof__session *session,
                                 const char *path) {
    size_t size = sizeof session->where, n;
    if (path[0] == '/' || getcwd(session->where, size) == NULL)
        return session->path;
    n = strlen(session->where);
    if (n + 1 + strlen(path) >= size)
        return session->path;
    session->where[n] = '/';
    strcpy(session->where + n + 1, path);
    return session->where;
}

/* The file of ARENA, a session's, was cut: that session does not record any
 * more.  Inside of a signal's handler. */
static void stop_recording(struct mprof__arena *arena) {
    struct mprof__session *session =
        (void *)((char *)arena - offsetof(struct mprof__session, arena));
    mprof__drop_current(session, session->id);
}

struct mprof__session *mprof__session_new(const char *path, uint64_t limit,
                                          unsigned heaps, int *error) {
    static uint64_t last_id;
    struct mprof__session *session = mprof__map(sizeof *session);
    if (session == NULL) {
        *error = MPROF_E_MEMORY;
        return NULL;
    }
    if (path != NULL && strlen(path) >= sizeof session->path) {
        errno = ENAMETOOLONG;
        *error = MPROF_E_OPEN;
    } else {
        if (path != NULL) {
            session->named = true;
            strcpy(session->path, path);
            path = make_absolute(session, path);
        }
        *error = mprof__arena_open(&session->arena, path, limit);
    }
    if (*error != 0) {
        int saved = errno;
        mprof__unmap(session, sizeof *session);
        errno = saved;
        return NULL;
    }
    session->id = ++last_id;
    session->heaps = heaps;
    session->open = true;
    session->arena.on_cut = stop_recording;
    session->names.arena = &session->arena;
    session->names.memory = &session->memory;
    mprof__live_begin(&session->live, &session->arena);
    session->alive.arena = &session->arena;
    describe(session);
    struct mprof__log_errors errors;
    mprof__log_begin(&session->log, &session->arena, &session->live, &errors);
    mprof__message_log(&errors);
    if (heaps >> MPROF_LISP_HEAP & 1)
        mprof__collections_begin(&session->collections, &session->arena);
    return session;
}

void mprof__session_free(struct mprof__session *session) {
    if (session->pinned)
        return;
    for (struct mprof__thread *t = session->threads; t != NULL; t = t->next)
        mprof__thread_shrink(t);
    mprof__names_free(&session->names);
    mprof__table_free(&session->sizes);
    mprof__chunks_free(&session->memory);
    mprof__arena_close(&session->arena);
    mprof__log_end(&session->log);
    mprof__live_end(&session->live);
    mprof__finder_end(&session->collections.bins);
    pthread_mutex_destroy(&session->arena.lock);
    mprof__unmap(session, sizeof *session);
}

void mprof__module_unloads(uintptr_t start, uintptr_t end) {
    struct mprof__session *session = mprof__current();
    if (session != NULL)
        mprof__names_unload(&session->names, start, end);
}

bool mprof__timed(void) {
    const struct mprof__session *session = mprof__tracked();
    return session != NULL && session->log.timed;
}

void mprof__count_unplaced(struct mprof__session *session,
                           struct mprof_count n) {
    struct mprof_header *header = mprof__arena_header(&session->arena);
    mprof__add_relaxed(&header->unplaced_allocs, n.allocs);
    mprof__add_relaxed(&header->unplaced_bytes, n.bytes);
}
