/* types-library.c - types of a library; returns a size that has no names. */
struct library_widget {
    char bytes[204];
};
typedef char library_text[499];

/* Numbers of a library are never shown, here as large as nothing else. */
typedef __attribute__((vector_size(64))) int library_vector;
typedef _Complex long double library_number;

int library_part(void);

int library_part(void) {
    static struct library_widget widget;
    static library_text text;
    static library_number number;
    return (int)(sizeof number + sizeof widget + sizeof text) - 204 - 499;
}
