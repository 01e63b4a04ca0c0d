/* c-damage.c GOOD BAD EXPECTED SEED COUNT PROGRAM - run PROGRAM COUNT times
 * with a copy BAD of the library GOOD with some bytes of its unwind tables
 * changed.
 *
 * LD_PRELOAD for PROGRAM is the variable PRELOAD.  Each run has to print
 * EXPECTED and end with status 0, within seconds; what does not is kept as
 * BAD.SEED.NUMBER, and is the first line of the output.  Status 1 then. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SECTIONS = 4, MOST_CHANGES = 4, SECONDS = 20 };

static unsigned char *good, *bad;
static size_t size;
static struct { size_t offset, size; } table[MOST_SECTIONS];
static size_t tables;
static uint64_t seed;

static uint32_t draw(uint32_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static void die(const char *what) {
    perror(what);
    exit(2);
}

static void read_good(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        die(path);
    fseek(file, 0, SEEK_END);
    size = (size_t)ftell(file);
    rewind(file);
    good = malloc(size);
    bad = malloc(size);
    if (fread(good, 1, size, file) != size)
        die(path);
    fclose(file);
    const Elf64_Ehdr *elf = (void *)good;
    const Elf64_Shdr *section = (void *)(good + elf->e_shoff);
    const char *names = (char *)good + section[elf->e_shstrndx].sh_offset;
    for (int i = 0; i < elf->e_shnum && tables < MOST_SECTIONS; i++) {
        const char *name = names + section[i].sh_name;
        if (strncmp(name, ".eh_frame", 9) != 0 &&
            strncmp(name, ".note.gnu.build-id", 18) != 0)
            continue;
        table[tables].offset = section[i].sh_offset;
        table[tables++].size = section[i].sh_size;
    }
}

static unsigned char other_byte(unsigned char byte) {
    static const unsigned char special[] = {0, 1, 0x7f, 0x80, 0xff};
    switch (draw(3)) {
    case 0:
        return (unsigned char)draw(256);
    case 1:
        return byte ^ (unsigned char)(1u << draw(8));
    default:
        return special[draw(sizeof special)];
    }
}

static void write_bad(const char *path) {
    memcpy(bad, good, size);
    size_t which = draw((uint32_t)tables);
    for (uint32_t n = 1 + draw(MOST_CHANGES); n > 0; n--) {
        size_t at = table[which].offset + draw((uint32_t)table[which].size);
        bad[at] = other_byte(bad[at]);
    }
    unlink(path); /* who still runs has the old one */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);
    if (fd < 0 || write(fd, bad, size) != (ssize_t)size)
        die(path);
    close(fd);
}

/* What PROGRAM prints, up to SIZE bytes, and its status. */
static int run(const char *program, char *output, size_t room) {
    int ends[2], status;
    if (pipe(ends) != 0)
        die("pipe");
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        setenv("LD_PRELOAD", getenv("PRELOAD"), 1);
        alarm(SECONDS);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t n;
         (n = read(ends[0], output + length, room - 1 - length)) > 0;)
        length += (size_t)n;
    output[length] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    return status;
}

int main(int argc, char **argv) {
    char output[100], kept[4096];
    if (argc != 7)
        return 2;
    int failures = 0, count = atoi(argv[5]);
    read_good(argv[1]);
    seed = strtoull(argv[4], NULL, 10);
    for (int i = 0; i < count; i++) {
        write_bad(argv[2]);
        int status = run(argv[6], output, sizeof output);
        if (status == 0 && strcmp(output, argv[3]) == 0)
            continue;
        snprintf(kept, sizeof kept, "%s.%s.%d", argv[2], argv[4], i);
        rename(argv[2], kept);
        if (failures++ < 5)
            printf("%s: status %d, output %s\n", kept, status, output);
    }
    printf("%d of %d damaged libraries make a difference\n", failures, count);
    return failures > 0;
}
