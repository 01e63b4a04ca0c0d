/* export.h - the chains of a profile in the formats of other tools. */
#ifndef REPORT_EXPORT_EXPORT_H
#define REPORT_EXPORT_EXPORT_H

#include <stdio.h>

#include "report/base/utf8.h"
#include "report/graph/samples.h"
#include "report/graph/groups.h"
#include "report/graph/join.h"

enum report__export_format {
    MPROF_EXPORT_FOLDED,
    MPROF_EXPORT_PPROF,
    MPROF_EXPORT_SPEEDSCOPE,
    MPROF_EXPORT_CALLGRIND,
    MPROF_EXPORT_DHAT,
    MPROF_EXPORT_EMACS,
    MPROF_EXPORT_JSON,
    MPROF_EXPORT_TEXT,
    MPROF_EXPORT_SEXP
};

struct report__export_options {
    enum report__export_format format;
    enum report__number metric; /* of formats that have one for a chain */
    bool no_lines;              /* nor what was inlined */
    uint32_t rows;              /* text and sexp: no more chains; 0: all */
    struct report__sampling sampling;
};

/* Return the names of all functions, clean, by their indices, with the names
 * that represent others; PLAIN: without the mark of inlined ones. */
const char **report__clean_names(struct report__pool *pool,
                                 const struct report__functions *names,
                                 bool plain);

extern const char *const report__class_names[MPROF_HEAPS][MPROF_CLASSES];

/* "NAME (NUMBER)" of a thread.  In POOL. */
const char *report__thread_name(struct report__pool *pool,
                                const struct report__thread *thread);

/* The command, or the program, that was recorded.  In POOL. */
const char *report__what_ran(struct report__pool *pool,
                             const struct report__profile *profile);

/* JSON */

/* TEXT in quotation marks: visible UTF-8, as report__clean_name() makes it. */
void report__put_json(FILE *out, const char *text);

/* The same of a TEXT of whatever bytes. */
void report__put_text(FILE *out, struct report__pool *pool, const char *text);

/* The same without quotation marks: a part of such a text. */
void report__put_json_part(FILE *out, const char *text);

/* Write the list KEY of an object, as the condition of a loop: return true if
 * there is an element I, of COUNT, and write the text before it and around the
 * list. */
bool report__put_list(FILE *out, const char *key, uint32_t i, uint32_t count);

/* A comma before all but the first, which *COUNT is 0 for; and count it. */
void report__put_comma(FILE *out, unsigned long *count);

/* Two profiles, as joined; of OLD as much as FACTOR says. */
struct report__difference {
    const struct report__joined *joined;
    struct report__factor factor;
};

/* The input of each format. */
struct report__export {
    FILE *out;
    const struct report__profile *profile;
    const struct report__functions *names;
    const struct report__export_options *options;
    struct report__samples *samples;
    struct report__pool *pool;
    /* NULL, or those that `profile` is joined of: pprof and html. */
    const struct report__difference *difference;
};

/* The list KEY of what keeps objects alive: level, name, bytes, objects; see
 * report__kept_rows(). */
void report__put_kept(const struct report__export *e, const char *key);

/* The list KEY of sentences: each of texts, and functions, which are a number
 * and how they read there. */
void report__put_findings(const struct report__export *e, const char *key);

/* The samples of NEW without what OLD has, by chain and class: numbers below 0
 * are 64 bits in two's complement, and the thread is MPROF_NONE. */
void report__each_difference(const struct report__export *e,
                             void (*take)(void *data,
                                          const struct report__sample *sample),
                             void *data);

/* Return the number of source files of calls; names are clean, numbers count
 * from 1. */
uint32_t report__file_count(const struct report__export *e);
const char **report__file_names(const struct report__export *e);

/* By function, with those in place of others: the number of a file that it
 * calls in, or 0. */
const uint32_t *report__files_of(const struct report__export *e);

/* Write the chains of PROFILE to OUT in the format of OPTIONS.  With
 * DIFFERENCE, which only pprof knows, PROFILE is a part of what that joined. */
void report__export(FILE *out, const struct report__profile *profile,
                    const struct report__functions *names,
                    const struct report__difference *difference,
                    const struct report__export_options *options,
                    struct report__pool *pool);

/* The formats */

/* A line for each sample: the functions of its chain, outermost first, with
 * semicolons between; a blank; and its number of OPTIONS->metric. */
void report__export_folded(const struct report__export *e);

/* The profile.proto of pprof, by gzip, with all numbers. */
void report__export_pprof(const struct report__export *e);

/* JSON for speedscope.app: a profile for each number. */
void report__export_speedscope(const struct report__export *e);

/* Write for callgrind_annotate and KCachegrind: each function by lines, and its
 * calls. */
void report__export_callgrind(const struct report__export *e);

/* Write JSON for DHAT's viewer; Lisp has no numbers for some of its fields. */
void report__export_dhat(const struct report__export *e);

/* Write OPTIONS->metric for Emacs's profiler-find-profile. */
void report__export_emacs(const struct report__export *e);

/* JSON of our own, with everything: see the manual page. */
void report__export_json(const struct report__export *e);

/* The chains one by one, by decreasing bytes: to be read, and for Lisp. */
void report__export_text(const struct report__export *e);
void report__export_sexp(const struct report__export *e);

#endif
