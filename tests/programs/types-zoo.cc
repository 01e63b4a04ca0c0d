// types-zoo.cc - the same as types-shapes.c for C++.
#include <cstdio>
#include <list>
#include <string>

namespace zoo {
class Animal {
  public:
    virtual ~Animal() {
    }
    char bytes[296];
};

class Cage {
  public:
    struct Lock {
        char bytes[307];
    };
    typedef Animal value_type; // an alias inside of a class: not shown
    class Inside;
    Inside *inside;
    Lock lock;
    value_type *animal;
};

template <class T, int n> struct Box { T bytes[n]; };

typedef Box<char, 331> Crate;
using Name = std::string;
inline namespace v2 {
struct Fence {
    char bytes[353];
};
} // namespace v2
} // namespace zoo

class zoo::Cage::Inside {
  public:
    struct Deep {
        char bytes[313];
    };
    Deep deep;
    char bytes[20];
};

namespace {
struct Hidden {
    char bytes[347];
};
} // namespace

typedef struct {
    char bytes[359];
} Nameless;

static struct {
    zoo::Animal animal;
    zoo::Cage cage;
    zoo::Cage::Inside inside;
    zoo::Crate crate;
    zoo::Name name;
    zoo::Fence fence;
    Hidden hidden;
    std::list<zoo::Animal> list;
    Nameless nameless;
} all;

void *volatile sink;

static size_t inside() {
    struct Local {
        char bytes[317];
    } local = {};
    auto closure = [local] { return sizeof local.bytes; };
    sink = &local;
    return closure();
}

int main() {
    sink = &all;
    all.list.emplace_back();
    printf("%zu zoo::Animal\n", sizeof(zoo::Animal));
    printf("%zu zoo::Cage::Lock\n", sizeof(zoo::Cage::Lock));
    printf("%zu zoo::Cage\n", sizeof(zoo::Cage));
    printf("%zu zoo::Cage::Inside\n", sizeof(zoo::Cage::Inside));
    printf("%zu zoo::Cage::Inside::Deep\n", sizeof(zoo::Cage::Inside::Deep));
    printf("%zu zoo::Box<char, 331> zoo::Crate\n", sizeof(zoo::Crate));
    printf("%zu zoo::v2::Fence\n", sizeof(zoo::Fence));
    printf("%zu (anonymous namespace)::Hidden\n", sizeof(Hidden));
    printf("%zu Nameless\n", sizeof(Nameless));
    printf("%zu Local\n", inside());
    printf("%zu std::_List_node<zoo::Animal>\n", sizeof(zoo::Animal) + 16);
    return 0;
}
