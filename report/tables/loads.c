/* loads.c - from data files and logs to loads; see stats.h.
 *
 * Each file is a source of steps: the live bytes at a time.  The steps of all
 * are taken in the order of time, by the machine's clock.
 */
#include "monitor/format/process.h"
#include "report/base/progress.h"
#include "report/data/log.h"
#include "report/data/profile.h"
#include "report/tables/stats.h"
#include "report/tables/tables.h"

struct source {
    struct report__loaded *loaded;
    struct report__log log;
    struct report__moment *moments;
    uint32_t moment_count, at;
    uint64_t begin;   /* a data file's, ns */
    uint64_t boot;    /* of the machine, or 0 */
    uint64_t process; /* its ID */
    /* The next step: at this time NEXT lives, where LIVE did before. */
    uint64_t time, live, next;
    bool ended;
};

struct merge {
    struct source *sources;
    struct source **heap; /* by time, the first one on top: COUNT of ALL */
    uint32_t count, all;
    struct report__pool *pool;
    const char **error;
    uint64_t live, steps;
    struct report__load *group;
    uint64_t begin, end;
};

/* From the points of the curve: between two of them the mean. */
static unsigned __int128 area(const struct report__moment *moments,
                              uint32_t count) {
    unsigned __int128 area = 0;
    for (uint32_t i = 1; i < count; i++)
        area += (unsigned __int128)(moments[i].time - moments[i - 1].time) *
                (moments[i].live.bytes / 2 + moments[i - 1].live.bytes / 2);
    return area;
}

static void read_load(const struct report__profile *p,
                      struct report__loaded *loaded) {
    struct report__load *load = &loaded->load;
    const struct report__moment *last = &p->moments[p->moment_count - 1];

    /* Without an end it is until the last event, as in a log. */
    load->duration = p->timed ? p->load_time : p->duration;
    load->most = p->at_peak.bytes;
    load->current = last->live.bytes;
    load->total = p->timed ? p->load : area(p->moments, p->moment_count);
    loaded->source = p->timed ? MPROF_LOAD_TIMED : MPROF_LOAD_CURVE;
    loaded->pid = p->pid;
    loaded->unplaced = p->unplaced_allocs;
}

static bool open_data(struct source *s, struct report__pool *pool,
                      const char **error) {
    struct report__pool own = {.nomem = pool->nomem};
    struct report__loaded *loaded = s->loaded;
    const struct report__profile *p = report__read(&own, loaded->name, error);

    if (p != NULL && !report__has_heap(p, MPROF_C_HEAP))
        *error = report__format(pool, "%s: the C heap was not recorded",
                                loaded->name);
    else if (p != NULL) {
        read_load(p, loaded);
        loaded->command = report__copy(pool, p->command, strlen(p->command));
        s->moment_count = p->moment_count;
        s->moments = report__alloc(pool, p->moment_count, sizeof *s->moments);
        memcpy(s->moments, p->moments, p->moment_count * sizeof *s->moments);
        s->begin = p->begun;
        s->boot = p->process.boot;
        s->process = p->pid;
        loaded->is_open = p->open;
    } else {
        *error = report__copy(pool, *error, strlen(*error));
    }
    report__pool_free(&own);
    return *error == NULL;
}

/* When what lived in S did so no more, whose file has no end: when another
 * program began in the process; else it is not known, and later than all. */
static uint64_t find_end(const struct merge *m, const struct source *s) {
    uint64_t end = UINT64_MAX;
    for (uint32_t i = 0; i < m->all; i++) {
        const struct source *other = &m->sources[i];
        if (other->loaded->is_log == s->loaded->is_log &&
            other->process == s->process && other->begin > s->begin &&
            other->begin < end)
            end = other->begin;
    }
    return end > s->time ? end : s->time;
}

/* Find the next step of S; the last one is that nothing lives. */
static bool advance(struct merge *m, struct source *s) {
    const struct report__log *log = &s->log;

    if (s->ended)
        return false;
    s->live = s->next;
    if (s->loaded->is_log && report__log_next(&s->log, m->pool, m->error)) {
        s->time = log->time;
        s->next = log->live;
        return true;
    }
    if (*m->error != NULL)
        return false;
    if (s->at < s->moment_count) {
        s->time = s->begin + s->moments[s->at].time;
        s->next = s->moments[s->at++].live.bytes;
        return true;
    }
    s->ended = true;
    s->next = 0;
    if (s->loaded->is_log) {
        s->loaded->load = (struct report__load){log->recorded, log->peak,
                                                log->live, log->load};
        s->loaded->is_open = log->running;
    }
    if (s->loaded->is_open)
        s->time = find_end(m, s);
    return s->time != UINT64_MAX;
}

/* The one at AT may be later than those below it. */
static void sink(struct merge *m, uint32_t at) {
    for (uint32_t first = at;; at = first) {
        for (uint32_t i = 2 * at + 1; i < 2 * at + 3 && i < m->count; i++)
            if (m->heap[i]->time < m->heap[first]->time)
                first = i;
        if (first == at)
            return;
        struct source *later = m->heap[at];
        m->heap[at] = m->heap[first];
        m->heap[first] = later;
    }
}

static bool take_steps(struct merge *m) {
    for (uint32_t i = m->count; i-- > 0;)
        sink(m, i);
    while (m->count > 0) {
        struct source *s = m->heap[0];
        m->live = m->live - s->live + s->next;
        if (m->live > m->group->most)
            m->group->most = m->live;
        m->end = s->time > m->end ? s->time : m->end;
        report__progress("events", ++m->steps, 0);
        if (!advance(m, s)) {
            if (*m->error != NULL)
                return false;
            m->heap[0] = m->heap[--m->count];
        }
        sink(m, 0);
    }
    return true;
}

static bool open_source(struct merge *m, struct source *s) {
    const char *name = s->loaded->name;
    const bool is_log = s->loaded->is_log = report__is_log(name);

    s->loaded->command = "";
    if (is_log ? !report__log_open(&s->log, name, m->pool, m->error)
               : !open_data(s, m->pool, m->error))
        return false;
    if (!advance(m, s))
        return false;
    if (is_log) {
        s->begin = s->log.begin;
        s->process = s->log.thread;
    }
    if (s->time < m->begin)
        m->begin = s->time;
    return true;
}

/* Clocks begin anew with each boot of the machine. */
static bool check_boots(struct merge *m) {
    const struct source *known = NULL;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct source *s = &m->sources[i];
        if (s->boot == 0)
            continue;
        if (known != NULL && known->boot != s->boot) {
            *m->error = report__format(
                m->pool, "%s and %s are of two boots of a machine",
                known->loaded->name, s->loaded->name);
            return false;
        }
        known = s;
    }
    return true;
}

static bool open_all(struct merge *m) {
    for (uint32_t i = 0; i < m->count; i++) {
        m->heap[i] = &m->sources[i];
        if (!open_source(m, &m->sources[i]))
            return false;
    }
    return check_boots(m);
}

/* The loads of LOADS->list, which has names. */
static bool read_all(struct report__loads *loads, struct report__pool *pool,
                     const char **error) {
    uint32_t count = loads->count;
    struct merge m = {.pool = pool,
                      .error = error,
                      .count = count,
                      .all = count,
                      .group = &loads->group,
                      .begin = UINT64_MAX};

    m.sources = report__alloc(pool, count, sizeof *m.sources);
    m.heap = report__alloc(pool, count, sizeof *m.heap);
    loads->source = MPROF_GROUP_LOGS;
    for (uint32_t i = 0; i < count; i++)
        m.sources[i].loaded = &loads->list[i];
    bool good = open_all(&m) && take_steps(&m);
    for (uint32_t i = 0; i < count; i++) {
        report__log_close(&m.sources[i].log);
        loads->group.current += loads->list[i].load.current;
        loads->group.total += loads->list[i].load.total;
        if (!loads->list[i].is_log)
            loads->source = MPROF_GROUP_CURVES;
    }
    loads->group.duration = report__left(m.end, m.begin);
    report__progress("events", 0, 0);
    return good;
}

bool report__find_loads(struct report__loads *loads, const char *const *files,
                        uint32_t count, struct report__pool *pool,
                        const char **error) {
    struct mprof_group sum;
    bool has_sum = false;

    *loads = (struct report__loads){
        .list = report__alloc(pool, count, sizeof *loads->list)};
    for (uint32_t i = 0; i < count; i++)
        if (report__is_group(files[i]))
            has_sum = report__read_group(files[i], &sum);
        else
            loads->list[loads->count++].name = files[i];
    if (loads->count == 0) {
        *error = report__format(
            pool, "%s: a group's sum alone: its data files are needed, too",
            files[0]);
        return false;
    }
    if (!read_all(loads, pool, error))
        return false;
    if (has_sum) {
        loads->source = MPROF_GROUP_SUM;
        loads->group.most = sum.peak;
        loads->killed = sum.ended < sum.joined ? sum.live : 0;
    }
    return true;
}

/* The table */

static void print_large(FILE *out, unsigned __int128 number) {
    char digits[40];
    int n = 0;
    do
        digits[n++] = (char)('0' + (int)(number % 10));
    while ((number /= 10) > 0);
    while (n > 0)
        putc(digits[--n], out);
}

/* NAME in front of each number, or blanks between them. */
static void print_load(FILE *out, const struct report__load *load, bool plain) {
    static const char *const names[] = {
        "duration [ns]", "load_max [byte]", "load_current [byte]",
        "load_total [byte ns]", "load_avg [byte]"};
    enum { NUMBERS = sizeof names / sizeof *names };
    const unsigned __int128 numbers[NUMBERS] = {
        load->duration, load->most, load->current, load->total,
        load->duration == 0 ? 0 : load->total / load->duration};

    for (int i = 0; i < NUMBERS; i++) {
        if (!plain)
            fprintf(out, "%s: ", names[i]);
        print_large(out, numbers[i]);
        putc(plain && i + 1 < NUMBERS ? ' ' : '\n', out);
    }
}

static void print_name(FILE *out, const struct report__loaded *l) {
    report__print_name(out, l->name);
    if (l->pid != 0)
        fprintf(out, ": process %" PRIu32, l->pid);
    if (l->command[0] != '\0') {
        fputs(", ", out);
        report__print_name(out, l->command);
    }
    putc('\n', out);
}

static void print_remarks(FILE *out, const struct report__loaded *l) {
    if (l->source == MPROF_LOAD_CURVE)
        fputs("load_total and load_avg are estimated from the curve; with "
              "`mprof run --stats` they are exact.\n",
              out);
    if (l->unplaced > 0)
        SAY(out, "# allocation~ not in these, as the monitor had no place.\n",
            l->unplaced);
    if (l->is_open)
        fprintf(out,
                "The %s has no end: the program runs, or was killed, or "
                "executed another one%s.\n",
                l->is_log ? "log" : "data file",
                l->is_log ? ", or its disk was full" : "");
}

static void print_group_remarks(FILE *out, const struct report__loads *loads) {
    if (loads->source == MPROF_GROUP_CURVES)
        fputs("load_max is the most of the sum of the curves; with `mprof run "
              "--stats=group`, and from logs, it is exact.\n",
              out);
    if (loads->source == MPROF_GROUP_SUM && loads->killed > 0)
        SAY(out,
            "# bytes of processes that were killed are in load_max from their "
            "end on.\n",
            loads->killed);
}

void report__print_loads(FILE *out, const struct report__loads *loads,
                         bool plain) {
    uint32_t count = loads->count;

    for (uint32_t i = 0; i < count; i++) {
        const struct report__loaded *l = &loads->list[i];
        if (!plain)
            print_name(out, l);
        print_load(out, &l->load, plain);
        if (!plain)
            print_remarks(out, l);
        if (!plain && count > 1)
            putc('\n', out);
    }
    if (count == 1)
        return;
    if (!plain)
        fprintf(out, "All %" PRIu32 " processes\n", count);
    print_load(out, &loads->group, plain);
    if (!plain)
        print_group_remarks(out, loads);
}
