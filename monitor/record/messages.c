/* messages.c - see messages.h. */
#define _GNU_SOURCE
#include "monitor/record/messages.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "monitor/record/session.h"

void mprof__message_line(const char *line, int length) {
    /* Where files may not grow, write() raises a signal. */
    sigset_t too_large, saved;
    const struct timespec not_at_all = {0, 0};
    sigemptyset(&too_large);
    sigaddset(&too_large, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &too_large, &saved);
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0 &&
        errno == EFBIG)
        sigtimedwait(&too_large, NULL, &not_at_all);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
}

/* Print what happened to PATH, WHY, and what that means. */
static void explain(const char *path, const char *why, const char *meaning) {
    static char line[PATH_MAX + 200];
    mprof__message_line(line,
                        snprintf(line, sizeof line, "mprof: %s: %s; %s\n", path,
                                 why != NULL ? why : "unknown", meaning));
}

void mprof__message_log(const struct mprof__log_errors *errors) {
    static char meaning[80];
    snprintf(meaning, sizeof meaning,
             "the group's sum has nothing of process %ld", (long)getpid());
    if (errors->group != NULL)
        explain(errors->group, strerrordesc_np(errors->group_error), meaning);
    if (errors->path != NULL)
        explain(errors->path, strerrordesc_np(errors->path_error),
                "there is no log");
}

/* NUMBER, with SEPARATOR between groups of three digits. */
static const char *grouped(uint64_t number, const char *separator, char *text,
                           size_t size) {
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, number);
    size_t length = 0;
    for (int i = 0; i < n && length + 20 < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%c",
                                   i > 0 && (n - i) % 3 == 0 ? separator : "",
                                   digits[i]);
    return text;
}

void mprof__message_summary(const struct mprof__heap_now *sums) {
    static char line[1024], text[3][128];
    char separator[8];
    locale_t users = newlocale(LC_NUMERIC_MASK, "", NULL);
    const char *wanted = users == NULL ? "" : nl_langinfo_l(THOUSEP, users);
    snprintf(separator, sizeof separator, "%s",
             strlen(wanted) < sizeof separator ? wanted : "");
    if (users != NULL)
        freelocale(users);
    mprof__message_line(
        line, snprintf(line, sizeof line,
                       "mprof: %.200s: total: %s, peak: %s, current: %s\n",
                       program_invocation_short_name,
                       grouped(sums->total, separator, text[0], 128),
                       grouped(sums->peak, separator, text[1], 128),
                       grouped(sums->current, separator, text[2], 128)));
}

void mprof__message_end(const struct mprof__session *session) {
    if (mprof__load_acquire(&session->arena.cut))
        explain(session->path, "was cut while it was written",
                "its data is lost");
    else if (session->arena.refused != 0)
        explain(session->path, strerrordesc_np(session->arena.refused),
                "the report shows what is missing");
    if (session->log.file.refused != 0)
        explain(session->log.file.path,
                strerrordesc_np(session->log.file.refused),
                "the log ends with its last line");
}
