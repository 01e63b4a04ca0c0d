#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    char text[24];
};

static struct node *push(struct node *head, int i) {
    struct node *node = malloc(sizeof *node);
    node->next = head;
    snprintf(node->text, sizeof node->text, "%d", i * i);
    return node;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 3;
    struct node *head = NULL;
    for (int i = 0; i < n * 1000; i++)
        head = push(head, i);
    size_t sum = 0;
    while (head != NULL) {
        struct node *next = head->next;
        sum += strlen(head->text);
        free(head);
        head = next;
    }
    printf("%zu %.6f\n", sum, sqrt((double)sum));
    return 0;
}
