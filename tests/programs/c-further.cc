// c-further.cc - all forms of operator new and delete, and with -DJEMALLOC,
// -DTCMALLOC or -DMIMALLOC the functions that such an allocator has beside.
// With -DUNKNOWN it calls one that mprof does not know.  With a library's name
// as argument, that is opened, and its work() called.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <new>

struct Small {
    char bytes[24];
};
struct alignas(64) Wide {
    char bytes[192];
};

static void *volatile keep;
static volatile std::size_t huge = PTRDIFF_MAX;

void one_object() {
    for (int i = 0; i < 10; i++) {
        auto small = new Small;
        keep = small;
        if (i < 4)
            delete small;
    }
}

void an_array() {
    for (int i = 0; i < 20; i++) {
        auto array = new char[50];
        keep = array;
        if (i < 5)
            delete[] array;
    }
}

void aligned() {
    for (int i = 0; i < 30; i++) {
        auto wide = new Wide;
        keep = wide;
        if (i < 6)
            delete wide;
    }
    for (int i = 0; i < 7; i++) {
        auto wide = new Wide[2];
        keep = wide;
        delete[] wide;
    }
}

void silent() {
    for (int i = 0; i < 40; i++) {
        void *a = ::operator new(70, std::nothrow);
        void *b = ::operator new[](80, std::nothrow);
        void *c = ::operator new(96, std::align_val_t(32), std::nothrow);
        void *d = ::operator new[](128, std::align_val_t(32), std::nothrow);
        keep = a, keep = b, keep = c, keep = d;
        if (i % 2)
            continue;
        ::operator delete(a, std::nothrow);
        ::operator delete[](b, std::nothrow);
        ::operator delete(c, std::align_val_t(32), std::nothrow);
        ::operator delete[](d, std::align_val_t(32), std::nothrow);
    }
    keep = ::operator new(huge, std::nothrow);
}

void sized() {
    for (int i = 0; i < 50; i++) {
        void *a = ::operator new(110), *b = ::operator new[](120);
        void *c = ::operator new(128, std::align_val_t(64));
        void *d = ::operator new[](192, std::align_val_t(64));
        keep = a, keep = b, keep = c, keep = d;
        ::operator delete(a, std::size_t(110));
        ::operator delete[](b, std::size_t(120));
        ::operator delete(c, 128, std::align_val_t(64));
        ::operator delete[](d, 192, std::align_val_t(64));
    }
    ::operator delete(nullptr);
}

// What comes deeper on the stack than where it was thrown counts as well.
void deeper(int depth) {
    if (depth > 0)
        deeper(depth - 1);
    else
        keep = new char[77];
    __asm__ volatile("" ::: "memory");
}

void refused() {
    for (int i = 0; i < 5; i++) {
        try {
            keep = ::operator new(huge);
        } catch (std::bad_alloc &) {
            deeper(100);
        }
    }
}

extern "C" {
#if defined JEMALLOC
void *mallocx(size_t, int);
void *rallocx(void *, size_t, int);
size_t xallocx(void *, size_t, size_t, int);
void dallocx(void *, int);
void sdallocx(void *, size_t, int);

void allocators_own() {
    for (int i = 0; i < 10; i++) {
        void *object = mallocx(1000, 0);
        object = rallocx(object, 3000, 0);
        keep = object;
        if (i < 3)
            dallocx(object, 0);
    }
    keep = mallocx(500, 0);
    sdallocx(keep, 500, 0);
    keep = mallocx(4096, 0);
    if (xallocx(keep, 4000, 0, 0) < 4000 || xallocx(keep, 1 << 30, 0, 0) > 5000)
        puts("not as expected");
}
#elif defined TCMALLOC
void *tc_malloc(size_t);
void *tc_calloc(size_t, size_t);
void *tc_realloc(void *, size_t);
void tc_free(void *);
void tc_free_sized(void *, size_t);
void *tc_memalign(size_t, size_t);
int tc_posix_memalign(void **, size_t, size_t);
void *tc_new(size_t);
void tc_delete(void *);

void allocators_own() {
    for (int i = 0; i < 10; i++) {
        void *object = tc_malloc(1000);
        object = tc_realloc(object, 3000);
        keep = object;
        if (i < 3)
            tc_free(object);
    }
    keep = tc_realloc(nullptr, 500);
    tc_free_sized(keep, 500);
    void *object;
    if (tc_posix_memalign(&object, 64, 4096) != 0)
        puts("not as expected");
    keep = tc_calloc(40, 100);
    tc_free(keep);
    keep = tc_memalign(64, 256);
    keep = tc_new(44);
    tc_delete(keep);
}
#elif defined MIMALLOC
void *mi_malloc(size_t);
void *mi_zalloc(size_t);
void *mi_calloc(size_t, size_t);
void *mi_realloc(void *, size_t);
void mi_free(void *);
void *mi_malloc_aligned(size_t, size_t);
int mi_posix_memalign(void **, size_t, size_t);
void *mi_heap_get_default();
void *mi_heap_malloc(void *, size_t);

void allocators_own() {
    for (int i = 0; i < 10; i++) {
        void *object = mi_malloc(1000);
        object = mi_realloc(object, 3000);
        keep = object;
        if (i < 3)
            mi_free(object);
    }
    keep = mi_realloc(nullptr, 500);
    mi_free(keep);
    void *object;
    if (mi_posix_memalign(&object, 64, 4096) != 0)
        puts("not as expected");
    keep = mi_calloc(40, 100);
    mi_free(keep);
    keep = mi_malloc_aligned(256, 64);
    keep = mi_zalloc(44);
    mi_free(keep);
#ifdef UNKNOWN
    keep = mi_heap_malloc(mi_heap_get_default(), 333);
#endif
}
#else
void allocators_own() {
}
#endif
}

int main(int count, char **arguments) {
    one_object();
    an_array();
    aligned();
    silent();
    sized();
#ifndef MIMALLOC // which aborts
    refused();
#endif
    allocators_own();
    if (count > 1) {
        void *library = dlopen(arguments[1], RTLD_NOW);
        if (library == nullptr)
            return 1;
        ((void (*)())dlsym(library, "work"))();
    }
    puts("done");
    return 0;
}
