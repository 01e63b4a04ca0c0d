/* ecl_thread.c - see ecl_thread.h. */
#define _GNU_SOURCE
#include "monitor/ecl/ecl_thread.h"

#include <stddef.h>
#include <stdint.h>

#include "monitor/ecl/ecl_adapter.h"
#include "monitor/ecl/ecl_version.h"

#ifndef ECL_THREADS

pthread_t mprof__lisp_thread;

void mprof__ecl_find_thread(void) {
    pthread_attr_t attributes;
    void *start;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    uintptr_t lisp = (uintptr_t)MPROF__ECL_STACK(ecl_process_env_unsafe());
    if (pthread_attr_getstack(&attributes, &start, &size) == 0 &&
        lisp - (uintptr_t)start <= size)
        mprof__ecl_note_thread();
    pthread_attr_destroy(&attributes);
}

#endif
