/* words.c - count words: the C program of ci-sample.sh, which has a budget. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 64, TIMES = 200 };

struct entry {
    struct entry *next;
    char *word;
    unsigned count;
};

static struct entry *buckets[BUCKETS];

static void *allocate(size_t size) {
    void *memory = malloc(size);
    if (!memory)
        exit(EXIT_FAILURE);
    return memory;
}

static char *copy_word(const char *word, size_t length) {
    char *copy = allocate(length + 1);
    memcpy(copy, word, length);
    copy[length] = '\0';
    return copy;
}

static struct entry **find_bucket(const char *word, size_t length) {
    unsigned hash = 0;
    for (size_t i = 0; i < length; i++)
        hash = hash * 31 + (unsigned char)word[i];
    return &buckets[hash % BUCKETS];
}

static struct entry *find_word(const char *word, size_t length) {
    struct entry *entry = *find_bucket(word, length);
    while (entry && (strncmp(entry->word, word, length) != 0 ||
                     entry->word[length] != '\0'))
        entry = entry->next;
    return entry;
}

static struct entry *add_word(const char *word, size_t length) {
    struct entry **bucket = find_bucket(word, length);
    struct entry *entry = allocate(sizeof *entry);
    *entry = (struct entry){*bucket, copy_word(word, length), 0};
    *bucket = entry;
    return entry;
}

static void count_word(const char *word, size_t length) {
    struct entry *entry = find_word(word, length);
    if (!entry)
        entry = add_word(word, length);
    entry->count++;
}

static void count_text(const char *text) {
    while (*text) {
        size_t length = strcspn(text, " ");
        count_word(text, length);
        text += length + (text[length] == ' ');
    }
}

int main(void) {
    for (int i = 0; i < TIMES; i++)
        count_text("of all the words that there are these are the ones that "
                   "there are here and none of all those that are not");
    struct entry *entry = find_word("are", 3);
    return entry && entry->count == 4 * TIMES ? EXIT_SUCCESS : EXIT_FAILURE;
}
