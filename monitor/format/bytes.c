/* bytes.c - see bytes.h. */
#include "monitor/format/bytes.h"

#include <errno.h>
#include <stdlib.h>

bool mprof__read_bytes(const char *text, uint64_t *bytes) {
    char *end;
    unsigned shift = 0;
    int saved = errno;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    bool good = errno == 0;
    errno = saved;
    if (*end == 'k' || *end == 'K')
        shift = 10;
    else if (*end == 'm' || *end == 'M')
        shift = 20;
    else if (*end == 'g' || *end == 'G')
        shift = 30;
    end += shift > 0;
    if (!good || *end != '\0' || n == 0 || n > UINT64_MAX >> shift)
        return false;
    *bytes = (uint64_t)n << shift;
    return true;
}

uint32_t mprof__read_sampling(const char *text) {
    uint64_t bytes;
    if (text[0] != '1' || text[1] != '/' ||
        !mprof__read_bytes(text + 2, &bytes))
        return 0;
    return bytes >= 2 && bytes <= MPROF__MOST_SAMPLING ? (uint32_t)bytes : 0;
}
