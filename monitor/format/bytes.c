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
