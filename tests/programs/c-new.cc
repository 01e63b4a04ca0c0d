// c-new.cc - operator new in all its forms.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

namespace zoo {
struct alignas(128) Wide {
    char bytes[128];
};

static volatile std::size_t huge = PTRDIFF_MAX;

static void *volatile sink;

class Animal {
  public:
    int *feed(int meals) {
        return new int[meals];
    }
};

template <typename T> T *one_of() {
    T *made = new T();
    sink = made;
    return made;
}

void by_new() {
    int *one = one_of<int>();
    int *many = Animal().feed(25);
    sink = many;
    delete one;
    delete[] many;
}

void by_nothrow() {
    char *small = new (std::nothrow) char[60];
    sink = small;
    char *none = new (std::nothrow) char[huge];
    std::printf("nothrow: %s\n", none ? "something" : "nothing");
    delete[] small;
}

void by_alignment() {
    Wide *wide = new Wide;
    Wide *array = new Wide[2];
    sink = wide;
    sink = array;
    bool right = reinterpret_cast<std::uintptr_t>(wide) % 128 == 0 &&
                 reinterpret_cast<std::uintptr_t>(array) % 128 == 0;
    std::printf("aligned: %s\n", right ? "yes" : "no");
    delete wide;
    delete[] array;
}

// Made before main and freed after it.
struct Global {
    char *text;
    Global() : text(new char[123]) {
    }
    ~Global() {
        delete[] text;
    }
};
Global global;

static unsigned handled;

void give_up() {
    handled++;
    std::set_new_handler(nullptr);
}

void by_failure() {
    std::set_new_handler(give_up);
    try {
        sink = ::operator new(huge);
    } catch (const std::bad_alloc &e) {
        std::printf("%s after %u\n", e.what(), handled);
    }
}

void by_containers() {
    std::vector<std::string> list;
    for (int i = 0; i < 100; i++)
        list.push_back(std::string(static_cast<std::size_t>(i), 'x'));
    std::printf("%zu strings\n", list.size());
}
} // namespace zoo

int main() {
    zoo::by_new();
    zoo::by_nothrow();
    zoo::by_alignment();
    zoo::by_failure();
    zoo::by_containers();
    return 0;
}
