// c-kept.cc - a container of C++ that a singleton keeps.
#include <map>
#include <string>
#include <vector>

namespace shop {

class Registry {
    std::map<std::string, std::vector<int>> entries;

  public:
    static Registry &instance() {
        static Registry *registry = new Registry;
        return *registry;
    }
    void add(const std::string &key, std::size_t numbers) {
        entries[key].resize(numbers);
    }
};

} // namespace shop

int main() {
    for (int i = 0; i < 300; i++)
        shop::Registry::instance().add(
            "a key that is too long to be without memory of its own " + std::to_string(i),
            100);
    return 0;
}
