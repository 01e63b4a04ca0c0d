#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int depth(int n) {
    if (n == 0)
        throw std::runtime_error("bottom");
    std::string s(static_cast<size_t>(n), 'x');
    return depth(n - 1) + static_cast<int>(s.size());
}

int main() {
    std::map<std::string, int> counts;
    for (int i = 0; i < 20000; i++)
        counts[std::to_string(i % 997)]++;
    std::vector<std::thread> threads;
    std::vector<size_t> sums(4);
    for (size_t t = 0; t < sums.size(); t++)
        threads.emplace_back([&sums, t] {
            for (int i = 0; i < 1000; i++)
                sums[t] += std::make_unique<std::string>(std::to_string(i))->size();
        });
    for (auto &thread : threads)
        thread.join();
    try {
        depth(100);
    } catch (const std::exception &e) {
        std::cout << e.what() << "\n";
    }
    std::cout << counts.size() << " "
              << std::accumulate(sums.begin(), sums.end(), size_t{0}) << "\n";
}
