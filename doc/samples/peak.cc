// first-peak.cc - a store that holds most of the heap at its peak.
#include <map>
#include <string>
#include <vector>
#include <memory>
#include <cstdio>
struct Item {
    std::string name;
    std::vector<double> values;
};
class Store {
    std::map<std::string, std::unique_ptr<Item>> items;

  public:
    void add(const std::string &name, int n) {
        auto item = std::make_unique<Item>();
        item->name = name + " of the store, a longer name";
        for (int i = 0; i < n; i++)
            item->values.push_back(i);
        items[name] = std::move(item);
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (auto &i : items)
            all.push_back(i.second->name);
        return all;
    }
};
static void fill(Store &s, int count) {
    for (int i = 0; i < count; i++)
        s.add("item number " + std::to_string(i), i % 100);
}
int main() {
    Store s;
    fill(s, 2000);
    std::printf("%zu\n", s.names().size());
}
