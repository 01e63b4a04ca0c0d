/* types-shapes.c - structures and typedefs of many kinds, each of a size of
 * its own.  Prints what the types column must say: one line a size, the size
 * and the names.  Linked with types-library.c. */
#include <stdio.h>
#include <sys/stat.h>

struct widget {
    char bytes[204];
};
typedef const volatile struct widget frozen;

typedef struct {
    char bytes[211];
} nameless;

typedef struct both {
    char bytes[223];
} both;

typedef struct tagged {
    char bytes[227];
} alias;
typedef alias alias_of_alias;

union mixed {
    char bytes[229];
    short word;
};

typedef char line[233];
typedef short matrix[3][41];
typedef line page[2];

/* Only its own size counts, and hides the numbers of that size. */
struct flexible {
    long count;
    char text[];
};
typedef unsigned long hidden_number;
typedef enum { RED, BLUE } color;
typedef __int128 wide;
typedef struct widget *widget_pointer;

struct outer {
    struct nested {
        char bytes[251];
    } nested;
    struct {
        char bytes[6];
    } rest;
};

struct __attribute__((packed)) packed {
    char one;
    long eight;
    unsigned three : 3;
    unsigned five : 5;
};

/* As large as a system header's, and behind it in the alphabet. */
struct zebra {
    char bytes[sizeof(struct stat)];
};

struct largest {
    char bytes[1024];
};
struct too_large {
    char bytes[1025];
};

struct opaque;
typedef struct opaque opaque_alias;

static struct {
    struct widget widget;
    frozen *frozen;
    nameless nameless;
    both both;
    alias_of_alias alias;
    union mixed mixed;
    line line;
    matrix matrix;
    page page;
    struct flexible *flexible;
    hidden_number number;
    color color;
    wide wide;
    widget_pointer pointer;
    struct outer outer;
    struct packed packed;
    struct zebra zebra;
    struct stat stat;
    struct largest largest;
    struct too_large too_large;
    opaque_alias *opaque;
} all;

void *volatile sink;
int library_part(void);

static size_t inside(size_t n) {
    struct local {
        char bytes[239];
    } local = {{0}};
    typedef char varying[n];
    varying text;
    sink = &local;
    sink = text;
    for (size_t i = 0; i < n; i++) {
        struct deeper {
            char bytes[241];
        } deeper = {{0}};
        sink = &deeper;
        n = sizeof deeper;
    }
    return sizeof local;
}

int main(void) {
    sink = &all;
    printf("%zu frozen widget library_widget\n", sizeof(struct widget));
    printf("%zu nameless\n", sizeof(nameless));
    printf("%zu both\n", sizeof(both));
    printf("%zu alias alias_of_alias tagged\n", sizeof(alias));
    printf("%zu mixed\n", sizeof(union mixed));
    printf("%zu line\n", sizeof(line));
    printf("%zu matrix\n", sizeof(matrix));
    printf("%zu page\n", sizeof(page));
    printf("%zu flexible\n", sizeof(struct flexible));
    printf("%zu color\n", sizeof(color));
    printf("%zu wide timespec\n", sizeof(wide));
    printf("%zu nested\n", sizeof(struct nested));
    printf("%zu outer\n", sizeof(struct outer));
    printf("%zu packed\n", sizeof(struct packed));
    printf("%zu zebra stat\n", sizeof(struct zebra));
    printf("%zu local\n", inside(1));
    printf("%d deeper\n", 241);
    printf("%zu largest\n", sizeof(struct largest));
    printf("%zu\n", sizeof(struct too_large));
    printf("%d\n", library_part());
    return 0;
}
