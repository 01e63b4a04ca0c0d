// c-throw.cc - exceptions thrown through frames that allocate.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <thread>

namespace zoo {
enum { ROUNDS = 100, DEPTH = 50 };

struct Oops {
    char text[100];
    int depth;
};

// Frees what it holds, and while it does throws and catches something else.
struct Guard {
    void *block;
    bool noisy;
    ~Guard();
};

static unsigned caught, rethrown, inner;

void *keep(std::size_t bytes) {
    return std::malloc(bytes);
}

void shriek(int n) {
    void *block = std::malloc(64);
    std::free(block);
    throw n;
}

Guard::~Guard() {
    std::free(block);
    if (!noisy)
        return;
    try {
        shriek(1);
    } catch (int n) {
        inner += n;
    }
}

int dive(int depth, bool noisy) {
    Guard guard = {std::malloc(24), noisy && depth == DEPTH / 2};
    if (depth == DEPTH)
        throw Oops{"deep", depth};
    return dive(depth + 1, noisy) + 1;
}

int relay(bool noisy) {
    try {
        return dive(1, noisy) + 1;
    } catch (const Oops &oops) {
        rethrown += oops.depth;
        keep(33);
        throw;
    }
}

int climb(bool noisy) {
    int result = 0;
    try {
        result = relay(noisy);
    } catch (const Oops &) {
        caught++;
        keep(17);
    }
    return result;
}

// The exception is thrown on one thread and looked at on another.
void carry() {
    std::exception_ptr carried;
    std::thread thrower([&carried] {
        try {
            dive(1, false);
        } catch (...) {
            carried = std::current_exception();
        }
    });
    thrower.join();
    try {
        std::rethrow_exception(carried);
    } catch (const Oops &oops) {
        std::printf("carried from %d\n", oops.depth);
    }
}

void library() {
    try {
        throw std::runtime_error("a message that does not fit in small space");
    } catch (const std::exception &e) {
        std::printf("%s\n", e.what());
    }
}
} // namespace zoo

int main() {
    for (int i = 0; i < zoo::ROUNDS; i++)
        zoo::climb(i % 2 == 0);
    zoo::carry();
    zoo::library();
    std::printf("%u caught, %u rethrown, %u inside\n", zoo::caught,
                zoo::rethrown, zoo::inner);
    return 5;
}
