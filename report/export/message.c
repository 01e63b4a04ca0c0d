/* message.c - see message.h. */
#include "report/export/message.h"

#include <string.h>

enum { VARINT = 0, BYTES = 2, LONGEST = 10 };

/* Room for MORE bytes. */
static unsigned char *make_room(struct report__message *m, size_t more) {
    if (m->capacity - m->count < more) {
        size_t capacity = 2 * m->capacity + more + 256;
        unsigned char *larger = report__alloc(m->pool, capacity, 1);
        if (m->count > 0)
            memcpy(larger, m->bytes, m->count);
        report__drop(m->pool, m->bytes);
        m->bytes = larger;
        m->capacity = capacity;
    }
    return m->bytes + m->count;
}

void report__put_varint(struct report__message *m, uint64_t number) {
    unsigned char *to = make_room(m, LONGEST);
    for (; number >= 0x80; number >>= 7)
        *to++ = (unsigned char)(number | 0x80);
    *to++ = (unsigned char)number;
    m->count = (size_t)(to - m->bytes);
}

void report__put_number(struct report__message *m, unsigned field,
                        uint64_t number) {
    if (number == 0)
        return;
    report__put_varint(m, field << 3 | VARINT);
    report__put_varint(m, number);
}

void report__put_bytes(struct report__message *m, unsigned field,
                       const void *bytes, size_t length) {
    report__put_varint(m, field << 3 | BYTES);
    report__put_varint(m, length);
    unsigned char *to = make_room(m, length);
    if (length > 0)
        memcpy(to, bytes, length);
    m->count += length;
}

void report__put_message(struct report__message *m, unsigned field,
                         struct report__message *other) {
    report__put_bytes(m, field, other->bytes, other->count);
    other->count = 0;
}
