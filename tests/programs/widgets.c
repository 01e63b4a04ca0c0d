/* widgets.c - producers and a consumer, as in Zorn and Hilfinger's paper.
 *
 * Of 10,000 widgets of 204 bytes 5,019 become red and 4,981 blue, in an order
 * that is the same on every run.  The consumer frees the blue ones and forgets
 * the red ones: mprof must show 1,023,876 bytes kept that make_widget()
 * allocated for make_red_widget().  Prints nothing, so that nothing but
 * widgets is allocated.
 */
#include <stdlib.h>

enum { WIDGETS = 10000, BLUE_WIDGETS = 4981 };

enum color { RED, BLUE };

typedef struct {
    enum color color;
    int data[50];
} widget;

/* True for 4,981 of 10,000 calls, evenly spread: 4981 and 10000 have no
 * common divisor, so the remainder takes each value below 10000 once. */
static int random_flip(void) {
    static int flips;
    flips++;
    return flips * BLUE_WIDGETS % WIDGETS < BLUE_WIDGETS;
}

static widget *make_widget(void) {
    widget *made = malloc(sizeof *made);
    if (!made)
        exit(EXIT_FAILURE);
    return made;
}

static widget *make_blue_widget(void) {
    widget *made = make_widget();
    made->color = BLUE;
    return made;
}

static widget *make_red_widget(void) {
    widget *made = make_widget();
    made->color = RED;
    return made;
}

static void consume_widget(widget *eaten) {
    if (eaten->color == BLUE)
        free(eaten);
}

int main(void) {
    widget *queue[WIDGETS];

    for (int i = 0; i < WIDGETS; i++)
        queue[i] = random_flip() ? make_blue_widget() : make_red_widget();
    for (int i = 0; i < WIDGETS; i++)
        consume_widget(queue[i]);
    return 0;
}
