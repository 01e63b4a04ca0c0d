/* fuzz.h - what the targets of the fuzzer share.
 *
 * A target is one function, which libFuzzer calls with bytes of its own making;
 * in the programs replay_* it gets the files of the command line instead.  It
 * aborts where something is not as it must be, and keeps nothing from one call
 * to the next.
 */
#ifndef MPROF_TESTS_FUZZ_H
#define MPROF_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must be true for all bytes. */
#define FUZZ_EXPECT(condition)                                                 \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,         \
                    #condition);                                               \
            abort();                                                           \
        }                                                                      \
    } while (0)

/* So many bytes of a data file's header are in an input: its fields, and room
 * for fields to come, so that inputs stay what they are. */
enum { FUZZ_FIELDS = 512 };

/* The path of a file with these bytes, which lasts until the next call. */
const char *fuzz_file(const void *data, size_t size);

/* What was printed in memory. */
struct fuzz_text {
    char *text;
    size_t length;
    FILE *stream;
};
void fuzz_open(struct fuzz_text *text);
void fuzz_close(struct fuzz_text *text);
void fuzz_free(struct fuzz_text *text);

/* Nothing but characters that can be seen, in whole lines. */
void fuzz_expect_visible(const struct fuzz_text *text);
/* One line, or nothing. */
void fuzz_expect_lines(const struct fuzz_text *text, int lines);

#endif
