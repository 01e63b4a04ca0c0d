/* place.h - places in the source. */
#ifndef REPORT_ELF_PLACE_H
#define REPORT_ELF_PLACE_H

#include <stdint.h>

struct report__place {
    const char *file; /* NULL: the place is not known */
    uint32_t line;    /* from 1 on; 0: that is not known */
};

/* A function whose body the compiler put in place of a call of it. */
struct report__inline {
    const char *name;
    struct report__place call; /* in the function further out */
};

#endif
