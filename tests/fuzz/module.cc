// module.cc - as module.c, with what only C++ has: namespaces, templates, types
// within types.
namespace std {
template <typename T> struct list {
    T *first;
    typedef T value_type;
};
} // namespace std

namespace outside {
template <typename T, int N> struct box {
    T things[N];
    typedef T thing;
    struct inside {
        thing one;
        int two;
    };
    int sum() const { return int(things[0]) + int(things[N - 1]); }
};
namespace {
class hidden {
  public:
    virtual int weigh() { return weight; }
    int weight = 3;
};
} // namespace
struct whole {
    struct part;
    part *first;
};
struct whole::part {
    struct deeper {
        int numbers[9];
    } below;
};
using many = box<box<int, 2>, 3>;
} // namespace outside

volatile int sink;
std::list<int> numbers;
outside::box<long, 5> five;
outside::box<char, 7>::inside within;
outside::whole::part part;
outside::box<void (*)(int, char), 2> functions;

extern "C" void __cxa_pure_virtual() {}
void *operator_table[8] __asm__("_ZTVN10__cxxabiv117__class_type_infoE");

int outer(outside::many *many, int (*note)(int)) {
    outside::hidden hidden;
    auto add = [&](int n) { return note(n + hidden.weigh()); };
    sink = five.sum() + within.two + many->things[1].things[0];
    return add(1) + add(2) + (functions.things[0] != nullptr);
}
