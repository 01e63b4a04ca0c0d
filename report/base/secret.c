/* secret.c - see secret.h. */
#include "report/base/secret.h"

#include <string.h>
#include <sys/auxv.h>

/* SplitMix64 (Steele, Lea and Flood, 2014) of the kernel's random bytes. */
uint64_t report__secret(unsigned which) {
    const void *random = (const void *)getauxval(AT_RANDOM);
    uint64_t words[2] = {0, 0};

    if (random)
        memcpy(words, random, sizeof words);
    uint64_t n = words[0] + (which + (uint64_t)1) * 0x9e3779b97f4a7c15u;
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
    n = (n ^ n >> 27) * 0x94d049bb133111ebu;
    return (n ^ n >> 31) ^ words[1];
}
