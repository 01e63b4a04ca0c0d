/* test_copy.c - what goes over a file sees all of it, whatever lies across the
 * end of what it looks at. */
#define _GNU_SOURCE
#include "tests/support/parsed.h"

#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report/base/pool.h"
#include "report/data/copy.h"

/* The window is 256 KB. */
enum {
    NODES = 60000,
    MOST_IN_BLOCK = 2000,
    FUNCTIONS = 3000,
    LONG = 300 << 10
};

/* Nodes in the order of the file, and the name of the program. */
struct made {
    uint32_t parent[NODES], function[NODES], thread[NODES], count;
    uint32_t first[NODES], blocks;
    uint64_t bytes[NODES];
    mprof_ref ref[NODES], call[FUNCTIONS], site[FUNCTIONS], of[2];
    bool by_site[NODES], calls_more[NODES];
    char text[1000];
};

static char *text_of(size_t length) {
    char *text = malloc(length + 1);
    assert_non_null(text);
    for (size_t i = 0; i < length; i++)
        text[i] = (char)('a' + rand() % 26);
    text[length] = '\0';
    return text;
}

/* A block, often with more room than nodes. */
static void add_block(struct datafile *d, struct made *m) {
    uint32_t thread = (uint32_t)rand() % 2, first = m->count;
    uint32_t count = (uint32_t)rand() % MOST_IN_BLOCK;
    uint32_t room = count + (rand() % 3 ? 0 : (uint32_t)rand() % 30000);
    mprof_ref ref = datafile_nodes(d, m->of[thread], count, room);
    if (count > 0)
        m->first[m->blocks++] = first;
    for (; m->count < first + count; m->count++) {
        uint32_t i = m->count;
        uint32_t parent = thread + (uint32_t)rand() % (i - thread);
        while (m->thread[parent] != thread)
            parent--;
        m->parent[i] = parent;
        m->function[i] = (uint32_t)rand() % FUNCTIONS;
        m->thread[i] = thread;
        m->by_site[i] = rand() % 2;
        m->ref[i] = ref + (i - first) * (uint32_t)sizeof(struct mprof_node) / 8;
        *(struct mprof_node *)datafile_record(d, m->ref[i]) =
            (struct mprof_node){.parent = m->ref[parent],
                                .call = m->by_site[i]
                                            ? m->site[m->function[i]]
                                            : m->call[m->function[i]]};
    }
}

/* Of the first node in a block. */
static void add_counter(struct datafile *d, struct made *m) {
    uint32_t node = m->first[(uint32_t)rand() % m->blocks];
    uint32_t bytes = (uint32_t)rand() % 99;
    datafile_count(d, m->ref[node], MPROF_CONS, 1, bytes);
    m->bytes[node] += bytes;
}

static void add_edge(struct datafile *d, struct made *m) {
    uint32_t node = m->first[(uint32_t)rand() % m->blocks];
    if (node < 2)
        return;
    datafile_edge(d, m->ref[node], m->site[m->function[node]]);
    m->calls_more[node] = true;
}

/* Strings are not read but where a ref leads, and checked everywhere. */
static void add_text(struct datafile *d, size_t most) {
    char *text = text_of((size_t)rand() % most);
    datafile_string(d, text);
    free(text);
}

static void make(struct datafile *d, struct made *m) {
    m->blocks = m->count = 2;
    memset(m->bytes, 0, sizeof m->bytes);
    memset(m->calls_more, 0, sizeof m->calls_more);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        m->call[i] = datafile_lisp(d, "f");
        m->site[i] = datafile_site(d, m->call[i], 0, i);
    }
    for (uint32_t i = 0; i < 2; i++) {
        m->of[i] = datafile_thread(d, i, NULL);
        m->ref[i] = datafile_node(d, m->of[i], 0, 0);
        m->first[i] = m->thread[i] = i;
    }
    while (m->count + MOST_IN_BLOCK < NODES) {
        for (int i = rand() % 40; i > 0; i--)
            add_text(d, 60);
        for (int i = rand() % 40; i > 0; i--)
            add_counter(d, m);
        for (int i = rand() % 40; i > 0; i--)
            add_edge(d, m);
        add_block(d, m);
        if (rand() % 9 == 0)
            add_text(d, LONG);
    }
    char *name = text_of(999);
    mprof_ref program = datafile_string(d, name);
    datafile_header(d)->program = program;
    memcpy(m->text, name, 1000);
    free(name);
}

static void compare(struct report__profile *p, const struct made *m) {
    assert_non_null(p);
    assert_string_equal(p->program, m->text);
    assert_int_equal(p->node_count, m->count);
    for (uint32_t i = 2; i < m->count; i++) {
        assert_int_equal(p->nodes[i].parent, m->parent[i]);
        assert_int_equal(p->nodes[i].function, m->function[i]);
        assert_int_equal(p->nodes[i].thread, m->thread[i]);
        assert_int_equal(p->nodes[i].site, m->by_site[i] && !m->calls_more[i]
                                               ? m->function[i]
                                               : MPROF_NONE);
    }
    /* What is of one node stands together. */
    for (uint32_t i = 0, k = 0; i < m->count; i++) {
        uint64_t bytes = 0;
        for (; k < p->counter_count && p->counters[k].node == i; k++)
            bytes += p->counters[k].allocated.bytes;
        assert_int_equal(bytes, m->bytes[i]);
    }
}

static struct made made;

/* PATH, which is made from the name that it has, becomes that file: open. */
static int write_file(char *path, const struct datafile *d) {
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, d->data, d->size), d->size);
    return fd;
}

static struct report__profile *read_file(struct fixture *f) {
    char path[] = "test_copy.XXXXXX";
    close(write_file(path, &f->file));
    struct report__profile *p = report__read(&f->pool, path, &f->error);
    unlink(path);
    return p;
}

static void sees_all(void **state) {
    struct fixture *f = *state;
    srand(1);
    for (int round = 0; round < 20; round++) {
        datafile_free(&f->file);
        datafile_start(&f->file);
        make(&f->file, &made);
        if (round % 2)
            datafile_close(&f->file);
        compare(parse(f), &made);
        compare(read_file(f), &made);
        report__pool_free(&f->pool);
    }
}

/* The program goes on between two looks at its file: then FD becomes AFTER. */
static struct {
    int fd;
    const struct datafile *after;
} meanwhile;

/* How often each byte was read, or NULL; and from where on none can be, or 0.
 */
static unsigned char *times;
static off_t unreadable;

ssize_t pread(int fd, void *buffer, size_t bytes, off_t at) {
    if (unreadable != 0 && at + (off_t)bytes > unreadable) {
        bytes = at < unreadable ? (size_t)(unreadable - at) : 0;
        errno = EIO;
        if (bytes == 0)
            return -1;
    }
    ssize_t n = syscall(SYS_pread64, fd, buffer, bytes, at);
    for (ssize_t i = 0; times != NULL && i < n; i++)
        times[at + i]++;
    if (meanwhile.after != NULL && at > 0) {
        const struct datafile *after = meanwhile.after;
        meanwhile.after = NULL;
        assert_int_equal(pwrite(meanwhile.fd, after->data, after->size, 0),
                         after->size);
    }
    return n;
}

static uint64_t allocated(const struct report__profile *p) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->counter_count; i++)
        sum += p->counters[i].allocated.allocs;
    for (uint32_t i = 0; i < p->total_count; i++)
        sum += p->totals[i].count.allocs;
    return sum;
}

/* In FILE, what was in the spill of its thread is in its total. */
static void empty(struct datafile *file, mprof_ref thread, mprof_ref node,
                  mprof_ref counter, mprof_ref total) {
    struct mprof_thread *t = datafile_record(file, thread);
    struct mprof_total *sum = datafile_record(file, total);
    sum->counts[1] = (struct mprof_count){10, 80};
    datafile_block(file, node)->count = 0;
    datafile_block(file, counter)->count = 0;
    datafile_header(file)->emptied = ++t->emptied;
}

/* The spill is empty when the copy comes there, with the total of before; or
 * it was copied, and with it all else. */
static void what_is_summed_up_meanwhile_is_there_once(void **state) {
    struct fixture *f = *state;
    struct datafile *d = &f->file;
    char path[] = "test_copy.XXXXXX";
    srand(4);
    for (int is_late = 0; is_late < 2; is_late++) {
        datafile_free(d);
        datafile_start(d);
        mprof_ref function = datafile_lisp(d, "f");
        mprof_ref thread = datafile_thread(d, 1, NULL);
        mprof_ref total = datafile_total(
            d, thread,
            (struct mprof_total){.kind = MPROF_SELF,
                                 .views = MPROF_SHOWN_FRAMES | MPROF_ALL_FRAMES,
                                 .function = function});
        while (is_late && d->size < LONG)
            add_text(d, LONG);
        mprof_ref root = datafile_spill_node(d, thread, 0, 0);
        mprof_ref node = datafile_spill_node(d, thread, root, function);
        mprof_ref counter =
            datafile_spill_counter(d, node, 0, 0, (struct mprof_count){10, 80});
        while (d->size < 2 * LONG)
            add_text(d, LONG);
        struct datafile after = *d;
        after.data = malloc(d->size);
        assert_non_null(after.data);
        memcpy(after.data, d->data, d->size);
        empty(&after, thread, node, counter, total);
        memcpy(path + strlen(path) - 6, "XXXXXX", 6);
        meanwhile.fd = write_file(path, d);
        meanwhile.after = &after;
        struct report__profile *p = report__read(&f->pool, path, &f->error);
        assert_null(meanwhile.after);
        assert_non_null(p);
        assert_int_equal(allocated(p), 10);
        close(meanwhile.fd);
        unlink(path);
        free(after.data);
        report__pool_free(&f->pool);
    }
}

/* A damaged record is told where the sum of all is right, however much lies
 * behind it. */
static void sums_up_the_rest(void **state) {
    struct fixture *f = *state;
    srand(2);
    mprof_ref first = datafile_string(&f->file, "first");
    make(&f->file, &made);
    ((struct mprof_record *)datafile_record(&f->file, first))->type = 99;
    datafile_close(&f->file);
    refuses(f, "x.data: damaged at byte 4096: no such type of record");
    f->file.data[f->file.size - 1] ^= 1;
    refuses(f, "x.data: damaged at byte 32: the check sum is wrong");
}

/* Also in room that no node is in. */
static void sums_up_what_is_passed_over(void **state) {
    struct fixture *f = *state;
    mprof_ref thread = datafile_thread(&f->file, 1, NULL);
    datafile_nodes(&f->file, thread, 0, 100000);
    datafile_string(&f->file, "last");
    datafile_close(&f->file);
    assert_non_null(parse(f));
    f->file.data[f->file.size / 2] ^= 1;
    refuses(f, "x.data: damaged at byte 32: the check sum is wrong");
}

/* What is summed up is what is read. */
static void looks_at_each_byte_once(void **state) {
    struct fixture *f = *state;
    srand(5);
    make(&f->file, &made);
    datafile_nodes(&f->file, made.of[0], 0, 30000);
    datafile_close(&f->file);
    times = calloc(f->file.size, 1);
    assert_non_null(times);
    assert_non_null(read_file(f));
    for (size_t i = MPROF_HEADER_BYTES; i < f->file.size; i++)
        assert_int_equal(times[i], 1);
    free(times);
    times = NULL;
}

/* Also where nothing is kept of it. */
static void reads_to_the_end(void **state) {
    struct fixture *f = *state;
    mprof_ref thread = datafile_thread(&f->file, 1, NULL);
    datafile_nodes(&f->file, thread, 0, 100000);
    datafile_close(&f->file);
    for (size_t at = f->file.size - 8; at > MPROF_HEADER_BYTES; at -= at / 3) {
        unreadable = (off_t)at;
        assert_null(read_file(f));
        assert_non_null(strstr(f->error, ": Input/output error"));
    }
    unreadable = 0;
    assert_non_null(read_file(f));
}

/* It was as large when it was opened. */
static void is_cut_anywhere(struct fixture *f) {
    for (int i = 0; i < 100; i++) {
        struct report__reader r = {.pool = &f->pool,
                                   .name = "x.data",
                                   .header = *datafile_header(&f->file),
                                   .used = f->file.size,
                                   .size = f->file.size};
        char *error = NULL;
        size_t size = MPROF_HEADER_BYTES +
                      (size_t)rand() % (f->file.size - MPROF_HEADER_BYTES);
        int fd = file_of(f->file.data, size);
        assert_false(report__copy_file(&r, fd));
        close(fd);
        assert_true(asprintf(&error,
                             "x.data: damaged at byte %d: the file "
                             "ends before its data",
                             (int)size) > 0);
        assert_string_equal(r.error, error);
        free(error);
        report__pool_free(&f->pool);
    }
}

static void says_that_it_was_cut(void **state) {
    struct fixture *f = *state;
    srand(3);
    make(&f->file, &made);
    datafile_close(&f->file);
    is_cut_anywhere(f);
    datafile_header(&f->file)->state = MPROF_OPEN;
    datafile_nodes(&f->file, made.of[0], 0, 100000);
    datafile_close(&f->file);
    is_cut_anywhere(f);
}

/* Let BYTES more be mapped than are now; *BEFORE is as it was. */
static void limit_memory(uint64_t bytes, struct rlimit *before) {
    struct rlimit limit;
    unsigned long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    assert_non_null(statm);
    assert_int_equal(fscanf(statm, "%lu", &pages), 1);
    fclose(statm);
    assert_int_equal(getrlimit(RLIMIT_AS, before), 0);
    limit = *before;
    limit.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

static int next_descriptor(void) {
    int next = dup(0);
    close(next);
    return next;
}

/* A process goes on after that.  There is room for a copy, but not for all
 * that is made of it. */
static void closes_the_file_where_memory_is_short(void **state) {
    struct fixture *f = *state;
    char path[] = "test_copy.XXXXXX";
    struct rlimit before;
    jmp_buf no_memory;
    if (MPROF_SANITIZED)
        leave_out("a sanitizer has its own memory");
    mprof_ref thread = datafile_thread(&f->file, 1, NULL);
    mprof_ref node = datafile_nodes(&f->file, thread, 1000000, 1000000);
    const uint32_t step = sizeof(struct mprof_node) / 8;
    for (int i = 0; i < 400000; i++, node += step)
        datafile_count(&f->file, node, MPROF_CONS, 1, 8);
    close(write_file(path, &f->file));
    int next = next_descriptor();
    limit_memory(f->file.size / 4 * 7, &before);
    f->pool.nomem = &no_memory;
    bool is_short = setjmp(no_memory) != 0;
    if (!is_short)
        report__read(&f->pool, path, &f->error);
    f->pool.nomem = NULL;
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    unlink(path);
    assert_true(is_short);
    assert_int_equal(next_descriptor(), next);
}

int main(void) {
    mallopt(M_MMAP_THRESHOLD, 128 << 10); /* what is large is mapped, always */
    const struct CMUnitTest tests[] = {
        TEST(sees_all),
        TEST(what_is_summed_up_meanwhile_is_there_once),
        TEST(sums_up_the_rest),
        TEST(sums_up_what_is_passed_over),
        TEST(looks_at_each_byte_once),
        TEST(reads_to_the_end),
        TEST(says_that_it_was_cut),
        TEST(closes_the_file_where_memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
