// c-local.cc - thread-local objects that allocate as they come and go.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <pthread.h>
#include <thread>
#include <vector>

enum { THREADS = 10 };

static pthread_key_t key;

struct Local {
    char *text;
    Local();
    ~Local();
};

Local::Local() : text(static_cast<char *>(std::malloc(56))) {
    text[0] = 1;
}

// Runs at the end of the thread, before the destructors of keys.
Local::~Local() {
    std::free(text);
    pthread_setspecific(key, std::malloc(88));
}

thread_local Local local;
thread_local std::unique_ptr<char[]> lazy(new char[300]);

extern "C" void farewell(void *block) {
    std::free(block);
    std::free(std::malloc(104));
}

extern "C" void *use_locals(void *) {
    local.text[1]++;
    lazy[0]++;
    return nullptr;
}

int main() {
    pthread_key_create(&key, farewell);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, nullptr, use_locals, nullptr);
        pthread_join(thread, nullptr);
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back([] { use_locals(nullptr); });
    for (auto &thread : threads)
        thread.join();
    std::puts("done");
    return 0;
}
