/* message.h - messages of protocol buffers, as they are written.
 *
 * The wire format: varints, and fields of a length.  A message is put together
 * in memory, and then goes as a field into another one or into the stream.
 */
#ifndef REPORT_EXPORT_MESSAGE_H
#define REPORT_EXPORT_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "report/base/pool.h"

/* Empty when all but `pool` is zeros; used again when `count` is 0. */
struct report__message {
    struct report__pool *pool;
    unsigned char *bytes;
    size_t count, capacity;
};

/* A number without a field, as packed ones are. */
void report__put_varint(struct report__message *m, uint64_t number);
/* FIELD is NUMBER; left out when that is 0, the default. */
void report__put_number(struct report__message *m, unsigned field,
                        uint64_t number);
/* FIELD is LENGTH bytes. */
void report__put_bytes(struct report__message *m, unsigned field,
                       const void *bytes, size_t length);
/* FIELD is the message OTHER, which is empty then. */
void report__put_message(struct report__message *m, unsigned field,
                         struct report__message *other);

#endif
