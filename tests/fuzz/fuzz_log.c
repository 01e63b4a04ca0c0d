/* fuzz_log.c - a log, alone and beside itself, through `mprof stats`.
 *
 * The bytes are the log.
 */
#include "tests/fuzz/fuzz.h"

#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "report/data/log.h"
#include "report/tables/stats.h"

/* COUNT times the same log; false: it is none. */
static bool read(const char *path, uint32_t count, struct report__loads *loads,
                 struct report__pool *pool) {
    const char *const files[2] = {path, path}, *error = NULL;
    bool good = report__find_loads(loads, files, count, pool, &error);
    FUZZ_EXPECT(good == (error == NULL));
    FUZZ_EXPECT(!good || loads->source == MPROF_GROUP_LOGS);
    FUZZ_EXPECT(good || !strchr(error, '\n'));
    return good;
}

static void expect_sense(const struct report__load *load) {
    FUZZ_EXPECT(load->current <= load->most);
    FUZZ_EXPECT(load->total <= (unsigned __int128)load->most * load->duration);
}

static void print(const struct report__loads *loads) {
    struct fuzz_text text;
    fuzz_open(&text);
    report__print_loads(text.stream, loads, false);
    fuzz_close(&text);
    fuzz_expect_visible(&text);
    fuzz_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *path = fuzz_file(data, size);
    struct report__pool pool = {.nomem = NULL};
    struct report__loads one, two;

    if (report__is_log(path) && read(path, 1, &one, &pool)) {
        const struct report__load *alone = &one.list[0].load;
        expect_sense(alone);
        FUZZ_EXPECT(read(path, 2, &two, &pool));
        FUZZ_EXPECT(two.list[0].load.most == alone->most);
        FUZZ_EXPECT(two.list[1].load.total == alone->total);
        FUZZ_EXPECT(two.group.most <= 2 * alone->most);
        FUZZ_EXPECT(two.group.most >= alone->most);
        FUZZ_EXPECT(two.group.total == 2 * alone->total);
        print(&two);
    }
    report__pool_free(&pool);
    return 0;
}
