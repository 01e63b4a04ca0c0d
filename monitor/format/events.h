/* events.h - events of the heap in a log, by their numbers and names. */
#ifndef MONITOR_FORMAT_EVENTS_H
#define MONITOR_FORMAT_EVENTS_H

enum mprof_log_type {
    MPROF_LOG_FREE,
    MPROF_LOG_MALLOC,
    MPROF_LOG_CALLOC,
    MPROF_LOG_REALLOC,
    MPROF_LOG_STAMP /* the recording begins, ends, begins, ... */
};
#define MPROF_LOG_TYPES 5

#define MPROF_LOG_NAMES                                                        \
    { "free", "malloc", "calloc", "realloc", "tmstmp" }

#endif
